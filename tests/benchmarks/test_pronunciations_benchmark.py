"""The files of pronunciations: pairs that regard reads, a line of links for each aligned one."""

import importlib.util
from pathlib import Path

import pytest

import pronunciations
from regard.data.pairs import read_pairs
from regard.evaluation import read_alignments


@pytest.mark.skipif(
    importlib.util.find_spec("gruut_lang_it") is None, reason="gruut-lang-it is not installed"
)
def test_files(tmp_path: Path) -> None:
    out = tmp_path / "italian"
    assert pronunciations.main(["it", "--out", str(out), "--valid", "10", "--test", "50"]) == 0
    train, valid, test, aligned = (
        read_pairs(str(out / f"{name}.tsv"), None, None)
        for name in ("train", "valid", "test", "aligned")
    )
    assert (len(set(valid.sources())), len(set(test.sources()))) == (10, 50)
    assert len(train) > 26_000 and not {*train.sources()} & {*test.sources()}
    assert {*aligned.pairs} <= {*test.pairs}
    links = read_alignments(out / "aligned.align", len(aligned))
    for pair, alignment in zip(aligned, links, strict=True):
        assert alignment.within(len(pair.source), len(pair.target.split())) == alignment


def test_a_missing_package_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert pronunciations.main(["de", "--out", str(tmp_path / "german")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "german").exists()
