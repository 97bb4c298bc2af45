"""Coverage: how much of the validation data the symbols of the training data can express."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from regard.data.batches import Example
from regard.data.pairs import Pair
from regard.data.special import UNKNOWN
from regard.data.tokenizers import Tokenizer, Tokenizers, named, unseen_symbols


@dataclass(frozen=True)
class Coverage:
    """Sources that hold symbols which training never saw, and sources that cannot be answered.

    sources: how many distinct ones there are.
    unseen: how many hold a symbol that the model reads as unknown; unseen_symbols: which these are.
    unreachable: how many have no accepted target that the model could write, a floor under its
        word error rate; unreachable_symbols: what these targets have that it cannot write.
    """

    sources: int
    unseen: int
    unseen_symbols: tuple[str, ...]
    unreachable: int
    unreachable_symbols: tuple[str, ...]

    def messages(self, sources: str = "sources") -> list[str]:
        """What a person should know of validation data, a line each; nothing where all is well.

        sources: what they are called.
        """
        told = [self.unreachable_message(f"validation {sources}")] if self.unreachable else []
        if self.unseen:
            told.insert(
                0,
                f"{self.unseen:,} of {self.sources:,} validation {sources} have symbols never seen "
                f"in training, read as unknown: {named(self.unseen_symbols)}",
            )
        return told

    def unreachable_message(self, sources: str) -> str:
        """How many cannot be answered, and for want of which symbols."""
        return (
            f"{self.unreachable:,} of {self.sources:,} {sources} cannot be answered right, as "
            "their targets have symbols that no training target has: "
            f"{named(self.unreachable_symbols)}"
        )


def measure_coverage(
    pairs: Sequence[Pair],
    examples: Sequence[Example],
    tokenizers: Tokenizers,
    *,
    every_pair: bool = False,
) -> Coverage:
    """The coverage of pairs, which `examples` are encodings of, one by one.

    every_pair: each is a source of its own, however often its text comes.
    """
    keys: Sequence[Hashable] = [(pair.source, pair.features) for pair in pairs]
    if every_pair:
        keys = range(len(pairs))
    rows = list(zip(keys, pairs, examples, strict=True))
    unseen = {key: pair.source for key, pair, example in rows if example.unknown_source}
    reachable = {key for key, _, example in rows if UNKNOWN not in example.target}
    lost = [pair.target for key, pair, _ in rows if key not in reachable]
    return Coverage(
        len(set(keys)),
        len(unseen),
        _symbols(tokenizers.source, list(unseen.values())),
        len(set(keys) - reachable),
        _symbols(tokenizers.target, lost),
    )


def _symbols(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[str, ...]:
    found = (symbol for text in texts for symbol in unseen_symbols(tokenizer, text))
    return tuple(dict.fromkeys(found))
