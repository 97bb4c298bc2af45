"""How far to trust attention: whether what is attended to most is what matters most.

At each step of a model's own output, the positions of the source are ranked by attention, and by
what leaving them out does to that step (`regard.evaluation.leave_one_out`). The two rankings are
compared by Kendall's tau-b, averaged over steps (Jain and Wallace 2019, section 4.2), beside the
same for random weights: those of the step itself, shuffled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch

from regard.data.batches import Example, collate
from regard.data.tokenizers import Tokenizers
from regard.errors import UserError
from regard.evaluation.aligning import cut_evenly
from regard.evaluation.asking import read_given_pairs
from regard.evaluation.attention_choice import AttentionChoice, attentions, check_choice
from regard.evaluation.intervals import Interval, bootstrap_interval
from regard.evaluation.leave_one_out import How, LeftOut, each_token, leave_out
from regard.evaluation.rank_correlation import kendall_tau_b
from regard.evaluation.translation import BLANK, Translation
from regard.models import Model
from regard.search import Ensemble

#: Effects are told apart in steps of this size: smaller differences are those of rounding.
SMALLEST = 1e-5
_BATCH = 64


@dataclass(frozen=True)
class Estimate:
    """A mean over steps, with its bootstrap interval over sources if that was asked for."""

    value: float
    interval: Interval | None = None

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms."""
        interval = {} if self.interval is None else {"interval": asdict(self.interval)}
        return {"value": self.value, **interval}


@dataclass(frozen=True)
class Agreement:
    """How far weights agree with what leaving positions out does, on average over steps.

    correlation: Kendall's tau-b, -1 to 1, of the weights and of how far apart (total variation
        distance) the predictions with and without each position are.
    same: in percent, how often the position of most weight is the one of the largest distance.
    """

    correlation: Estimate
    same: Estimate

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms."""
        return {
            "kendall_tau_b": self.correlation.as_dict(),
            "most_attended_is_most_important": self.same.as_dict(),
        }


@dataclass(frozen=True)
class Trust:
    """Attention beside random weights, for each way of leaving positions out.

    sources, steps: how much was looked at. single: sources of one position, where there is nothing
        to rank. at_end: percent of attention that goes to the end symbol of the source, which is
        not ranked; None for pictures, which have none.
    """

    attention: dict[How, Agreement]
    random: dict[How, Agreement]
    sources: int
    steps: int
    single: int
    at_end: float | None

    def as_dict(self) -> dict[str, Any]:
        """In JSON's terms."""
        return {
            "sources": self.sources,
            "steps": self.steps,
            "single": self.single,
            "attention_at_end": self.at_end,
            **{
                how: {"attention": agreement.as_dict(), "random": self.random[how].as_dict()}
                for how, agreement in self.attention.items()
            },
        }


class _Ranked(NamedTuple):
    """A source: what its steps attended to, and what leaving positions out did to them.

    Both `[steps, positions]`, of the positions that are ranked.
    """

    weights: Any
    effects: Any


def measure_trust(
    model: Model | Ensemble,
    examples: Sequence[Example],
    *,
    choice: AttentionChoice | None = None,
    resamples: int = 0,
    seed: int = 1,
) -> Trust:
    """How far the attention that answers show agrees with what leaving positions out does.

    The end symbol of a text is not ranked, as no source is without it; what is written at each step
    is, the end symbol of the output too.

    Args:
        examples: sources and what the model wrote, END appended to both; or pictures, of which
            positions are hidden, and not removed.
        choice: which attention, its shift apart; None = what answers show.
        resamples: bootstrap resamples of the sources for intervals of 95 %; 0 = none.
        seed: of the random weights.

    Raises:
        UserError: the model has no attention, or not the chosen one; no source has two positions
            to rank.
    """
    attention = attention_to_sources(model, examples, choice)
    reads_texts = all(isinstance(example.source, tuple) for example in examples)
    parts = [
        each_token(example) if reads_texts else [(cell,) for cell in range(len(example.source))]
        for example in examples
    ]
    ranked = [index for index, each in enumerate(parts) if len(each) > 1]
    if not ranked:
        raise UserError("no source has two positions: there is nothing to rank attention by")
    hows: tuple[How, ...] = ("hidden", "removed") if reads_texts else ("hidden",)
    trusted: dict[How, Agreement] = {}
    random: dict[How, Agreement] = {}
    for how in hows:
        some = [examples[index] for index in ranked]
        left_out = leave_out(model, some, [parts[index] for index in ranked], how)
        rows = [
            _ranked(attention[index], len(parts[index]), found)
            for index, found in zip(ranked, left_out, strict=True)
        ]
        trusted[how] = _agreement(rows, resamples)
        shuffled = [_shuffled(each, number, seed) for number, each in enumerate(rows)]
        random[how] = _agreement(shuffled, resamples)
    return Trust(
        trusted,
        random,
        len(ranked),
        sum(len(examples[index].target) for index in ranked),
        len(examples) - len(ranked),
        _share_at_end([attention[index] for index in ranked]) if reads_texts else None,
    )


