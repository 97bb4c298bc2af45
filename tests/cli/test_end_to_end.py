"""A model trained through the installed command line, then used in every way there is."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

REGARD = Path(sys.executable).parent / "regard"

#: A locale that cannot even spell the data, and a Python that is told to believe it.
ASCII = {
    "LC_ALL": "C",
    "LANG": "C",
    "PYTHONUTF8": "0",
    "PYTHONCOERCECLOCALE": "0",
    "PYTHONIOENCODING": "ascii",
}


def lines_of(data: bytes) -> list[str]:
    *lines, last = data.decode("utf-8").split("\n")
    assert last == ""
    return lines


def objects(data: bytes) -> list[dict]:
    return [json.loads(line) for line in lines_of(data)]


@pytest.fixture(scope="module")
def sources(scenes_data) -> list[str]:
    return lines_of((scenes_data / "test.en").read_bytes())


@pytest.fixture(scope="module")
def mixed(sources) -> list[str]:
    """Sentences, blank lines, unseen symbols, a line longer than anything in training."""
    long = " ".join(sources[:20])
    assert len(long.split()) > 150
    unseen = "日本 ☃ Größe\u2028und\u0085mehr"
    return [*sources[:12], "", unseen, "  ", long, "\t", *sources[12:16]]


@pytest.fixture(scope="module")
def answered(regard, trained_run, mixed) -> list[dict]:
    """What `translate --json` says to `mixed`."""
    text = "".join(line + "\n" for line in mixed).encode()
    done = regard("translate", "--model", trained_run, "--json", input=text, check=True)
    return objects(done.stdout)


def test_every_line_has_its_answer(mixed, answered):
    assert len(answered) == len(mixed)
    for source, answer in zip(mixed, answered, strict=True):
        assert answer["source"] == source
        if source.strip():
            assert answer["text"] and answer["score"] < 0 and answer["tokens"]
        else:
            assert (answer["text"], answer["score"], answer["tokens"]) == ("", None, [])


def test_attention_has_a_row_a_token_and_sums_to_one(answered):
    for answer in answered:
        assert len(answer["attention"]) == len(answer["tokens"])
        for row in answer["attention"]:
            assert len(row) == len(answer["source_tokens"])
            assert sum(row) == pytest.approx(1, abs=1e-3)
        words, translated = len(answer["source"].split()), len(answer["text"].split())
        assert all(0 <= i < words and 0 <= j < translated for i, j in answer["alignment"])


def test_batches_and_order_change_nothing(regard, trained_run, mixed, answered):
    order = sorted(range(len(mixed)), key=lambda i: (i * 7919) % len(mixed))
    text = "".join(mixed[i] + "\n" for i in order).encode()
    done = regard(
        "translate", "--model", trained_run, "--json", "--batch-size", 1, input=text, check=True
    )
    for i, again in zip(order, objects(done.stdout), strict=True):
        assert again["tokens"] == answered[i]["tokens"]
        assert again["score"] == pytest.approx(answered[i]["score"], abs=1e-4)


def test_scoring_an_output_gives_the_decoders_score(regard, trained_run, answered, tmp_path):
    data = tmp_path / "answers.jsonl"
    data.write_text("".join(json.dumps(answer) + "\n" for answer in answered), encoding="utf-8")
    done = regard("score", "--model", trained_run, "--data", data, "--json", check=True)
    spoken = [answer for answer in answered if answer["tokens"]]
    for answer, scored in zip(spoken, objects(done.stdout), strict=True):
        assert scored["tokens"] == answer["tokens"]
        assert scored["score"] == pytest.approx(answer["score"], abs=1e-4)
        assert scored["normalized_score"] == pytest.approx(answer["normalized_score"], abs=1e-4)
        assert sum(scored["token_scores"]) == pytest.approx(scored["score"], abs=1e-4)


def test_nbest_begins_with_the_best(regard, trained_run, mixed, answered):
    text = "".join(line + "\n" for line in mixed).encode()
    done = regard("translate", "--model", trained_run, "--nbest", 4, input=text, check=True)
    rows: dict[int, list[tuple[float, str]]] = {}
    for row in lines_of(done.stdout):
        number, score, candidate = row.split("\t")
        rows.setdefault(int(number), []).append((float(score), candidate))
    assert list(rows) == [i for i, line in enumerate(mixed) if line.strip()]
    for number, candidates in rows.items():
        score, best = candidates[0]
        assert best == answered[number]["text"]
        assert score == pytest.approx(answered[number]["score"], abs=1e-4)
        assert 1 <= len(candidates) <= 4


def test_many_lines_with_blanks(regard, trained_run, sources):
    blanks = ("", " ", "\t ", "\u3000")
    given = [
        blanks[i // 4 % len(blanks)] if i % 4 == 3 else sources[i % len(sources)]
        for i in range(1300)
    ]
    text = "".join(line + "\n" for line in given).encode()
    done = regard("translate", "--model", trained_run, "--beam", 1, input=text, check=True)
    answers = lines_of(done.stdout)
    assert len(answers) == 1300
    known: dict[str, str] = {}
    for source, answer in zip(given, answers, strict=True):
        assert bool(answer) == bool(source.strip())
        assert known.setdefault(source if source.strip() else "", answer) == answer
    alone = regard(
        "translate", "--model", trained_run, "--beam", 1, input=sources[5].encode(), check=True
    )
    assert lines_of(alone.stdout) == [known[sources[5]]]


def test_blank_lines_never_reach_the_model(trained_run, sources):
    import regard

    model, seen = regard.load(trained_run), []
    encode = model.network.encode
    model.network.encode = lambda source, mask: seen.append(len(source)) or encode(source, mask)
    answers = model.translate(["", sources[0], " ", "\t", sources[1]], beam=2)
    assert sum(seen) == 2
    assert [bool(answer.text) for answer in answers] == [False, True, False, False, True]


def test_file_input_and_python_agree_in_any_locale(regard, trained_run, mixed, answered, tmp_path):
    import regard as package

    file, out = tmp_path / "in.txt", tmp_path / "out.txt"
    text = "".join(line + "\r\n" for line in mixed).encode()
    file.write_bytes(text)
    expected = [answer["text"] for answer in answered]
    assert [t.text for t in package.load(str(trained_run)).translate(mixed)] == expected
    arguments = ("translate", "--model", trained_run)
    done = regard(*arguments, "--output", out, file, environment=ASCII, check=True)
    assert done.stdout == b""
    assert lines_of(out.read_bytes()) == expected
    done = regard(*arguments, "-", input=text, environment=ASCII, check=True)
    assert lines_of(done.stdout) == expected


def test_text_arguments_in_any_locale(regard, trained_run, tmp_path):
    out = tmp_path / "größe.json"
    done = regard(
        *("show", "--model", trained_run, "--out", out.as_posix().encode()),
        *("--target", "ein großer Kreis".encode(), "a schön circle".encode()),
        environment=ASCII,
        check=True,
    )
    assert done.stdout.decode() == "ein großer Kreis\n"
    unknown = "regard: TEXT: never seen in training, so read as unknown: ö"
    assert done.stderr.decode() == f"{unknown}\nwrote {out}\n"
    shown = json.loads(out.read_bytes())
    assert (shown["source"], shown["text"]) == ("a schön circle", "ein großer Kreis")
    assert len(shown["attention"]) == len(shown["tokens"])


def test_a_moved_run_works_alone(regard, trained_run, sources, tmp_path):
    there = tmp_path / "somewhere" / "else"
    shutil.copytree(trained_run, there, ignore=shutil.ignore_patterns("checkpoints"))
    text = (sources[0] + "\n").encode()
    here = regard("translate", "--model", trained_run, input=text, check=True)
    moved = regard("translate", "--model", "else", input=text, cwd=there.parent, check=True)
    assert moved.stdout == here.stdout != b"\n"


def test_a_bad_line_is_named_and_the_others_answered(regard, trained_run, sources, tmp_path):
    file = tmp_path / "in.txt"
    file.write_bytes(sources[0].encode() + b"\n\xff\xfe\n" + sources[1].encode() + b"\n")
    done = regard("translate", "--model", trained_run, file)
    assert done.returncode == 2
    first, bad, last = lines_of(done.stdout)
    assert first and last and not bad
    said = done.stderr.decode()
    assert f"{file}, line 2: not UTF-8" in said and "Traceback" not in said


def test_sampling_repeats_with_its_seed(regard, trained_run, sources):
    text = "".join(line + "\n" for line in [sources[0]] * 6).encode()

    def drawn(seed, batch_size):
        return regard(
            *("translate", "--model", trained_run, "--sample", "--temperature", 2),
            *("--seed", seed, "--batch-size", batch_size),
            input=text,
            check=True,
        ).stdout

    first = drawn(3, 64)
    assert len(set(lines_of(first))) > 1
    assert drawn(3, 2) == first


def test_evaluate_is_sacrebleu_of_the_raw_text(regard, trained_run, scenes_data, tmp_path):
    import sacrebleu

    out = tmp_path / "hypotheses"
    done = regard(
        *("evaluate", "--model", trained_run, "--data", scenes_data / "test"),
        *("--source", "en", "--target", "de", "--output", out, "--json"),
        check=True,
    )
    hypotheses, metrics = lines_of(out.read_bytes()), objects(done.stdout)[0]["metrics"]
    references = lines_of((scenes_data / "test.de").read_bytes())
    expected = sacrebleu.corpus_bleu(hypotheses, [references], force=True).score
    assert metrics["bleu"]["value"] == pytest.approx(expected)
    assert "tok:13a" in metrics["bleu"]["signature"]
    assert metrics["exact_match"]["value"] + metrics["word_error_rate"]["value"] == 100
    assert {"chrf", "ter", "symbol_error_rate"} < set(metrics)


def test_several_accepted_targets(regard, trained_run, sources, answered, tmp_path):
    data = tmp_path / "pairs.tsv"
    rows = [
        ("wrong", sources[0]),
        (answered[0]["text"], sources[0]),
        ("wrong", sources[1]),
        ("", ""),
    ]
    data.write_text("".join(f"{target}\t{source}\n" for target, source in rows), encoding="utf-8")
    done = regard(
        *("evaluate", "--model", trained_run, "--data", data),
        *("--source", 2, "--target", 1),
        check=True,
    )
    shown = done.stdout.decode()
    assert "exact_match" in shown and "50.00" in shown
    assert "2 sources, 3 accepted targets" in shown
    assert "3 pairs (1 pair with a blank side dropped)" in done.stderr.decode()


def test_score_rows(regard, trained_run, scenes_data):
    done = regard(
        *("score", "--model", trained_run, "--data", scenes_data / "valid"),
        *("--source", "en", "--target", "de"),
        check=True,
    )
    rows = [row.split("\t") for row in lines_of(done.stdout)]
    assert [row[2] for row in rows] == lines_of((scenes_data / "valid.en").read_bytes())
    assert all(float(row[0]) < float(row[1]) < 0 for row in rows)


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".html", b"<!"), (".png", b"\x89PNG"), (".svg", b"<"), (".json", b'{"source"')],
)
def test_show_writes_every_format(regard, trained_run, sources, tmp_path, suffix, start):
    out = tmp_path / f"attention{suffix}"
    done = regard("show", "--model", trained_run, "--out", out, sources[0], check=True)
    assert lines_of(done.stdout)[0]
    assert out.read_bytes().startswith(start)


def test_info(regard, trained_run):
    facts = objects(regard("info", trained_run, "--json", check=True).stdout)[0]
    assert facts["recipe"] == "transformer-tiny"
    assert facts["training"]["updates"] == 120
    assert facts["training"]["ended"] == "maximum_updates"
    assert facts["data"]["pairs"] == 594
    assert 0 <= facts["padding"] < 0.5
    assert facts["model"]["bleu"] >= 0 and facts["model"]["step"] == 120
    shown = regard("info", trained_run, check=True).stdout.decode()
    for part in (f"{facts['parameters']:,}", "594 pairs", "120 updates", "bleu"):
        assert part in shown


def test_a_reader_that_leaves_is_no_error(trained_run, scenes_data):
    command = (
        f'"{REGARD}" translate --model "{trained_run}" --beam 1 --batch-size 1 '
        f'"{scenes_data}/train.en" | head -n 1; echo "${{PIPESTATUS[0]}}"'
    )
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=True, timeout=6000)
    assert lines_of(done.stdout)[1] == "0"
    assert done.stderr == b""


def test_a_stopped_translation_leaves_no_file(trained_run, sources, tmp_path):
    out = tmp_path / "out"
    child = subprocess.Popen(
        [REGARD, "translate", "--model", trained_run, "--batch-size", "1", "--output", out],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    child.stdin.write((sources[0] + "\n").encode() * 3)
    child.stdin.flush()
    while not list(tmp_path.iterdir()):
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    _, said = child.communicate(timeout=600)
    assert (child.returncode, said) == (143, b"")
    assert not list(tmp_path.iterdir())
