import numpy as np
import pytest

from regard.data.alignment import Alignment
from regard.errors import UserError
from regard.evaluation import (
    alignment_error_rate,
    diagonal,
    format_links,
    links_from_attention,
    parse_links,
    read_alignments,
    write_alignments,
)


def links(*pairs):
    return frozenset(pairs)


def test_pharaoh_lines():
    gold = parse_links("0-0 1p1 2-10")
    assert gold.sure == {(0, 0), (2, 10)}
    assert gold.possible == {(1, 1)}
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


@pytest.mark.parametrize("bad", ["1_2", "1-", "-1-2", "1-2-3", "1:2", "１-2", "1P2"])
def test_a_wrong_link_is_named_with_its_file_and_line(tmp_path, bad):
    path = tmp_path / "gold.talp"
    path.write_bytes(f"0-0 1-1\n0-0 {bad}\n".encode())
    with pytest.raises(UserError) as raised:
        read_alignments(path)
    assert f"{path}, line 2: '{bad}' is not a link" in str(raised.value)


def test_error_rate_by_hand():
    # |A|=3, |S|=2, A∩S={(0,0)}, A∩P={(0,0),(1,1)}: 1 - (1+2)/(3+2)
    predicted, sure = links((0, 0), (1, 1), (2, 5)), links((0, 0), (2, 2))
    possible = links((1, 1))
    assert alignment_error_rate([predicted], [sure], [possible]) == pytest.approx(0.4)
    assert alignment_error_rate([predicted], [sure], [possible | sure]) == pytest.approx(0.4)


def test_error_rate_sums_counts_over_the_corpus():
    right, none = links((0, 0)), links()
    wrong, gold = links((1, 0), (2, 1), (3, 2)), links((0, 0), (1, 1), (2, 2))
    # sentence 1: 2 of 2 agree, sentence 2: 0 of 6; the mean of the rates would be 0.5
    rate = alignment_error_rate([right, wrong], [right, gold], [none, none])
    assert rate == pytest.approx(1 - 2 / 8)
    assert alignment_error_rate([gold], [gold], [gold]) == 0
    assert alignment_error_rate([none], [gold], [gold]) == 1
    assert alignment_error_rate([none], [none], [none]) == 0


def test_error_rate_wants_one_of_each():
    with pytest.raises(UserError, match="2 predicted, 1 sure and 1 possible"):
        alignment_error_rate([links(), links()], [links()], [links()])


def test_diagonal():
    assert diagonal(3, 3) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal(6, 3) == {(1, 0), (3, 1), (5, 2)}
    assert diagonal(2, 4) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert diagonal(0, 3) == frozenset()
    assert diagonal(3, 0) == frozenset()
    for source, target in [(1, 7), (7, 1), (40, 13), (13, 40)]:
        guess = diagonal(source, target)
        assert sorted(j for _, j in guess) == list(range(target))
        assert all(0 <= i < source for i, _ in guess)
        for i, j in guess:  # no source word is nearer to the diagonal
            nearest = min(abs((k + 0.5) / source - (j + 0.5) / target) for k in range(source))
            assert abs((i + 0.5) / source - (j + 0.5) / target) == pytest.approx(nearest)


def test_each_target_token_takes_its_heaviest_source_token():
    attention = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.0, 1.0, 0.0]]
    assert links_from_attention(attention, [0, 1, -1], [0, 1, 2]) == {(0, 0), (1, 2)}
    # token 1 looked at the end symbol: no link
    assert links_from_attention(attention, [0, 1, 2], [0, 1, -1]) == {(0, 0), (2, 1)}


def test_tokens_of_a_word_vote_together():
    # Argmax per token says 0, 0 and 1; the weights of the three together say 1.
    attention = [[0.5, 0.4, 0.1], [0.5, 0.4, 0.1], [0.0, 0.9, 0.1]]
    assert links_from_attention(attention, [0, 1, -1], [0, 0, 0]) == {(1, 0)}


def test_source_pieces_of_a_word_add_up_and_pieces_outside_words_compete_alone():
    attention = [[0.3, 0.3, 0.4, 0.0]]
    assert links_from_attention(attention, [0, 0, 1, -1], [0]) == {(0, 0)}
    # two spaces of 0.3 each are not one thing of 0.6
    assert links_from_attention([[0.3, 0.4, 0.3]], [-1, 0, -1], [0]) == {(0, 0)}
    assert links_from_attention([[0.45, 0.3, 0.25]], [-1, 0, 1], [0]) == frozenset()


def test_arrays_ties_and_nothing():
    attention = np.array([[0.5, 0.5], [0.5, 0.5]], dtype=np.float32)
    assert links_from_attention(attention, [0, 1], [0, 1]) == {(0, 0), (0, 1)}
    assert links_from_attention(np.zeros((0, 2)), [0, 1], []) == frozenset()
    assert links_from_attention([[]], [], [0]) == frozenset()


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="1 rows of attention for 2 tokens"):
        links_from_attention([[1.0]], [0], [0, 1])
    with pytest.raises(ValueError, match="2 weights in a row for 1 tokens"):
        links_from_attention([[0.5, 0.5]], [0], [0])
