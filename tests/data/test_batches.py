import random
import time
from collections.abc import Sequence

import pytest
import torch

from regard.data.batches import (
    Example,
    bucket,
    collate,
    collate_sources,
    encode_pairs,
    fit,
    padding_share,
    split,
)
from regard.data.configuration import (
    BatchingConfiguration,
    TokenizationConfiguration,
    TokenizerConfiguration,
)
from regard.data.pairs import Pair, Pairs
from regard.data.special import END, PAD, START
from regard.data.tokenizers import Tokenizers, seed_sampling, train_tokenizers
from regard.errors import UserError

SENTENCES = ("A dog runs across the green grass.", "Ein Hund läuft über das grüne Gras.")
PAIRS = Pairs(tuple(Pair(SENTENCES[i % 2][i:], SENTENCES[1 - i % 2]) for i in range(10)), "test")


def tokenizers(kind: str = "character", sampling: float = 0.0) -> Tokenizers:
    one = TokenizerConfiguration.model_validate({"kind": kind, "size": 60, "sampling": sampling})
    return train_tokenizers(TokenizationConfiguration(source=one, target=one), PAIRS, seed=1)


def example(source: int, target: int) -> Example:
    """An example of given lengths, END included."""
    return Example((*range(10, 9 + source), END), (*range(20, 19 + target), END))


def corpus(count: int, seed: int = 0) -> list[Example]:
    """Lengths like those of short sentences and their translations."""
    generator = random.Random(seed)
    examples = []
    for _ in range(count):
        source = max(2, round(generator.lognormvariate(2.65, 0.4)))
        examples.append(example(source, max(2, round(source * generator.gauss(1.05, 0.2)))))
    return examples


def configured(**values: int) -> BatchingConfiguration:
    return BatchingConfiguration(**values)


def longest(examples: Sequence[Example], batch: Sequence[int]) -> int:
    return max(max(len(examples[i].source), len(examples[i].target)) for i in batch)


class TestEncode:
    def test_both_sides_end(self) -> None:
        both = tokenizers()
        examples = encode_pairs(PAIRS, both)
        assert len(examples) == len(PAIRS)
        for pair, encoded in zip(PAIRS, examples, strict=True):
            assert encoded.source == (*both.source.encode(pair.source), END)
            assert encoded.target == (*both.target.encode(pair.target), END)

    def test_sampling_follows_the_seed(self) -> None:
        both = tokenizers("subword", sampling=0.2)
        plain = encode_pairs(PAIRS, both)
        first = encode_pairs(PAIRS, both, sample=True, seed=3)
        assert encode_pairs(PAIRS, both, sample=True, seed=3) == first
        assert encode_pairs(PAIRS, both, sample=True, seed=4) != first
        assert first != plain == encode_pairs(PAIRS, both)
        for pair, sampled in zip(PAIRS, first, strict=True):
            assert both.target.decode(sampled.target) == pair.target

    def test_sampling_follows_the_callers_seed(self) -> None:
        both = tokenizers("subword", sampling=0.2)
        seed_sampling(5)
        first, second = (encode_pairs(PAIRS, both, sample=True) for _ in range(2))
        seed_sampling(5)
        assert encode_pairs(PAIRS, both, sample=True) == first != second

    def test_what_sampling_makes_too_long_is_taken_unsampled(self) -> None:
        both = tokenizers("subword", sampling=0.2)
        plain = encode_pairs(PAIRS, both)
        limit = longest(plain, range(len(plain)))
        free = encode_pairs(PAIRS, both, sample=True, seed=3)
        held = encode_pairs(PAIRS, both, sample=True, seed=3, limit=limit)
        assert longest(free, range(len(free))) > limit
        for index in range(len(PAIRS)):
            too_long = longest(free, [index]) > limit
            assert held[index] == (plain if too_long else free)[index]

    def test_nothing(self) -> None:
        both = tokenizers("subword", sampling=0.2)
        assert encode_pairs([], both) == []
        assert encode_pairs([], both, sample=True, seed=1, limit=5) == []


