"""Views that the tests of this folder draw."""

from dataclasses import replace

import numpy as np
from PIL import Image

from regard.evaluation.attention_stack import AttentionStack
from regard.views import AttentionView, keep_image

SMALL = AttentionView(
    source="a dog",
    text="ein Hund",
    source_tokens=("a", "dog", "</s>"),
    tokens=("ein", "Hund", "</s>"),
    attention=((0.9, 0.1, 0.0), (0.2, 0.7, 0.1), (0.0, 0.25, 0.75)),
    score=-1.25,
    alignment=((0, 0), (1, 1)),
    title="A small one",
    probabilities=(0.5, 0.25, 1.0),
)
PONDERED = replace(
    SMALL,
    source_steps=(2, 1, 4),
    source_ponder=(2.5, 2.0, 4.25),
    steps=(3, 8, 1),
    ponder=(3.125, 8.5, 1.75),
)
RIGHT_TO_LEFT = AttentionView(
    source="שלום עולם",
    text="مرحبا بالعالم",
    source_tokens=("שלום", "עולם"),
    tokens=("مرحبا", "بالعالم", "</s>"),
    attention=((1.0, 0.0), (0.25, 0.75), (0.5, 0.5)),
)
HOSTILE = AttentionView(
    source="<script>alert(1)</script> & \"q\" 'r'",
    text="</script><img src=x onerror=alert(2)>\u2028\u202e",
    source_tokens=("<script>", "&amp;", '"q"', "'r'", "\x00", "]]>", "\ud800"),
    tokens=("</script>", "<!--", "$x^2$", " ", "\u202e", "</s>"),
    attention=tuple((1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0) for _ in range(6)),
    title="<b>bold</b> & \x1b[31m\ud800",
)


def square(size: int) -> AttentionView:
    """A diagonal of `size` tokens on each side."""
    rows = [[float(i == j) for i in range(size)] for j in range(size)]
    sources, tokens = [f"w{i}" for i in range(size)], [f"v{i}" for i in range(size)]
    return AttentionView(" ".join(sources), " ".join(tokens), sources, tokens, rows)


def deep(
    rows: int, columns: int, layers: int = 2, heads: int = 3, **changes: object
) -> AttentionView:
    """Random weights of every kind; tokens two to a word, and an end symbol on each side.

    The attention shown is the mean over heads of the last layer.
    """
    random = np.random.default_rng(7)

    def stack(kind: str, height: int, width: int) -> AttentionStack:
        scores = 3 * random.standard_normal((layers, heads, height, width))
        if kind == "decoder":
            scores[..., np.triu_indices(height, 1)[0], np.triu_indices(height, 1)[1]] = -np.inf
        weights = np.exp(scores)
        weights /= weights.sum(-1, keepdims=True)
        return AttentionStack(kind, weights.astype(np.float32))

    stacks = (
        stack("cross", rows, columns),
        stack("encoder", columns, columns),
        stack("decoder", rows, rows),
    )
    sources = [f"s{i}" for i in range(columns - 1)]
    tokens = [f"t{i}" for i in range(rows - 1)]
    others = [((f"o{i}", 0.25), ("<b>", 0.125), ("c", 0.0625)) for i in range(rows)]
    view = AttentionView(
        source=" ".join(map("".join, pairs(sources))),
        text=" ".join(map("".join, pairs(tokens))),
        source_tokens=(*sources, "</s>"),
        tokens=(*tokens, "</s>"),
        attention=stacks[0].weights[-1].mean(0),
        score=-1.5,
        probabilities=[0.5] * rows,
        shown=f"layer {layers}, mean over heads",
        stacks=stacks,
        source_words=(*(i // 2 for i in range(columns - 1)), -1),
        words=(*(i // 2 for i in range(rows - 1)), -1),
        next_best=others,
    )
    return replace(view, **changes)


def pairs(tokens: list[str]) -> list[list[str]]:
    """Two by two."""
    return [tokens[i : i + 2] for i in range(0, len(tokens), 2)]


def captioned(layers: int = 0, **changes: object) -> AttentionView:
    """A drawing of 120 by 60 pixels under 2 rows of 3 cells, and random weights of each token.

    layers: of a Transformer's stacks; 0 = none.
    """
    random = np.random.default_rng(3)

    def stack(kind: str, height: int, width: int) -> AttentionStack:
        weights = random.dirichlet(np.full(width, 0.5), (layers, 2, height)).astype(np.float32)
        return AttentionStack(kind, weights)

    image = Image.new("RGB", (120, 60), (212, 220, 228))
    image.paste((220, 38, 44), (45, 5, 75, 25))
    seen = keep_image(image, (0, 0, 120, 60), 2, 3)
    shapes = {"cross": (4, 6), "encoder": (6, 6), "decoder": (4, 4)}
    stacks = tuple(stack(kind, *shape) for kind, shape in shapes.items()) if layers else ()
    shown = stacks[0].weights[-1].mean(0) if layers else random.dirichlet(np.ones(6), 4)
    view = AttentionView(
        source="folder/a <b>.png",
        text="a red square",
        source_tokens=seen.cell_names(),
        tokens=("a", "red", "square", "</s>"),
        attention=shown,
        score=-1.5,
        probabilities=(1.0, 0.5, 0.25, 0.75),
        shown="its one head",
        words=(0, 1, 2, -1),
        next_best=[(("x", 0.25), ("<i>", 0.125))] * 4,
        stacks=stacks,
        image=seen,
    )
    return replace(view, **changes)
