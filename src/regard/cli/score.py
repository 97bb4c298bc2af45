"""The score verb: how probable the model finds given targets."""

from typing import TYPE_CHECKING

from regard.cli.options import (
    AsJson,
    BatchSize,
    Data,
    LengthPenalty,
    Run,
    SourceSide,
    TargetSide,
    Threads,
)

if TYPE_CHECKING:
    from regard.api import Translation

#: Pairs scored before their lines are printed, in batches.
CHUNK = 16


def score(
    model: Run,
    data: Data,
    source: SourceSide = None,
    target: TargetSide = None,
    as_json: AsJson = False,
    length_penalty: LengthPenalty = None,
    batch_size: BatchSize = 64,
    threads: Threads = None,
) -> None:
    """Natural-log probability of the target of every pair, the end symbol included.

    Prints score, normalized score, source and target, with tabs between them. In JSONL a target
    may also be a list of tokens (key `tokens`), as `regard translate --json` prints them.
    """
    from regard.cli.given import read_given
    from regard.cli.reading import load_model
    from regard.cli.streams import write_lines

    pairs = read_given(data, source, target)
    loaded = load_model(model, threads)
    form = _json if as_json else _row
    for start in range(0, len(pairs), CHUNK * batch_size):
        chunk = pairs[start : start + CHUNK * batch_size]
        answers = loaded.score(
            chunk, length_penalty=length_penalty, batch_size=batch_size, attention=as_json
        )
        write_lines([form(pair[0], answer) for pair, answer in zip(chunk, answers, strict=True)])


def _row(source: str, answer: "Translation") -> str:
    texts = (source, answer.text)
    columns = (text.replace("\t", " ").replace("\n", " ") for text in texts)
    return "\t".join([f"{answer.score:.6f}", f"{answer.normalized_score:.6f}", *columns])


def _json(source: str, answer: "Translation") -> str:
    from regard.cli.answers import json_line, scored_fields

    return json_line(scored_fields(source, answer))