class TestFit:
    examples = [example(3, 3), example(6, 2), example(2, 7), example(5, 5)]  # noqa: RUF012
    pairs = Pairs(tuple(Pair(str(i), str(i)) for i in range(4)), "file", 2)

    @pytest.mark.parametrize("configuration", [configured(maximum_length=5), configured(tokens=5)])
    def test_long_pairs_are_left_out_and_counted(
        self, configuration: BatchingConfiguration
    ) -> None:
        fitting = fit(self.pairs, self.examples, configuration)
        assert fitting.examples == [self.examples[0], self.examples[3]]
        assert fitting.pairs == Pairs((self.pairs[0], self.pairs[3]), "file", 2)
        assert fitting.left_out == 2

    def test_none_is_left_out(self) -> None:
        fitting = fit(self.pairs, self.examples, configured(maximum_length=7))
        assert (fitting.pairs, fitting.examples) == (self.pairs, self.examples)
        assert fitting.left_out == 0

    @pytest.mark.parametrize(
        ("values", "key"), [({"maximum_length": 2}, "maximum_length"), ({"tokens": 2}, "tokens")]
    )
    def test_all_too_long_names_the_longest_and_the_key(
        self, values: dict[str, int], key: str
    ) -> None:
        with pytest.raises(UserError, match=rf"^file: .*the longest 7; raise batching\.{key} "):
            fit(self.pairs, self.examples, configured(**values))


class TestBucket:
    examples = corpus(3000)

    @pytest.mark.parametrize("pool", [0, 64, 500, 10_000])
    def test_every_example_once_in_every_epoch(self, pool: int) -> None:
        for epoch in range(3):
            batches = bucket(self.examples, configured(pool=pool, tokens=512), 1, epoch)
            assert sorted(index for batch in batches for index in batch) == list(range(3000))

    @pytest.mark.parametrize("tokens", [64, 512, 4096])
    def test_no_batch_is_larger_than_asked(self, tokens: int) -> None:
        batches = bucket(self.examples, configured(tokens=tokens), 1, 1)
        for batch in batches:
            assert len(batch) * longest(self.examples, batch) <= tokens
        assert sum(map(len, batches)) / len(batches) > 0.6 * tokens / 18

    def test_an_example_longer_than_a_batch_is_alone(self) -> None:
        examples = [*corpus(20), example(100, 3)]
        batches = bucket(examples, configured(tokens=50), 1, 1)
        assert [20] in batches
        assert sorted(index for batch in batches for index in batch) == list(range(21))

    def test_seed_and_epoch_decide(self) -> None:
        def batches(seed: int, epoch: int) -> list[list[int]]:
            return bucket(self.examples, configured(), seed, epoch)

        assert batches(1, 2) == batches(1, 2)
        assert len({str(batches(seed, epoch)) for seed in (-1, 0, 1) for epoch in range(3)}) == 9

    def test_batches_differ_between_epochs_not_only_in_order(self) -> None:
        sets = [
            {frozenset(batch) for batch in bucket(self.examples, configured(tokens=1024), 1, epoch)}
            for epoch in range(2)
        ]
        assert len(sets[0] & sets[1]) < len(sets[0]) / 10

    def test_order_does_not_follow_length(self) -> None:
        batches = bucket(self.examples, configured(tokens=512), 1, 1)
        lengths = torch.tensor([longest(self.examples, batch) for batch in batches]).float()
        steps = torch.arange(len(lengths)).float()
        assert abs(torch.corrcoef(torch.stack([lengths, steps]))[0, 1]) < 0.3

    def test_little_padding(self) -> None:
        examples = corpus(29_000)
        for epoch in range(2):
            batches = bucket(examples, configured(tokens=4096), 1, epoch)
            assert padding_share(examples, batches) < 0.06
        shuffled = random.Random(0).sample(range(29_000), 29_000)
        unsorted = [shuffled[start : start + 200] for start in range(0, 29_000, 200)]
        assert padding_share(examples, unsorted) > 0.4

    def test_fast(self) -> None:
        examples = corpus(29_000)
        start = time.process_time()
        bucket(examples, configured(), 1, 1)
        assert time.process_time() - start < 0.3

    def test_nothing(self) -> None:
        assert bucket([], configured(), 1, 1) == []
        assert bucket([example(3, 3)], configured(), 1, 1) == [[0]]


