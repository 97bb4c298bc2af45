"""Links between the tokens of an example, from those between the words of its pair."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from regard.data.pairs import Pair
from regard.data.tokenizers import Tokenizers

#: Pairs of a step and a source position: the token that the step writes belongs to that position.
TokenLinks = tuple[tuple[int, int], ...]


def token_links(pairs: Iterable[Pair], tokenizers: Tokenizers) -> list[TokenLinks]:
    """Of each pair: every token of a linked word with every token of its other words.

    Possible links count as sure ones do. A token that belongs to no word has none.
    """
    return [_links(pair, tokenizers) for pair in pairs]


def _links(pair: Pair, tokenizers: Tokenizers) -> TokenLinks:
    if pair.alignment is None:
        return ()
    words = tokenizers.tokenize_source(pair.source, pair.features or None).words
    positions, sources = defaultdict(list), defaultdict(list)
    for position, word in enumerate(words):
        positions[word].append(position)
    for source, target in sorted(pair.alignment.links):
        sources[target].extend(positions[source])
    steps = enumerate(tokenizers.target.tokenize(pair.target).words)
    return tuple((step, position) for step, word in steps for position in sources[word])


def collate_links(
    links: Sequence[TokenLinks], steps: int, positions: int
) -> Float[Tensor, "batch steps source"] | None:
    """1 where a step belongs to a source position, else 0; None where nothing is linked."""
    if not any(links):
        return None
    every = [(row, *link) for row, found in enumerate(links) for link in found]
    collated = torch.zeros(len(links), steps, positions)
    collated[tuple(torch.tensor(every).t())] = 1.0
    return collated
