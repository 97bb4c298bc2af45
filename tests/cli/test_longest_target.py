"""A model that cannot write every length: a longer target is named, the others are scored."""

import json

import pytest

import regard
import regard.cli


@pytest.fixture(scope="module")
def run(untrained_run, tmp_path_factory):
    """A Transformer of learned positions: it reads any source, and writes six tokens at most."""
    part = {"kind": "transformer", "layers": 1, "heads": 2, "feed_forward_size": 8}
    decoder = {**part, "positions": "learned", "maximum_positions": 6}
    sections = {"embedding": {"size": 8}, "encoder": part, "decoder": decoder}
    out = tmp_path_factory.mktemp("learned") / "run"
    return untrained_run(out, sections, batching={"maximum_length": 6})


def test_score_names_it(run, tmp_path, capfdbinary):
    data = tmp_path / "pairs.tsv"
    data.write_text("abcdefgh\tabcde\nab\tabcdef\nba\tab\n", encoding="utf-8")
    for form in ((), ("--json",)):
        code = regard.cli.run(["score", "--model", str(run), "--data", str(data), *form])
        out, said = (each.decode("utf-8") for each in capfdbinary.readouterr())
        assert code == 2 and "Traceback" not in said
        assert (
            "line 2: a target of 7 tokens with the end symbol; this model writes at most 6" in said
        )
        assert "1 pair could not be scored; the others are" in said
        rows = out.splitlines()
        assert len(rows) == 3
        if form:
            first, long, last = map(json.loads, rows)
            assert long["score"] is None and "writes at most 6" in long["error"]
            assert first["score"] < 0 > last["score"] and "error" not in first
        else:
            assert [row.split("\t")[2:] for row in rows] == [
                ["abcdefgh", "abcde"],
                ["ab", "abcdef"],
                ["ba", "ab"],
            ]
            assert [bool(row.split("\t")[0]) for row in rows] == [True, False, True]


def test_python_has_a_problem_in_place_of_a_score(run):
    model = regard.load(run)
    short, long = model.score([("ab", "abcde"), ("ab", "abcdef")])
    assert short.problem is None and short.score is not None and short.score < 0
    assert long.score is None and long.problem is not None and "writes at most 6" in long.problem
    assert all(len(answer.tokens) <= 6 for answer in model.translate(["abcdefgh", "a"]))