class TestCollate:
    examples = [example(3, 2), example(2, 4), example(5, 3)]  # noqa: RUF012

    def test_a_batch(self) -> None:
        batch = collate(self.examples, [2, 0])
        assert batch.indices == [2, 0]
        assert batch.source.tolist() == [[10, 11, 12, 13, END], [10, 11, END, PAD, PAD]]
        assert batch.source_mask.tolist() == [[True] * 5, [True] * 3 + [False] * 2]
        assert batch.inputs.tolist() == [[START, 20, 21], [START, 20, PAD]]
        assert batch.outputs.tolist() == [[20, 21, END], [20, END, PAD]]
        assert batch.mask.tolist() == [[True] * 3, [True, True, False]]
        assert batch.source.dtype == batch.inputs.dtype == batch.outputs.dtype == torch.int64

    def test_rows_do_not_depend_on_each_other(self) -> None:
        together = collate(self.examples, [0, 1, 2])
        for row, one in enumerate(self.examples):
            alone = collate(self.examples, [row])
            assert alone.source[0].tolist() == list(one.source)
            for name in ("source", "inputs", "outputs"):
                mask = together.source_mask if name == "source" else together.mask
                assert torch.equal(getattr(together, name)[row][mask[row]], getattr(alone, name)[0])

    def test_an_empty_target_is_its_end(self) -> None:
        batch = collate([Example((END,), (END,)), example(2, 3)], [0, 1])
        assert batch.inputs.tolist()[0] == [START, PAD, PAD]
        assert batch.outputs.tolist()[0] == [END, PAD, PAD]

    def test_sources_alone_are_taken_as_they_are(self) -> None:
        source, mask = collate_sources([[5, 6, END], [], (7, END)])
        assert source.tolist() == [[5, 6, END], [PAD] * 3, [7, END, PAD]]
        assert mask.sum(dim=1).tolist() == [3, 0, 2]
        source, mask = collate_sources([[]])
        assert (source.tolist(), mask.tolist()) == ([[PAD]], [[False]])
        assert collate_sources([])[0].shape == (0, 1)


def test_padding_share_counts_both_sides() -> None:
    examples = [example(4, 2), example(2, 2), example(3, 6)]
    assert padding_share(examples, [[0], [1], [2]]) == 0
    assert padding_share(examples, [[0, 1]]) == pytest.approx(2 / 12)
    assert padding_share(examples, [[0, 1], [2]]) == pytest.approx(2 / 21)
    assert padding_share(examples, []) == 0


class TestSplit:
    def test_every_row_once_with_no_more_padding_than_it_needs(self) -> None:
        examples = corpus(23)
        whole = collate(examples, list(range(23))[::-1])
        for count in (1, 2, 3, 7, 23):
            parts = split(whole, count)
            assert len(parts) == count
            assert [index for part in parts for index in part.indices] == whole.indices
            for part in parts:
                alone = collate(examples, part.indices)
                for name in ("source", "source_mask", "inputs", "outputs", "mask"):
                    assert torch.equal(getattr(part, name), getattr(alone, name))

    def test_parts_are_of_like_size(self) -> None:
        examples = sorted(corpus(200), key=lambda one: len(one.source) + len(one.target))
        for count in (2, 3, 8):
            parts = split(collate(examples, range(200)), count)
            sizes = [int(part.source_mask.sum() + part.mask.sum()) for part in parts]
            assert max(sizes) - min(sizes) < 2 * (len(examples[-1].source) + 60)

    def test_never_more_parts_than_rows(self) -> None:
        examples = [example(90, 90), example(2, 2), example(2, 2)]
        assert [part.indices for part in split(collate(examples, [0, 1, 2]), 9)] == [[0], [1], [2]]
        assert [part.indices for part in split(collate(examples, [0, 1, 2]), 2)] == [[0], [1, 2]]
        assert [part.indices for part in split(collate(examples, [1, 2, 0]), 2)] == [[1, 2], [0]]
