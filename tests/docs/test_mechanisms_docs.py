"""The pages of the mechanisms: what each must have, and every program in them, run."""

import re
from pathlib import Path

import pytest
import torch

from .documents import MECHANISMS, ROOT, blocks, links, prose, read

PAGES = sorted(path for path in MECHANISMS.glob("*.md") if path.name != "README.md")
MEASURED = {
    "log-probabilities.md": "log_probabilities.py",
    "scaling.md": "dot_scaling.py",
    "bottleneck.md": "bottleneck.py",
}
each_page = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


@pytest.mark.parametrize("path", [*PAGES, MECHANISMS / "README.md"], ids=lambda path: path.stem)
def test_programs_run(path: Path) -> None:
    """One after the other, so that a later one may use what an earlier one made."""
    torch.manual_seed(1)
    names: dict[str, object] = {"__name__": path.stem}
    programs = blocks(path, "python")
    assert programs or path.name in MEASURED
    for program in programs:
        exec(compile(program, str(path), "exec"), names)


@each_page
def test_a_page_has_all_its_parts(path: Path) -> None:
    assert len(read(path).split("\n")) <= 151
    assert any("=" in block for block in blocks(path)), "no equation"
    found = links(path)
    assert any(link.startswith("../../src/regard/") for link in found), "no code"
    assert any(link.startswith("../images/mechanisms/") for link in found), "no picture"
    text = read(path)
    assert ("When " in text and ("to use" in text or "matters" in text)) or path.name in MEASURED
    assert re.search(r"\bpapers? do(es)? beyond", prose(path)) or path.name in MEASURED


@each_page
def test_the_overview_lists_it(path: Path) -> None:
    assert path.name in links(MECHANISMS / "README.md")


def test_numbered_mechanisms_name_their_tests() -> None:
    """Each says which test holds it to its equations; and each is there once."""
    sections = [
        section
        for page in PAGES
        for section in re.split(r"^## ", read(page), flags=re.MULTILINE)
        if re.match(r"[ABC]\d+ ", section)
    ]
    numbers = [section.split(" ")[0] for section in sections]
    expected = (
        {f"A{n}" for n in range(1, 18)}
        | {f"B{n}" for n in range(1, 10)}
        | {f"C{n}" for n in range(1, 6)}
    )
    assert sorted(numbers) == sorted(expected)
    without = [section.split("\n")[0] for section in sections if "tests/" not in section]
    assert without == ["A13 Any score, anywhere"]  # every combination of the others


def test_measured_pages_name_their_command() -> None:
    for name, program in MEASURED.items():
        assert f"python benchmarks/{program}" in read(MECHANISMS / name)
        assert (ROOT / "benchmarks" / program).is_file()


def test_no_page_is_written_about_what_is_not_there() -> None:
    """A code span that looks like an argument of Attention is one."""
    from inspect import signature

    from regard.attention import Attention

    known = set(signature(Attention.__init__).parameters) | set(
        signature(Attention.forward).parameters
    )
    known |= {"generator", "step", "start"}
    for path in PAGES:
        for code in re.findall(r"`([a-z_]+)=[^`\n]*`", prose(path)):
            assert code in known, (path.name, code)
