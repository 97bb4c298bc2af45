"""Files of alignments, in the formats that gold ones come in."""

import pytest

from regard.data.alignment import Alignment
from regard.errors import UserError
from regard.evaluation import format_links, parse_links, read_alignments, write_alignments


def links(*pairs):
    return frozenset(pairs)


def test_pharaoh_lines():
    gold = parse_links("0-0 1p1 2-10")
    assert gold.sure == {(0, 0), (2, 10)}
    assert gold.possible == {(1, 1)}
    assert parse_links("0-0 1?1 2-10") == gold
    assert parse_links("1p1 1-1") == Alignment(links((1, 1)), links())
    assert parse_links(gold.pharaoh()) == gold
    assert parse_links("") == Alignment(frozenset(), frozenset())
    assert format_links([(2, 1), (0, 3), (0, 0), (10, 2), (0, 3)]) == "0-0 0-3 2-1 10-2"
    assert format_links([]) == ""


def test_files_round_trip_and_keep_empty_lines(tmp_path):
    path = tmp_path / "x.align"
    rows = [links((0, 0), (1, 2)), links(), links((3, 0))]
    write_alignments(path, rows)
    assert path.read_bytes() == b"0-0 1-2\n\n3-0\n"
    assert [gold.sure for gold in read_alignments(path)] == rows
    assert read_alignments(path, pairs=3) == read_alignments(path)


@pytest.mark.parametrize("bad", ["1_2", "1-", "-1-2", "1-2-3", "1:2", "１-2", "1P2"])
def test_a_wrong_link_is_named_with_its_file_and_line(tmp_path, bad):
    path = tmp_path / "gold.talp"
    path.write_bytes(f"0-0 1-1\n0-0 {bad}\n".encode())
    with pytest.raises(UserError) as raised:
        read_alignments(path)
    assert f"{path}, line 2: '{bad}' is not a link" in str(raised.value)


def test_there_is_a_line_for_each_pair(tmp_path):
    path = tmp_path / "gold"
    path.write_text("0-0\n\n")
    with pytest.raises(UserError, match="has 2 lines for 1,003 pairs"):
        read_alignments(path, pairs=1003)


def test_numbered_links(tmp_path):
    """The format of the shared tasks of 2003 and 2005; pair 2 has no links, 4 none either."""
    path = tmp_path / "test.wa.nonullalign"
    path.write_text("0001 1 1 S\n0001 2 3 P\n1 2 2\n\n3 1 4 P 0.5\n3 1 4 S 1\n3 5 1 0.25\n")
    first = Alignment(links((0, 0), (1, 1)), links((1, 2)))
    third = Alignment(links((0, 3), (4, 0)))
    nothing = Alignment(links())
    assert read_alignments(path) == [first, nothing, third]
    assert read_alignments(path, pairs=4) == [first, nothing, third, nothing]
    with pytest.raises(UserError, match="line 5: pair 3 of 2 pairs"):
        read_alignments(path, pairs=2)


@pytest.mark.parametrize("bad", ["1 0 1", "0 1 1", "1 1", "1 1 1 X", "1 1 1 S x", "0-0"])
def test_a_wrong_numbered_link_is_named(tmp_path, bad):
    path = tmp_path / "gold"
    path.write_text(f"1 1 1 S\n{bad}\n")
    with pytest.raises(UserError) as raised:
        read_alignments(path)
    assert f"{path}, line 2: {bad!r} is not a link" in str(raised.value)
