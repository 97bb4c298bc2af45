"""The score verb: how probable the model finds given targets."""

from typing import TYPE_CHECKING

from regard.cli.options import (
    AsJson,
    BatchSize,
    Data,
    Features,
    LengthPenalty,
    Run,
    SourceSide,
    Steps,
    TargetSide,
    Threads,
)
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.api import Translation
    from regard.cli.given import Given

#: Pairs scored before their lines are printed, in batches.
CHUNK = 16


def score(
    model: Run,
    data: Data,
    source: SourceSide = None,
    target: TargetSide = None,
    features: Features = None,
    as_json: AsJson = False,
    length_penalty: LengthPenalty = None,
    steps: Steps = None,
    batch_size: BatchSize = 64,
    threads: Threads = None,
) -> None:
    """Natural-log probability of the target of every pair, the end symbol included.

    Prints score, normalized score, source, its features if any, and target, with tabs between
    them. In JSONL a target may also be a list of tokens (key `tokens`), as `regard translate
    --json` prints them.
    """
    from regard.cli.features import check_features
    from regard.cli.given import read_given
    from regard.cli.reading import counted, load_model
    from regard.cli.streams import report, write_lines
    from regard.cli.unseen import UnseenSymbols

    pairs = read_given(data, source, target, features)
    loaded = load_model(model, threads, steps=steps)
    check_features(loaded, features is not None)
    form = _json if as_json else _row
    bad, unseen = 0, UnseenSymbols()
    for start in range(0, len(pairs), CHUNK * batch_size):
        chunk = pairs[start : start + CHUNK * batch_size]
        answers = loaded.score(
            [(pair.source, pair.target) for pair in chunk],
            features=None if features is None else [pair.features or "" for pair in chunk],
            length_penalty=length_penalty,
            batch_size=batch_size,
            attention=as_json,
        )
        write_lines([form(pair, answer) for pair, answer in zip(chunk, answers, strict=True)])
        for pair, answer in zip(chunk, answers, strict=True):
            if answer.problem is not None:
                report(f"regard: line {pair.line}: {answer.problem}")
                bad += 1
            unseen.tell(answer, f"line {pair.line}")
    unseen.close()
    if bad:
        raise UserError(f"{counted(bad, 'pair')} could not be scored; the others are")


def _row(pair: "Given", answer: "Translation") -> str:
    target = answer.text if answer.problem is None else _text(pair.target)
    texts = [text for text in (pair.source, pair.features, target) if text is not None]
    columns = (text.replace("\t", " ").replace("\n", " ") for text in texts)
    scores = (answer.score, answer.normalized_score)
    return "\t".join([*("" if score is None else f"{score:.6f}" for score in scores), *columns])


def _text(target: str | list[str]) -> str:
    return target if isinstance(target, str) else " ".join(target)


def _json(pair: "Given", answer: "Translation") -> str:
    from regard.cli.answers import json_line, scored_fields

    fields = scored_fields(pair.source, answer, pair.features)
    if answer.problem is not None:
        fields |= {"text": _text(pair.target), "error": answer.problem}
    return json_line(fields)
