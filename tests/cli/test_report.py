"""The report of a model: the figures of `evaluate`, every section or why it is not there."""

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

import regard.cli
from regard.cli import training_report
from regard.data.pairs import Pair, Pairs
from regard.errors import UserError

HOSTILE = '<script>alert(1)</script> & "x" </style> \u202e'
SECTIONS = [
    "Scores",
    "Learning curves",
    "By source length",
    "Best and worst",
    "Most confused symbols",
    "Attention",
    "Word alignment",
    "Entropy of attention",
    "How far to trust attention",
    "The model",
]


class Sections(HTMLParser):
    """What stands below each heading: text, the cells of tables row by row, names of elements."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.text: dict[str, str] = {"": ""}
        self.rows: dict[str, list[list[str]]] = {"": []}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._heading, self._open = "", ""
        self.whole = path.read_bytes().decode("utf-8")
        self.feed(self.whole)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._open = tag
        if tag == "h2":
            self._heading = ""
        if tag == "tr":
            self.rows[self._heading].append([])
        if tag in ("td", "th"):
            self.rows[self._heading][-1].append("")

    def handle_endtag(self, tag):
        self._open = ""

    def handle_data(self, data):
        if self._open == "h2":
            self._heading = data
            self.text[data], self.rows[data] = "", []
        elif self._open in ("td", "th"):
            self.rows[self._heading][-1][-1] += data
        elif self._open not in ("script", "style"):
            self.text[self._heading] += data


@pytest.fixture(scope="module")
def six(scenes_data, tmp_path_factory) -> Path:
    """Six pairs of scenes and their true alignments."""
    folder = tmp_path_factory.mktemp("six")
    for suffix in ("en", "de", "en-de.align"):
        lines = (scenes_data / f"test.{suffix}").read_text(encoding="utf-8").split("\n")[:6]
        (folder / f"six.{suffix}").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "six"


@pytest.fixture(scope="module")
def both(regard, trained_run, six, tmp_path_factory) -> tuple[Sections, dict]:
    """The report, and what `evaluate` prints of the same data, by the installed command line."""
    out = tmp_path_factory.mktemp("report") / "report.html"
    data = ("--model", trained_run, "--data", six, "--source", "en", "--target", "de")
    options = ("--alignments", f"{six}.en-de.align", "--resamples", 100, "--threads", 1)
    done = regard("report", *data, *options, "--out", out, check=True)
    assert done.stdout == b"" and f"wrote {out}".encode() in done.stderr
    more = ("--confusions", 20, "--trust", "--json")
    figures = regard("evaluate", *data, *options, *more, check=True).stdout
    return Sections(out), json.loads(figures)


def test_every_section_is_there(both):
    assert [name for name in both[0].text if name] == SECTIONS


def test_the_scores_are_those_of_evaluate(both):
    page, figures = both
    rows = {row[0]: row for row in page.rows["Scores"]}
    for name, score in figures["metrics"].items():
        low, high = score["interval"]["low"], score["interval"]["high"]
        assert rows[name][1:3] == [f"{score['value']:.2f}", f"{low:.2f} to {high:.2f}"]


def test_trust_alignments_and_confusions_are_those_of_evaluate(both):
    page, figures = both
    told = iter(page.rows["How far to trust attention"][1:])
    for how in ("hidden", "removed"):
        for name in ("attention", "random"):
            expected = figures["trust"][how][name]
            _, _, tau, _, same = next(told)
            assert float(tau) == pytest.approx(expected["kendall_tau_b"]["value"], abs=0.0051)
            value = expected["most_attended_is_most_important"]["value"]
            assert float(same) == pytest.approx(value, abs=0.051)
    rates = {row[0]: row[1] for row in page.rows["Word alignment"]}
    for row, name in (("attention", "metrics"), ("nearest diagonal", "diagonal")):
        value = figures["alignments"][name]["alignment_error_rate"]["value"]
        assert rates[row] == f"{value:.2f}"
    edits = page.rows["Most confused symbols"][1:]
    expected = figures["confusions"]["most_frequent"]
    assert [row[3] for row in edits] == [f"{each['count']:,}" for each in expected]
    assert [row[7] for row in edits] == [each["output"] for each in expected]


def test_lengths_examples_and_heads(both, six):
    page, figures = both
    groups = page.rows["By source length"][1:]
    assert sum(int(row[1]) for row in groups) == figures["sources"] == 6
    sources = Path(f"{six}.en").read_text(encoding="utf-8").split("\n")[:-1]
    shown = [row[1] for row in page.rows["Best and worst"] if row[0] != "chrf"]
    assert sorted(shown) == sorted(sources)
    heads = page.rows["Entropy of attention"]
    assert heads[0] == ["layer", "head 1", "head 2", "head 3", "head 4"]
    assert len(heads) == 3 * 2  # three kinds, a layer each
    even = float(re.search(r"Output to source; even attention: ([\d.]+)", page.whole)[1])
    assert all(0 < float(value) <= even for value in heads[1][1:])


def test_curves_and_card(both, trained_run):
    page, _ = both
    lines = [json.loads(line) for line in (trained_run / "metrics.jsonl").open(encoding="utf-8")]
    losses = [line for line in lines if line["kind"] == "training"]
    assert f"training loss: {losses[-1]['loss']:.4g} after" in page.text["Learning curves"]
    charts = [each for tag, each in page.tags if tag == "svg" and each["class"] == "chart"]
    assert len(charts) == 5
    rows = dict(page.rows["The model"])
    assert rows["recipe"] == "transformer-tiny" and "594 pairs" in rows["training data"]
    assert "sources a second" in rows["answering"]
    configuration = (trained_run / "config.yaml").read_text(encoding="utf-8")
    assert configuration.split("\n")[5] in page.text["The model"]


def test_it_needs_nothing_else(both):
    for tag, attributes in both[0].tags:
        assert tag not in ("link", "iframe", "object", "base")
        for name in ("src", "href", "srcset"):
            assert (attributes.get(name) or "data:").startswith("data:"), (tag, attributes)


def test_without_metrics(run, trained_run, six, tmp_path):
    copied = tmp_path / "run"
    shutil.copytree(trained_run, copied, ignore=shutil.ignore_patterns("metrics*", "checkpoints"))
    data = ("--data", six, "--source", "en", "--target", "de", "--resamples", 0, "--threads", 1)
    code, _, said = run("report", "--model", copied, *data, "--out", tmp_path / "r.html")
    assert code == 0, said
    page = Sections(tmp_path / "r.html")
    assert "metrics.jsonl is not in the run directory" in page.text["Learning curves"]
    rows = dict(page.rows["The model"])
    assert rows["recipe"] == "transformer-tiny" and int(rows["parameters"].replace(",", "")) > 0
    assert "metrics.jsonl" in rows["training"] and "model" not in rows
    assert "no true alignments were given" in page.text["Word alignment"]


def test_text_of_the_data_is_only_text(run, untrained_run, tmp_path):
    made = untrained_run(tmp_path / "run", {"decoder": {"kind": "recurrent", "size": 8}})
    rows = [f"abc {HOSTILE}\tcba {HOSTILE}", "שלום abc\tcab שלום", "abd\tdba"]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    out = tmp_path / "r.html"
    data = ("--model", made, "--data", tmp_path / "pairs.tsv", "--resamples", 10)
    code, _, said = run("report", *data, "--out", out, "--threads", 1)
    assert code == 0, said
    page = Sections(out)
    kinds = [each.get("type") for tag, each in page.tags if tag == "script"]
    assert kinds.count(None) == 1  # the page's own
    assert set(kinds) <= {None, "application/json", "application/octet-stream", "text/plain"}
    assert "<script>alert" not in page.whole and "\u202e" not in page.whole
    shown = [row[1] for row in page.rows["Best and worst"][1:]]
    assert any("<script>alert(1)</script>" in text for text in shown)  # as text
    assert {each["dir"] for tag, each in page.tags if tag == "td" and "dir" in each} == {"auto"}


def test_a_model_without_attention(run, untrained_run, tmp_path):
    attends = {"kind": "recurrent", "size": 8, "attend": "never", "constant_context": True}
    made = untrained_run(tmp_path / "run", {"decoder": attends})
    (tmp_path / "pairs.tsv").write_text("abc\tcba\nabd\tdba\n", encoding="utf-8")
    data = ("--model", made, "--data", tmp_path / "pairs.tsv", "--resamples", 0)
    assert run("report", *data, "--out", tmp_path / "r.html")[0] == 0
    page = Sections(tmp_path / "r.html")
    for name in ("Attention", "Entropy of attention", "How far to trust attention"):
        assert "no attention" in page.text[name], name


def test_several_models(run, untrained_run, tmp_path):
    attends = {"decoder": {"kind": "recurrent", "size": 8}}
    runs = [untrained_run(tmp_path / name, attends, seed=seed) for seed, name in enumerate("xy")]
    (tmp_path / "pairs.tsv").write_text("abc\tcba\nabd\tdba\n", encoding="utf-8")
    models = [part for each in runs for part in ("--model", each)]
    data = ("--data", tmp_path / "pairs.tsv", "--resamples", 0)
    assert run("report", *models, *data, "--out", tmp_path / "r.html")[0] == 0
    page = Sections(tmp_path / "r.html")
    assert "several models" in page.text["Learning curves"]
    assert [row[0] for row in page.rows["The model"]].count("recipe") == 2
    assert "1 layer" not in page.text and len(page.rows["Entropy of attention"]) == 2


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (("--out", "r.pdf"), ("r.pdf", ".html")),
        (("--out", "nowhere/r.html"), ("nowhere", "does not exist")),
        (("--regions", "x.jsonl"), ("--regions", "captions")),
    ],
)
def test_mistakes(run, trained_run, six, tmp_path, monkeypatch, options, parts):
    monkeypatch.chdir(tmp_path)
    data = ("--model", trained_run, "--data", six, "--source", "en", "--target", "de")
    code, shown, said = run("report", *data, *options)
    assert (code, shown) == (2, []) and said.count("regard: error: ") == 1
    assert all(part in said for part in parts), said
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def letters(tmp_path) -> Path:
    """Forty words that are to be turned around."""
    words = [f"{a}{b}{c}" for a in "abcd" for b in "efghi" for c in "jk"]
    path = tmp_path / "words.tsv"
    path.write_text("".join(f"{word}\t{word[::-1]}\n" for word in words), encoding="utf-8")
    return path


def training(data: Path, out: Path, *more: object) -> list[object]:
    settings = ("model.encoder.size=8", "model.decoder.size=8", "training.maximum_updates=3")
    settings += ("model.embedding.size=8", "training.average.kind=none")
    settings += ("tokenization.source.kind=character", "tokenization.target.kind=character")
    sets = [part for setting in settings for part in ("--set", setting)]
    files = ("--train", data, "--valid", data, "--out", out, "--threads", 1)
    return ["train", "rnnsearch", *files, *sets, *more]


def test_training_leaves_a_report(regard, letters, tmp_path):
    done = regard(*training(letters, tmp_path / "run"), check=True)
    page = Sections(tmp_path / "run" / "report.html")
    assert re.search(r"all 40 validation pairs|the first \d\d of 40 validation pairs", page.whole)
    assert "greedily, as training validates" in page.whole
    assert [name for name in page.text if name] == SECTIONS
    assert re.search(rb"report +\S+report\.html", done.stdout)


def test_training_leaves_none_where_it_is_not_wanted(run, letters, tmp_path):
    code, shown, _ = run(*training(letters, tmp_path / "run", "--no-report"))
    assert code == 0 and not (tmp_path / "run" / "report.html").exists()
    assert not any("report" in line for line in shown)


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (KeyboardInterrupt(), 130, "the model is whole"),
        (regard.cli.Terminated(), 143, "the model is whole"),
        (UserError("the disk is full"), 0, "no report was written: the disk is full"),
    ],
)
def test_a_report_that_is_not_made_costs_nothing(
    run, letters, tmp_path, monkeypatch, error, code, word
):
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(training_report, "write_training_report", broken)
    found, _, said = run(*training(letters, tmp_path / "run"))
    assert found == code and word in said
    assert not (tmp_path / "run" / "report.html").exists()
    assert run("translate", "--model", tmp_path / "run", letters)[0] == 0


def test_the_sample_fits_the_time():
    fitting = training_report._fitting
    assert fitting(0.001, 500, 10_000) == 500
    assert fitting(0.1, 500, 10_000) == 100
    assert fitting(10, 500, 10_000) == 20
    assert fitting(10, 500, 7) == 7
    assert training_report._positions(Pairs((Pair("a b c", "x"),), "here")) == 3


def test_nothing_is_imported_for_help(regard):
    """Not even the report room: the command line stays quick."""
    done = regard("report", "--help", check=True)
    assert b"--alignments" in done.stdout
