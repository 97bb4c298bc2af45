"""The align verb: which words of given pairs belong together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli.options import (
    AsJson,
    BatchSize,
    Data,
    Features,
    LinkTokens,
    Run,
    SourceSide,
    Steps,
    TargetSide,
    Threads,
)
from regard.errors import UserError

if TYPE_CHECKING:
    from regard.cli.attention_options import AttentionOptions
    from regard.cli.streams import Writer
    from regard.data.pairs import Pair, Pairs
    from regard.evaluation.aligning import AlignedPair, Aligner
    from regard.evaluation.attention_choice import AttentionChoice

#: The longest chunk, in batches: pairs of one chunk are sorted by length before they are batched.
CHUNK = 16


def align(
    model: Run,
    data: Data,
    source: SourceSide = None,
    target: TargetSide = None,
    features: Features = None,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write here, once all is done; standard output if not."),
    ] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="L",
            help="Whose attention: a layer from 1, or `chosen`; a second one is for --reverse.",
        ),
    ] = None,
    head: Annotated[
        list[int] | None,
        typer.Option(metavar="H", help="Its head, from 1; the mean over all heads if not given."),
    ] = None,
    shift: Annotated[
        list[int] | None,
        typer.Option(
            metavar="N", help="1: that of the next step, which has read the token; 0 by default."
        ),
    ] = None,
    valid: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Pairs to choose the layer by; the data if not given."),
    ] = None,
    gold: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Their true links: choose layer, head and shift by them."
        ),
    ] = None,
    reverse: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="A model of the opposite direction, to symmetrize the links with."
        ),
    ] = None,
    symmetrize: Annotated[
        str | None,
        typer.Option(
            metavar="HOW",
            help="grow-diag-final-and (the default), grow-diag, intersection or union.",
        ),
    ] = None,
    tokens: LinkTokens = False,
    as_json: AsJson = False,
    steps: Steps = None,
    batch_size: BatchSize = 64,
    threads: Threads = None,
) -> None:
    """Align the words of given pairs by attention, in Pharaoh format: `0-0 1-2`.

    Line i of the output is for line i of the data: links of source and target words, from 0,
    where white space separates words. A pair with a blank side has an empty line.
    """
    from regard.cli.attention_options import AttentionOptions, choose
    from regard.cli.features import check_features
    from regard.cli.progress import counting
    from regard.cli.reading import counted, load_model, read_data
    from regard.cli.streams import line_writer

    options = AttentionOptions(layer or (), head or (), shift or (), reverse is not None)
    _check(options, valid, gold, reverse, symmetrize, tokens)
    pairs = read_data(data, source, target, features)
    checked = pairs if valid is None else read_data(valid, source, target, features)
    runs = [model] if reverse is None else [model, [reverse]]
    models = [load_model(run, threads, steps=steps) for run in runs]
    check_features(models[0], features is not None)
    unit: Any = "token" if tokens else "word"
    aligners = [each.aligner(None, unit, batch_size) for each in models]
    choices = choose(options, aligners, checked, gold)
    work = Work(aligners, choices, symmetrize or "grow-diag-final-and", as_json)
    progress = counting("aligning", len(pairs), printing=output is None)
    with line_writer(output) as write, progress as tell:
        bad = _align(work, pairs, write, tell)
    if bad:
        raise UserError(
            f"{counted(bad, 'pair')} could not be aligned and stayed empty; the others are aligned"
        )


def _check(
    options: "AttentionOptions",
    valid: str | None,
    gold: Path | None,
    reverse: Path | None,
    symmetrize: str | None,
    tokens: bool,
) -> None:
    """Raises UserError for options that do not go together."""
    from regard.evaluation.symmetrization import SYMMETRIZATIONS

    for name, given in (("valid", valid), ("gold", gold)):
        if given is not None and not options.any_is_chosen:
            raise UserError(f"--{name} is for --layer chosen: give it as well")
    if gold is not None and valid is None:
        raise UserError(f"--gold {gold} holds the links of which pairs? give --valid DATA as well")
    if symmetrize is not None and reverse is None:
        raise UserError("--symmetrize needs a model of the opposite direction: give --reverse RUN")
    if symmetrize is not None and symmetrize not in SYMMETRIZATIONS:
        near = get_close_matches(symmetrize, SYMMETRIZATIONS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(SYMMETRIZATIONS)}"
        raise UserError(f"--symmetrize {symmetrize} is not known: {hint}")
    if tokens and reverse is not None:
        raise UserError("--tokens: two models need not have the same tokens; leave --reverse out")


@dataclass(frozen=True)
class Work:
    """Who aligns, one direction or two, by which attention, and what is made of it."""

    aligners: "Sequence[Aligner]"
    choices: "Sequence[AttentionChoice]"
    method: str
    as_json: bool

    def align(self, pairs: "Sequence[Pair]") -> "list[AlignedPair]":
        """Align some pairs."""
        from regard.evaluation.aligning import align_both_ways, align_texts

        texts = [(pair.source, pair.target) for pair in pairs]
        features = [pair.features for pair in pairs]
        forward = replace(self.aligners[0], features=features if any(features) else None)
        if len(self.aligners) == 1:
            return align_texts(forward, texts, self.choices[0], need_attention=self.as_json)
        return align_both_ways(
            forward,
            self.aligners[1],
            texts,
            (self.choices[0], self.choices[1]),
            method=self.method,
            need_attention=self.as_json,
        )

    def line(self, pair: "Pair", aligned: "AlignedPair") -> str:
        """A pair's line: links in Pharaoh format, or an object."""
        from regard.cli.answers import asked, json_line
        from regard.evaluation import format_links

        if not self.as_json:
            return format_links(aligned.alignment)
        fields = asked(pair.source, pair.features or None) | {
            "text": pair.target,
            "alignment": aligned.alignment,
            "source_tokens": aligned.source_tokens,
            "tokens": aligned.tokens,
            "attention": [[round(weight, 6) for weight in row] for row in aligned.attention],
            "unseen": aligned.unseen,
            "unseen_target": aligned.unseen_target,
        }
        if len(self.aligners) == 2:
            fields |= {"forward": aligned.forward, "reverse": aligned.reverse}
        if aligned.problem is not None:
            fields["error"] = aligned.problem
        return json_line(fields)

    def blank(self) -> str:
        """The line of a pair with a blank side."""
        from regard.data.pairs import Pair
        from regard.evaluation.aligning import AlignedPair

        return self.line(Pair("", ""), AlignedPair())


def _align(work: Work, pairs: "Pairs", write: "Writer", tell: Callable[[int], None]) -> int:
    """Write a line for every line of the data, chunk after chunk; how many pairs could not be."""
    from regard.cli.lines import chunks
    from regard.cli.streams import report
    from regard.cli.unseen import UnseenSymbols

    bad, line, unseen = 0, 0, UnseenSymbols()
    batch = work.aligners[0].batch_size
    for numbers in chunks(range(len(pairs)), batch, CHUNK * batch):
        chunk = [pairs[number] for number in numbers]
        lines: list[str] = []
        for number, pair, aligned in zip(numbers, chunk, work.align(chunk), strict=True):
            lines += [work.blank()] * (pairs.lines[number] - line - 1)
            line = pairs.lines[number]
            lines.append(work.line(pair, aligned))
            if aligned.problem is not None:
                report(f"regard: {pairs.origin}, {pairs.place(number)}: {aligned.problem}")
                bad += 1
            unseen.tell(aligned, pairs.place(number))
        write(lines)
        tell(numbers[-1] + 1)
    write([work.blank()] * (len(pairs) + pairs.blank - line))
    unseen.close()
    return bad
