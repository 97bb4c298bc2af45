"""Links of words become links of tokens, whatever a word is cut into."""

from regard.data.alignment import Alignment
from regard.data.batches import collate, encode_pairs, split
from regard.data.configuration import (
    FeaturesConfiguration,
    TokenizationConfiguration,
    TokenizerConfiguration,
)
from regard.data.links import collate_links
from regard.data.pairs import Pair, Pairs
from regard.data.tokenizers import train_tokenizers

#: "ab" belongs to "z" (surely) and, it may be, to "xy"; "c" belongs to nothing.
LINKED = Pair("ab c", "xy z", alignment=Alignment(frozenset({(0, 1)}), frozenset({(0, 0)})))
PLAIN = Pair("c", "z")


def letters():
    side = TokenizerConfiguration(kind="character")
    both = TokenizationConfiguration(source=side, target=side)
    return train_tokenizers(both, Pairs((LINKED, PLAIN), "test"), seed=1)


def test_every_token_of_linked_words_is_linked() -> None:
    """Letters and the space: a b _ c, and x y _ z; the space and the end are linked to nothing."""
    linked, plain = encode_pairs([LINKED, PLAIN], letters())
    assert linked.links == ((0, 0), (0, 1), (1, 0), (1, 1), (3, 0), (3, 1))
    assert plain.links == ()


def test_features_stand_before_the_words() -> None:
    pair = Pair("ab", "x", features="V;PST", alignment=Alignment(frozenset({(0, 0)})))
    side = TokenizerConfiguration(kind="character")
    both = TokenizationConfiguration(source=side, target=side, features=FeaturesConfiguration())
    tokenizers = train_tokenizers(both, Pairs((pair,), "test"), seed=1)
    (example,) = encode_pairs([pair], tokenizers)
    read = len(example.source)
    assert example.links == ((0, read - 3), (0, read - 2))  # the letters, before the end


def test_a_batch_has_them_row_by_row() -> None:
    examples = encode_pairs([PLAIN, LINKED], letters())
    links = collate(examples, [1, 0]).links
    assert links is not None and links.shape == (2, 5, 5)
    assert links[0].nonzero().tolist() == [list(link) for link in examples[1].links]
    assert not links[1].any()


def test_a_batch_without_any_has_none() -> None:
    examples = encode_pairs([PLAIN, LINKED], letters())
    assert collate(examples, [0]).links is None
    assert collate_links([(), ()], 3, 3) is None


def test_parts_of_a_batch_keep_theirs() -> None:
    examples = encode_pairs([LINKED, PLAIN], letters())
    one, other = split(collate(examples, [0, 1]), 2)
    assert one.links is not None and one.links.sum() == 6
    assert other.links is not None and other.links.shape == (1, 2, 2)
    assert not other.links.any()


def test_pairs_are_told_what_belongs_together() -> None:
    pairs = Pairs((Pair("a b", "x"), PLAIN), "test")
    links = [Alignment(frozenset({(1, 0)})), Alignment(frozenset())]
    aligned = pairs.aligned(links)
    assert not pairs.have_alignments and pairs.links == 0
    assert aligned.have_alignments and aligned.links == 1
    assert [pair.alignment for pair in aligned] == links and aligned.sources() == pairs.sources()
