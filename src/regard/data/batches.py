"""Batches: examples of like length side by side, as tensors."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numpy.typing import NDArray
from torch import Tensor

from regard.data.configuration import BatchingConfiguration
from regard.data.links import TokenLinks, collate_links, token_links
from regard.data.pairs import Pair, Pairs
from regard.data.pictures import Picture, read_pictures
from regard.data.special import END, PAD, START, UNKNOWN
from regard.data.tokenizers import Tokenizers, open_source, open_target, seed_sampling
from regard.errors import UserError

#: What a model reads: the ids of a text, END appended, or a picture.
Source = tuple[int, ...] | Picture


@dataclass(frozen=True)
class Example:
    """A pair as a model reads and writes it.

    target: ids, END appended. links: which tokens belong together, where that is known.
    """

    source: Source
    target: tuple[int, ...]
    links: TokenLinks = ()

    @property
    def unknown_source(self) -> bool:
        """Whether the source is a text with a symbol that no vocabulary has."""
        return isinstance(self.source, tuple) and UNKNOWN in self.source


@dataclass(frozen=True)
class Batch:
    """Examples as tensors, padded with PAD on the right. Masks are True at real positions.

    source: ids, or the features of pictures.
    inputs: START and the target without its END: what the decoder reads.
    outputs: the target with its END: what it should answer at each step.
    indices: which examples these are, row by row.
    links: 1 where a step belongs to a source position, else 0; None where that is not known.
    """

    source: Int[Tensor, "batch source"] | Float[Tensor, "batch source size"]
    source_mask: Bool[Tensor, "batch source"]
    inputs: Int[Tensor, "batch steps"]
    outputs: Int[Tensor, "batch steps"]
    mask: Bool[Tensor, "batch steps"]
    indices: list[int]
    links: Float[Tensor, "batch steps source"] | None = None


@dataclass(frozen=True)
class Fitting:
    """Pairs that are short enough to train on, their examples, and how many were left out."""

    pairs: Pairs
    examples: list[Example]
    left_out: int


def encode_pairs(
    pairs: Iterable[Pair],
    tokenizers: Tokenizers,
    *,
    sample: bool = False,
    seed: int | None = None,
    limit: int | None = None,
    opened: bool = False,
) -> list[Example]:
    """The pairs as examples, in their order.

    sample: with subword sampling, where the tokenizers have it; it follows `seed` when one is
        given and `seed_sampling` otherwise.
    limit: a pair of which sampling makes a side longer than this is taken unsampled.
    opened: symbols that no vocabulary has get ids of their own, for models that copy
        (`regard.data.tokenizers.opening`).
    """
    pairs = list(pairs)
    if opened:
        examples = encode_pairs(pairs, tokenizers, sample=sample, seed=seed, limit=limit)
        both = zip(pairs, examples, strict=True)
        return [_open(tokenizers, pair, example) for pair, example in both]
    if not sample:
        return _encode(pairs, tokenizers, sample=False)
    if seed is not None:
        seed_sampling(seed)
    examples = _encode(pairs, tokenizers, sample=True)
    if limit is not None:
        rows = np.flatnonzero(_longest_texts(examples) > limit).tolist()
        shorter = _encode([pairs[row] for row in rows], tokenizers, sample=False)
        for row, example in zip(rows, shorter, strict=True):
            examples[row] = example
    return examples


def _encode(pairs: Sequence[Pair], tokenizers: Tokenizers, *, sample: bool) -> list[Example]:
    sources = _sources(pairs, tokenizers, sample)
    write = tokenizers.target.sample_all if sample else tokenizers.target.encode_all
    targets = write([pair.target for pair in pairs])
    links = token_links(pairs, tokenizers)  # of tokens that are not sampled
    return [
        Example(source, (*target, END), linked)
        for source, target, linked in zip(sources, targets, links, strict=True)
    ]


def _sources(pairs: Sequence[Pair], tokenizers: Tokenizers, sample: bool) -> Sequence[Source]:
    pictures = [pair.picture for pair in pairs if pair.picture is not None]
    if pictures:
        return pictures
    texts = [pair.source for pair in pairs]
    tags = [pair.features for pair in pairs] if any(pair.features for pair in pairs) else None
    return [(*ids, END) for ids in tokenizers.encode_sources(texts, tags, sample=sample)]


def _open(tokenizers: Tokenizers, pair: Pair, example: Example) -> Example:
    if not isinstance(example.source, tuple) or UNKNOWN not in example.source:
        return example
    opened = open_source(tokenizers, pair.source, example.source)
    target = example.target
    if opened.symbols and UNKNOWN in target:
        target = (*open_target(tokenizers.target, opened.symbols).encode(pair.target), END)
    return Example(opened.ids, target)


def length_limit(configuration: BatchingConfiguration) -> int:
    """The longest side that is trained on: `maximum_length`, or a whole batch if that is less."""
    return min(configuration.maximum_length, configuration.tokens)


def fit(pairs: Pairs, examples: Sequence[Example], configuration: BatchingConfiguration) -> Fitting:
    """Leave out the pairs of which a side has more tokens, END included, than `length_limit`.

    The positions of pictures are no tokens: they are as many in each.
    Raises UserError, naming the longest length and the key, when none is left.
    """
    limit = length_limit(configuration)
    longest = _longest_texts(examples)
    kept = np.flatnonzero(longest <= limit).tolist()
    if not kept:
        key = "maximum_length" if limit == configuration.maximum_length else "tokens"
        raise UserError(
            f"{pairs.origin}: every pair has more than {limit} tokens on a side, the longest "
            f"{longest.max(initial=0)}; raise batching.{key} or give shorter texts"
        )
    remaining = Pairs(tuple(pairs[index] for index in kept), pairs.origin, pairs.blank)
    return Fitting(remaining, [examples[index] for index in kept], len(examples) - len(kept))


def bucket(
    examples: Sequence[Example], configuration: BatchingConfiguration, seed: int, epoch: int
) -> list[list[int]]:
    """Every example's index once, in batches of like length, in random order.

    In a batch, rows times the longest source or target is at most `configuration.tokens`; an
    example longer than that is a batch of its own. Within a pool, lengths are sorted, equal ones
    in random order, by source or by target first, and cut from a random place on, so that batches
    differ between epochs. The same (seed, epoch) gives the same batches.
    """
    random = np.random.default_rng((seed % 2**63, epoch))
    lengths = _lengths(examples)
    batches: list[list[int]] = []
    for pool in _pools(len(examples), configuration.pool, random):
        order = pool[_sorted(lengths[pool], random)]
        first = int(configuration.tokens * random.uniform(0.5, 1))
        longest = lengths[order].max(axis=1)
        batches.extend(
            order[start:end].tolist() for start, end in _cut(longest, configuration.tokens, first)
        )
    return [batches[index] for index in random.permutation(len(batches))]


def _pools(count: int, size: int, random: np.random.Generator) -> list[NDArray[np.int64]]:
    """The indices below `count`, at random in pools of `size`; 0 = all in one."""
    shuffled = random.permutation(count)
    size = size or max(count, 1)
    return [shuffled[start : start + size] for start in range(0, count, size)]


def _sorted(lengths: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.int64]:
    """The rows of `lengths` [examples, 2] by their longer side, then by one side, then the other.

    The one side turns back and forth from each length to the next, so that neighbors stay close.
    """
    longest = lengths.max(axis=1)
    side = int(random.integers(2))
    one, other = lengths[:, side], lengths[:, 1 - side]
    turned = np.where(longest % 2 == 0, one, -one)
    return np.lexsort((random.permutation(len(lengths)), other, turned, longest))


def _cut(longest: NDArray[np.int64], tokens: int, first: int) -> Iterator[tuple[int, int]]:
    """Where to cut sorted rows: parts of at most `tokens` positions, `first` in the first."""
    start, budget = 0, first
    for end, length in enumerate(longest.tolist()):
        if end > start and (end - start + 1) * length > budget:
            yield start, end
            start, budget = end, tokens
    if len(longest):
        yield start, len(longest)


def _lengths(examples: Sequence[Example]) -> NDArray[np.int64]:
    """Source and target length of every example, `[examples, 2]`."""
    both = chain.from_iterable((len(example.source), len(example.target)) for example in examples)
    return np.fromiter(both, dtype=np.int64, count=2 * len(examples)).reshape(-1, 2)


def _longest_texts(examples: Sequence[Example]) -> NDArray[np.int64]:
    """Tokens on the longer side of every example, of the target where the source is a picture."""
    lengths = _lengths(examples)
    if examples and isinstance(examples[0].source, Picture):
        return lengths[:, 1]
    return lengths.max(axis=1, initial=0)


def collate(examples: Sequence[Example], indices: Sequence[int]) -> Batch:
    """The examples at `indices` as one batch."""
    rows = [examples[index] for index in indices]
    source, source_mask = _collate_sources([row.source for row in rows])
    outputs, mask = collate_sources([row.target for row in rows])
    inputs = outputs.roll(1, dims=1).masked_fill(~mask, PAD)  # END falls on padding
    inputs[:, 0] = START
    links = collate_links([row.links for row in rows], outputs.shape[1], source.shape[1])
    return Batch(source, source_mask, inputs, outputs, mask, list(indices), links)


def _collate_sources(sources: Sequence[Source]) -> tuple[Tensor, Bool[Tensor, "batch source"]]:
    pictures = [source for source in sources if isinstance(source, Picture)]
    if pictures:
        return read_pictures(pictures)
    return collate_sources([source for source in sources if isinstance(source, tuple)])


def collate_sources(
    sources: Sequence[Sequence[int]],
) -> tuple[Int[Tensor, "batch source"], Bool[Tensor, "batch source"]]:
    """Ids as one tensor, padded on the right, and its mask. END is not added: give it with them.

    There is at least one position, so that a batch of empty rows is all padding.
    """
    lengths = np.fromiter(map(len, sources), dtype=np.int64, count=len(sources))
    mask = np.arange(max(int(lengths.max(initial=0)), 1)) < lengths[:, None]
    ids = np.full(mask.shape, PAD, dtype=np.int64)
    ids[mask] = np.fromiter(chain.from_iterable(sources), dtype=np.int64, count=lengths.sum())
    return torch.from_numpy(ids), torch.from_numpy(mask)


def split(batch: Batch, parts: int) -> list[Batch]:
    """The rows of a batch in their order, as `parts` batches with about as many real tokens each.

    None is empty, so there are never more than rows; each is as long as it needs to be.
    """
    rows = len(batch.indices)
    parts = min(parts, rows)
    tokens = (batch.source_mask.sum(dim=1) + batch.mask.sum(dim=1)).cumsum(dim=0).numpy()
    bounds = [0]
    for part in range(1, parts):
        even = int(np.searchsorted(tokens, tokens[-1] * part / parts)) + 1
        bounds.append(min(max(even, bounds[-1] + 1), rows - parts + part))
    return [
        _rows(batch, start, end) for start, end in zip(bounds, [*bounds[1:], rows], strict=True)
    ]


def _rows(batch: Batch, start: int, end: int) -> Batch:
    source_mask, mask = batch.source_mask[start:end], batch.mask[start:end]
    source, target = int(source_mask.sum(dim=1).max()), int(mask.sum(dim=1).max())
    return Batch(
        batch.source[start:end, :source],
        source_mask[:, :source],
        batch.inputs[start:end, :target],
        batch.outputs[start:end, :target],
        mask[:, :target],
        batch.indices[start:end],
        None if batch.links is None else batch.links[start:end, :target, :source],
    )


def padding_share(examples: Sequence[Example], batches: Iterable[Sequence[int]]) -> float:
    """The share of positions, of sources and targets together, that are padding; 0 to 1."""
    lengths = _lengths(examples)
    real = padded = 0
    for batch in batches:
        rows = lengths[np.asarray(batch, dtype=np.int64)]
        real += int(rows.sum())
        padded += len(rows) * int(rows.max(axis=0, initial=0).sum())
    return 1 - real / padded if padded else 0.0
