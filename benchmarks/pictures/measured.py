"""Pictures of what the two commands measure: dot_scaling.py and log_probabilities.py."""

import math

import torch

from form_tagger import FormTagger, Way, train_tagger
from pictures.charts import SECOND, chart, label_cells, shade
from regard.attention import dot_scores, masked_softmax
from regard.views.palette import ACCENT, MUTED
from score_spread import even_gradient, measure_spread
from sequence_precision import draw_probabilities
from word_forms import Task, make_task

_SIZES = tuple(2**power for power in range(4, 11))
_QUERIES, _POSITIONS = 1024, 32
_LENGTH, _PERPLEXITY = 200, 5.0


def scaling() -> str:
    """Spread, entropy and gradient over sizes, of dot and scaled dot product."""
    with chart(3, width=9.0, height=2.8) as made:
        for scaled, name, color in ((False, "dot", SECOND), (True, "scaled dot", ACCENT)):
            found = [measure_spread(size, scaled, _QUERIES, _POSITIONS, 1) for size in _SIZES]
            for axes, kind in zip(made.axes, ("deviation", "entropy", "gradient"), strict=True):
                values = [getattr(spread, kind) for spread in found]
                axes.plot(_SIZES, values, "o-", color=color, markersize=3.5, label=name)
        even = (None, math.log(_POSITIONS), even_gradient(_POSITIONS, _QUERIES, 1))
        titles = ("deviation of the scores", "entropy of the weights, nats", "norm of the gradient")
        for axes, title, level in zip(made.axes, titles, even, strict=True):
            if level is not None:
                axes.axhline(level, color=MUTED, linewidth=0.8, linestyle=":")
            axes.set_xscale("log", base=2)
            axes.set_xticks(_SIZES[::2], [str(size) for size in _SIZES[::2]])
            axes.set_xlabel("size of queries and keys")
            axes.set_title(title)
            axes.set_ylim(bottom=0)
        made.axes[0].legend()
    return made.svg


def scaled_dot_product() -> str:
    """The same 12 scores at growing size: weights of one query, largest first."""
    with chart(2, width=8.0, height=2.6, sharey=True) as made:
        for scaled, axes in zip((False, True), made.axes, strict=True):
            rows = []
            for size in _SIZES:
                generator = torch.Generator().manual_seed(size)
                query = torch.randn(256, 1, 1, size, generator=generator)
                key = torch.randn(256, 1, 12, size, generator=generator)
                weights = masked_softmax(dot_scores(query, key, size**-0.5 if scaled else 1.0))
                rows.append(weights[:, 0, 0].sort(descending=True).values.mean(0).tolist())
            shade(axes, rows, aspect="auto")
            label_cells(axes, [], [str(size) for size in _SIZES])
            for row, values in enumerate(rows):
                for column, value in enumerate(values):
                    if value >= 0.05:
                        look = "white" if value > 0.5 else "black"
                        axes.text(
                            column,
                            row,
                            f"{value:.2f}"[1:] if value < 0.995 else "1",
                            ha="center",
                            va="center",
                            fontsize=7,
                            color=look,
                        )
            axes.set_title("scaled by 1 / sqrt(size)" if scaled else "dot product")
            axes.set_xlabel("positions, the one with the largest weight first")
        made.axes[0].set_ylabel("size")
    return made.svg


def attention_layer() -> str:
    """Self-attention of the trained tagger, without a key projection and with one."""
    task = make_task(2000, 500, seed=1)
    ways = (Way("scaled_dot"), Way("scaled_dot", ("key", "value")))
    with chart(2, width=8.5, height=4.0) as made:
        for way, axes in zip(ways, made.axes, strict=True):
            tagger = train_tagger(task, way, 32, 400, 1)
            words, rows = _attended(task, tagger)
            shade(axes, rows)
            label_cells(axes, words, words)
            projected = (
                " and ".join(way.project) + " projected" if way.project else "nothing projected"
            )
            axes.set_title(projected, pad=10)
    return made.svg


@torch.no_grad()
def _attended(task: Task, tagger: FormTagger) -> tuple[list[str], list[list[float]]]:
    """The words of a sentence of 13 words, and what each attends to."""
    row = int((task.test.mask.sum(1) == 13).nonzero()[0, 0])
    words, mask = task.test.words[row : row + 1, :13], task.test.mask[row : row + 1, :13]
    _, weights = tagger(words, mask)
    return [task.vocabulary[number - 1] for number in words[0].tolist()], weights[0].tolist()


def log_probabilities() -> str:
    """One sequence, its probability in float32 as a product, and what the sum of logs says."""
    probabilities = draw_probabilities(1, _LENGTH, _PERPLEXITY, 1)[0]
    product = torch.cumprod(probabilities, 0).double()
    total = probabilities.log().cumsum(0).double() / math.log(10)
    steps = range(1, _LENGTH + 1)
    alive = int((product > 0).sum())
    with chart(width=7.0, height=3.2) as made:
        (axes,) = made.axes
        axes.plot(steps, total.tolist(), color=ACCENT, label="sum of logarithms")
        shown = product[:alive].log10().tolist()
        axes.plot(steps[:alive], shown, color=SECOND, linewidth=4, alpha=0.55, label="product")
        axes.plot(steps[alive], shown[-1], "x", color=SECOND, markersize=9, markeredgewidth=2)
        axes.annotate(
            f"the product is 0 from step {alive + 1} on",
            (alive + 1, shown[-1]),
            xytext=(9, -3),
            textcoords="offset points",
        )
        tiny = math.log10(torch.finfo(torch.float32).tiny)
        axes.axhline(tiny, color=MUTED, linewidth=0.8, linestyle=":")
        axes.annotate(
            "smallest normal float32",
            (_LENGTH, tiny),
            xytext=(0, 4),
            textcoords="offset points",
            ha="right",
            color=MUTED,
        )
        axes.set_xlabel("steps")
        axes.set_ylabel("log10 of the probability")
        axes.legend(loc="lower left")
    return made.svg