def trust_in_answers(
    model: Model | Ensemble,
    tokenizers: Tokenizers,
    texts: Sequence[str],
    answers: Sequence[Translation],
    *,
    features: Sequence[str] | None = None,
    resamples: int = 0,
) -> Trust:
    """The same of texts and what the model made of them, attention included; texts that have no
    answer are left out. Arguments and errors as `measure_trust`."""
    pairs = [
        ("" if answer.problem is not None else text, answer.tokens)
        for text, answer in zip(texts, answers, strict=True)
    ]
    given = read_given_pairs(model, tokenizers, pairs, features, [BLANK] * len(pairs))
    return measure_trust(model, list(given.examples.values()), resamples=resamples)


@torch.no_grad()
def attention_to_sources(
    model: Model | Ensemble, examples: Sequence[Example], choice: AttentionChoice | None = None
) -> list[Any]:
    """What each target attended to when its tokens were predicted: arrays `[steps, positions]`.

    Arguments and errors as `measure_trust`.
    """
    chosen = AttentionChoice() if choice is None else choice
    check_choice(model, chosen)
    found: dict[int, Any] = {}
    numbered = dict(enumerate(examples))
    for indices in cut_evenly(numbered, _BATCH, max(1, model.attention_heads)):
        batch = collate(examples, indices)
        ((_, attention),) = attentions(model, batch, [chosen])
        if attention is None:
            raise UserError("this model has no attention: there is nothing to trust or to doubt")
        for index, weights in zip(indices, attention.float().cpu().numpy(), strict=True):
            example = examples[index]
            found[index] = weights[: len(example.target), : len(example.source)]
    return [found[index] for index in range(len(examples))]


def _ranked(attention: Any, positions: int, found: LeftOut) -> _Ranked:
    effects = (found.distances.double() / SMALLEST).round().numpy()
    return _Ranked(attention[:, :positions], effects.T)


def _shuffled(ranked: _Ranked, number: int, seed: int) -> _Ranked:
    """The weights of each step in an order drawn at random, another one for each."""
    import numpy as np

    generator = np.random.default_rng((seed, number))
    return ranked._replace(weights=generator.permuted(ranked.weights, axis=1))


def _agreement(rows: Sequence[_Ranked], resamples: int) -> Agreement:
    return Agreement(
        _mean([kendall_tau_b(*each) for each in rows], resamples),
        _mean([100 * _same_peak(*each) for each in rows], resamples),
    )


def _same_peak(one: Any, other: Any) -> Any:
    """Of each row, whether both are highest at the same place; of equally high places a share, as
    if one of them was drawn for each of the two."""
    peaks = [each == each.max(1, keepdims=True) for each in (one, other)]
    return (peaks[0] & peaks[1]).sum(1) / (peaks[0].sum(1) * peaks[1].sum(1))


def _mean(by_source: Sequence[Any], resamples: int) -> Estimate:
    """Over all steps; sources are what is drawn again."""
    sums = [(float(each.sum()), float(len(each))) for each in by_source]
    interval = bootstrap_interval(sums, _ratio, resamples=resamples) if resamples else None
    total, count = (sum(column) for column in zip(*sums, strict=True))
    return Estimate(_ratio((total, count)), interval)


def _ratio(sums: Sequence[float]) -> float:
    total, count = sums
    return total / count if count else 0.0


def _share_at_end(attention: Sequence[Any]) -> float:
    """In percent, over all steps."""
    last = [each[:, -1] for each in attention]
    return float(100 * sum(each.sum() for each in last) / sum(map(len, last)))
