"""Views that the tests of this folder draw."""

from dataclasses import replace

from regard.views import AttentionView

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
