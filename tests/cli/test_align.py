"""The align verb, and alignments in evaluate, by a small trained model."""

import json
import re
from pathlib import Path

import pytest

import regard


def lines_of(text: str) -> list[str]:
    *lines, last = text.split("\n")
    assert last == ""
    return lines


@pytest.fixture(scope="module")
def data(scenes_data, tmp_path_factory) -> Path:
    """Scenes with two blank sides among them, and their gold links beside: `pairs.align`."""
    directory = tmp_path_factory.mktemp("align")
    for name, suffix in (("en", "en"), ("de", "de"), ("en-de.align", "align")):
        lines = (scenes_data / f"test.{name}").read_bytes().decode("utf-8").split("\n")[:10]
        lines[3:3] = ["" if suffix == "align" else " "]
        lines.append("" if suffix != "en" else "no target")
        (directory / f"pairs.{suffix}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return directory / "pairs"


@pytest.fixture
def align(run_text, trained_run, data):
    """Aligns the data by the model; more arguments as given."""

    def align(*more: object) -> tuple[int, str, str]:
        sides = ("--source", "en", "--target", "de", "--threads", 1)
        return run_text("align", "--model", trained_run, "--data", data, *sides, *more)

    return align


def test_a_line_for_every_line_of_the_data(regard, trained_run, data, tmp_path):
    """Through the installed program, to standard output and to a file."""
    command = ("align", "--model", trained_run, "--data", data, "--source", "en", "--target", "de")
    done = regard(*command, check=True)
    rows = lines_of(done.stdout.decode())
    assert len(rows) == 12 and rows[3] == rows[11] == ""
    sides = [Path(f"{data}.{side}").read_text("utf-8").split("\n") for side in ("en", "de")]
    for row, source, target in zip(rows, *sides, strict=False):
        for link in row.split():
            i, j = map(int, re.fullmatch(r"(\d+)-(\d+)", link).groups())
            assert i < len(source.split()) and j < len(target.split())
    assert sum(map(bool, rows)) == 10
    out = tmp_path / "links"
    assert regard(*command, "--output", out, "--batch-size", 3, check=True).stdout == b""
    assert out.read_bytes() == done.stdout


def test_links_are_those_that_score_shows(align, run_text, trained_run, data):
    _, out, _ = align("--json")
    aligned = [json.loads(line) for line in lines_of(out)]
    assert aligned[3]["source"] == aligned[3]["text"] == "" and aligned[3]["alignment"] == []
    sides = ("--source", "en", "--target", "de")
    _, out, _ = run_text("score", "--model", trained_run, "--data", data, *sides, "--json")
    scored = [json.loads(line) for line in lines_of(out)]
    filled = [each for each in aligned if each["tokens"]]
    assert len(filled) == len(scored) == 10
    for one, other in zip(filled, scored, strict=True):
        for key in ("source", "text", "alignment", "tokens", "source_tokens"):
            assert one[key] == other[key]


def test_python_gives_the_same(align, trained_run, data):
    rows = lines_of(align("--layer", 1, "--head", 2, "--shift", 1)[1])
    sides = [Path(f"{data}.{side}").read_text("utf-8").split("\n")[:-1] for side in ("en", "de")]
    choice = regard.AttentionChoice(1, 2, 1)
    model = regard.load(trained_run)
    found = model.align(list(zip(*sides, strict=True)), choice=choice, attention=False)
    assert [" ".join(f"{i}-{j}" for i, j in each.alignment) for each in found] == rows
    pairs = [pair for pair in zip(*sides, strict=True) if all(map(str.strip, pair))]
    assert model.choose_attention(pairs).head is None


def test_the_best_attention_of_gold_links_is_found(align, data):
    gold = ("--valid", data, "--gold", f"{data}.align")
    code, out, said = align("--layer", "chosen", *gold)
    assert code == 0
    told = re.search(r"^--model: .*alignment error rate, %: ([\d.]+), of .* ([\d.]+)$", said, re.M)
    assert told is not None and float(told[1]) <= float(told[2])
    again = re.search(r"\((--layer [^)]*)\)", said)
    if again is not None:
        assert align(*again[1].split())[1] == out
    code, _, said = align("--layer", "chosen")
    assert code == 0 and "information, bits" in said


def test_both_directions(align, trained_run):
    """The model itself stands for one of the other direction: its links are what counts here."""
    reverse = ("--reverse", trained_run)
    records = [json.loads(line) for line in lines_of(align(*reverse, "--json")[1])]
    for record in records:
        forward, back, both = (
            {tuple(link) for link in record[key]} for key in ("forward", "reverse", "alignment")
        )
        assert forward & back <= both <= forward | back
        assert len({i for i, _ in back}) == len(back)  # a link for each source word at most
        assert len({j for _, j in forward}) == len(forward)
    made = {}
    for how in ("intersection", "grow-diag", "union"):
        rows = lines_of(align(*reverse, "--symmetrize", how)[1])
        made[how] = [set(row.split()) for row in rows]
    for small, middle, large in zip(*made.values(), strict=True):
        assert small <= middle <= large
    code, _, said = align(*reverse, "--layer", "chosen")
    assert code == 0 and "--reverse: " in said and "directions that differ" in said


def test_tokens(align):
    records = [json.loads(line) for line in lines_of(align("--tokens", "--json")[1])]
    assert any(
        j > len(record["text"].split()) for record in records for _, j in record["alignment"]
    )
    for record in records:
        sizes = len(record["source_tokens"]) - 1, len(record["tokens"]) - 1
        assert all(i < sizes[0] and j < sizes[1] for i, j in record["alignment"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--layer", "2"), "no layer 2: the attention of this model has one layer, number 1"),
        (("--layer", "first"), "--layer first should be a number from 1, or chosen"),
        (("--layer", "1", "--head", "9"), "no head 9"),
        (("--head", "1"), "give the layer too"),
        (("--layer", "1", "--layer", "1"), "--layer is given 2 times"),
        (("--layer", "chosen", "--head", "1"), "leave them out"),
        (("--gold", "gold"), "--gold is for --layer chosen"),
        (("--layer", "chosen", "--gold", "gold"), "give --valid DATA as well"),
        (("--symmetrize", "union"), "give --reverse RUN"),
        (("--reverse", "RUN", "--symmetrize", "onion"), "did you mean union?"),
        (("--reverse", "RUN", "--tokens"), "leave --reverse out"),
        (("--shift", "2", "--layer", "1"), "shift 2 should be 0 or 1"),
    ],
)
def test_options_that_make_no_sense(align, arguments, message):
    code, out, said = align(*arguments)
    assert (code, out) == (2, "")
    assert said.splitlines()[-1].startswith("regard: error: ") and message in said


def test_different_numbers_of_lines(regard, refused, trained_run, data, tmp_path):
    short = tmp_path / "pairs"
    Path(f"{short}.en").write_bytes(Path(f"{data}.en").read_bytes())
    Path(f"{short}.de").write_text("eins\nzwei\n")
    done = regard(
        *("align", "--model", trained_run, "--data", short),
        *("--source", "en", "--target", "de", "--output", tmp_path / "out"),
    )
    refused(done, f"{short}.en has 12 lines", f"{short}.de has 2")
    assert not (tmp_path / "out").exists()


def test_a_pair_that_cannot_be_aligned_is_named_and_the_others_are(
    align, trained_run, data, monkeypatch
):
    rows = lines_of(align()[1])
    targets = Path(f"{data}.de").read_text("utf-8").split("\n")
    longest = max(range(10), key=lambda line: len(targets[line].split()))
    limit = len(regard.load(trained_run).tokenizers.target.encode(targets[longest]))
    monkeypatch.setattr("regard.models.model.Model.longest_target", limit)
    code, out, said = align()
    assert code == 2
    assert f"{data}.{{en,de}}, line {longest + 1}: a target of {limit + 1} tokens" in said
    assert "could not be aligned" in said.splitlines()[-1]
    left = lines_of(out)
    assert left[longest] == "" and len(left) == len(rows)
    assert all(one in ("", other) for one, other in zip(left, rows, strict=True))
    assert sum(one != other for one, other in zip(left, rows, strict=True)) < 9


def test_links_of_tokens_are_graded_as_such(run_text, align, trained_run, data, tmp_path):
    links = tmp_path / "links"
    align("--tokens", "--output", links)
    sides = ("--source", "en", "--target", "de", "--beam", 1, "--threads", 1, "--json")
    command = ("evaluate", "--model", trained_run, "--data", data, *sides, "--alignments", links)
    code, out, said = run_text(*command, "--tokens")
    told = json.loads(out)["alignments"]
    assert code == 0 and told["metrics"]["alignment_error_rate"]["value"] == 0
    assert told["sure"] == sum(len(row.split()) for row in lines_of(links.read_text("utf-8")))
    assert 0 < told["diagonal"]["alignment_error_rate"]["value"] <= 100
    assert "point past" not in said
    code, _, said = run_text(*command)
    assert code == 2 and "point past the end of their sentence" in said
    chosen = ("--tokens", "--layer", "chosen", "--valid", data, "--gold", links)
    code, _, said = align(*chosen)
    assert code == 0 and "alignment error rate, %: 0.00" in said
    code, _, said = run_text(*command[:-3], "--tokens")
    assert code == 2 and "--tokens is about true links: give --alignments GOLD as well" in said


def test_evaluate_measures_alignments(run_text, align, trained_run, data, tmp_path):
    from regard.evaluation import alignment_scores, read_alignments

    links = tmp_path / "links"
    align("--output", links)
    gold = Path(f"{data}.align")
    sides = ("--source", "en", "--target", "de", "--beam", 1, "--threads", 1, "--json")
    command = ("evaluate", "--model", trained_run, "--data", data, *sides, "--alignments", gold)
    code, out, _ = run_text(*command)
    told = json.loads(out)["alignments"]
    found = [each.sure for each in read_alignments(links)]
    for score in alignment_scores(found, read_alignments(gold)):
        assert told["metrics"][score.name]["value"] == pytest.approx(score.value)
    rate = told["metrics"]["alignment_error_rate"]
    assert rate["interval"]["low"] <= rate["value"] <= rate["interval"]["high"]
    assert (code, told["links"], told["pairs"]) == (0, "attention", 10)
    assert 0 < told["diagonal"]["alignment_error_rate"]["value"] <= 100
    code, out, _ = run_text(*command, "--links", gold)
    told = json.loads(out)["alignments"]
    assert told["links"] == str(gold) and told["metrics"]["recall"]["value"] == 100
    assert told["metrics"]["alignment_error_rate"]["value"] == 0
    code, out, _ = run_text(*command[:-3], "--alignments", gold, "--links", links, "--resamples", 0)
    assert code == 0 and "nearest diagonal" in out and "precision" in out
    assert not re.search("95 % interval", out)


def test_gold_links_that_do_not_fit(run_text, trained_run, data, tmp_path):
    gold = tmp_path / "gold"
    sides = ("--source", "en", "--target", "de", "--beam", 1)
    command = ("evaluate", "--model", trained_run, "--data", data, *sides, "--alignments", gold)
    gold.write_text("0-0\n" * 11)
    code, _, said = run_text(*command)
    assert code == 2 and f"{gold} has 11 lines for 12 pairs" in said
    gold.write_text("0-0\n" * 5 + "0-0 1;1\n" + "0-0\n" * 6)
    code, _, said = run_text(*command)
    assert code == 2 and f"{gold}, line 6: '1;1' is not a link" in said
    gold.write_text("0-0 1-1 0-1\n" * 5 + "0-0 99-1\n" + "0-0 1-1 0-1\n" * 6)
    code, _, said = run_text(*command)
    assert code == 0 and f"{gold}, line 6: 1 of 29 links point past the end" in said
    gold.write_text("0-0\n" * 5 + "0-0 99-1\n" + "0-0\n" * 6)
    code, _, said = run_text(*command)
    assert code == 2 and "words count from 0, source first" in said
    code, _, said = run_text(*command[:-2], "--links", gold)
    assert code == 2 and "give --alignments GOLD as well" in said
