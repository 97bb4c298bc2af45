"""What bottleneck.py trains: a study for each part, range of lengths and model."""

from collections.abc import Iterator, Sequence

from regard.data.pairs import Pair, Pairs, read_pairs
from regard.data.tokenizers import train_tokenizers
from regard.training.recipes import load_recipe
from runs import Job, Study
from string_studies import Sizes, Strings, ending, string_study
from strings import LETTERS, Task, by_length, copying, reversing, strings_up_to
from widths import widths_for

TRANSLATION = "translation"
STRINGS = (copying(LETTERS), reversing(LETTERS))
PARTS = (*(task.name for task in STRINGS), TRANSLATION)
MODELS = ("seq2seq", "rnnsearch", "luong-general", "luong-local-m")
#: Of a translation: word order differs, so attention bound to the step's own number is left out.
TRANSLATORS = ("seq2seq", "rnnsearch", "luong-general")
RANGES = (20, 100, 1000)
LENGTHS = (10, 20, 50, 100, 200, 500, 1000)
#: Most words of the sources in each bin; the rest are one more. And how many are joined to one.
BINS = (8, 11, 14, 19)
JOINED = (2, 4)
_TOKENS = 2002

STRING_SETTINGS = (
    f"batching={{tokens: {_TOKENS}, maximum_length: 1001}}",
    "training.learning_rate=0.005",
    "training.warmup=100",
)
TRANSLATION_SETTINGS = (
    "training.learning_rate=0.006",  # the same for all
    "training.patience=0",
    "training.average.kind=none",
    "training.validation_limit=200",
)


def studies(
    parts: Sequence[str],
    models: Sequence[str],
    ranges: Sequence[int],
    strings: Sizes,
    translation: Sizes,
    data: Sequence[str],
) -> Iterator[Study]:
    """All that were asked for, the cheapest first; data are made or read when they are needed."""
    for longest in ranges:
        for task in STRINGS:
            if task.name in parts:
                yield from _string_studies(task, longest, models, strings)
    if TRANSLATION in parts:
        yield from _translation_studies(models, translation, *data)


def _string_studies(
    task: Task, longest: int, models: Sequence[str], sizes: Sizes
) -> Iterator[Study]:
    """Every model on strings of one range; nothing is seen twice but short strings."""
    strings = Strings(
        task,
        longest,
        learned=strings_up_to(task, longest, _TOKENS * sizes.updates, seed=1),
        valid=strings_up_to(task, longest, 50 * longest // 5, seed=2),
        tests=by_length(task, LENGTHS, sizes.strings, seed=3),
    )
    for recipe in models:
        yield string_study(recipe, strings, STRING_SETTINGS, sizes)


def _translation_studies(
    models: Sequence[str], sizes: Sizes, train: str, valid: str, test: str, source: str, target: str
) -> Iterator[Study]:
    """Every model that translates, measured by the length of the source."""
    learned = read_pairs(train, source, target)
    selected = read_pairs(valid, source, target)
    tests = by_words(read_pairs(test, source, target))
    for recipe in (model for model in models if model in TRANSLATORS):
        settings = (*TRANSLATION_SETTINGS, *ending(sizes.updates))
        configuration = load_recipe(recipe, settings)
        tokenizers = train_tokenizers(configuration.tokenization, learned, seed=1)
        symbols = tokenizers.source.size, tokenizers.target.size
        widths = widths_for(recipe, settings, sizes.parameters, *symbols)
        yield Study(
            Job(f"{TRANSLATION}/{recipe}", recipe, (*settings, *widths)),
            learned,
            selected,
            tests,
            ("bleu", "chrf"),
            {"part": TRANSLATION, "longest": None},
        )


def by_words(pairs: Pairs) -> dict[str, Pairs]:
    """Pairs in bins by the words of their source, and neighbors joined into longer texts."""
    bins: dict[str, Pairs] = {}
    low = 1
    for high in (*BINS, None):
        name = f"{low}+" if high is None else f"{low}-{high}"
        inside = tuple(
            pair for pair in pairs if low <= len(pair.source.split()) <= (high or len(pair.source))
        )
        if inside:
            bins[name] = Pairs(inside, f"{pairs.origin}, {name} words")
        low = (high or 0) + 1
    for count in JOINED:
        bins[f"{count} joined"] = joined(pairs, count)
    return bins


def joined(pairs: Pairs, count: int) -> Pairs:
    """Each `count` pairs, one after the other, as one; what is left over at the end is not used."""
    groups = (pairs[start : start + count] for start in range(0, len(pairs) - count + 1, count))
    texts = tuple(
        Pair(" ".join(pair.source for pair in group), " ".join(pair.target for pair in group))
        for group in groups
    )
    return Pairs(texts, f"{pairs.origin}, {count} joined")
