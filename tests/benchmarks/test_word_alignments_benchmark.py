"""What real text is graded with: pairs in Moses' tokens, and links of eflomal."""

import sys
from pathlib import Path

import pytest

import eflomal_links
import moses_tokens

#: Links every word to the one at its place, and notes what it was given.
_EFLOMAL = """#!{python}
import sys
from pathlib import Path
texts = [Path(name).read_text(encoding="utf-8") for name in ("source", "target")]
Path({seen!r}).write_text(repr(texts), encoding="utf-8")
rows = zip(*(text.split("\\n")[:-1] for text in texts))
lines = [" ".join(f"{{i}}-{{i}}" for i, _ in enumerate(zip(s.split(), t.split()))) for s, t in rows]
for name in ("forward", "reverse"):
    Path(name).write_text("".join(line + "\\n" for line in lines), encoding="utf-8")
"""


def test_sentences_become_tokens(tmp_path: Path) -> None:
    pytest.importorskip("sacremoses")
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "out.tsv"
    pairs.write_text("I\u2019m here, Tom!\tL\u2019ami est là.\n", encoding="utf-8")
    assert moses_tokens.main([str(pairs), "--languages", "en", "fr", "--out", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == "I 'm here , Tom !\tL' ami est là .\n"


def test_tokens_are_kept_where_links_count_them(tmp_path: Path) -> None:
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "out.tsv"
    pairs.write_text("I\u2019m here,Tom\tqu\u2019 il\n", encoding="utf-8")
    options = ["--languages", "en", "fr", "--tokens-already", "--out", str(out)]
    assert moses_tokens.main([str(pairs), *options]) == 0
    assert out.read_text(encoding="utf-8") == "I'm here,Tom\tqu' il\n"


def test_links_are_those_of_the_pairs_asked_for(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = tmp_path / "eflomal-align"
    command.write_text(_EFLOMAL.format(python=sys.executable, seen=str(seen)), encoding="utf-8")
    command.chmod(0o755)
    train, data, out = (tmp_path / name for name in ("train.tsv", "data.tsv", "links"))
    train.write_text("un deux trois\tOne two three\n", encoding="utf-8")
    data.write_text("Four Five\tquatre cinq\nSix\tsix\n", encoding="utf-8")
    options = ["--train", str(train), "--columns", "2", "1", "--data", str(data)]
    assert eflomal_links.main([*options, "--out", str(out), "--eflomal", str(command)]) == 0
    assert out.read_text(encoding="utf-8") == "0-0 1-1\n0-0\n"
    source, target = "one two three\nfour five\nsix\n", "un deux trois\nquatre cinq\nsix\n"
    assert seen.read_text(encoding="utf-8") == repr([source, target])


def test_without_eflomal_one_line_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data.tsv", tmp_path / "links"
    data.write_text("a\tb\n", encoding="utf-8")
    options = ["--train", str(data), "--data", str(data), "--out", str(out)]
    assert eflomal_links.main([*options, "--eflomal", str(tmp_path / "none")]) == 2
    assert "pip install eflomal" in capsys.readouterr().err
    assert not out.exists()
