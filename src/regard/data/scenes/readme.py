"""Readme: what lies in a directory of scenes."""

from regard.data.scenes.generator import count_descriptions
from regard.data.scenes.scene import COLORS, PICTURE_SIZE, SHAPES, SIZES

_TEXTS = """
# Scenes

{pairs:,} small pictures of colored shapes and what can be said of them, written by

    regard scenes --out DIRECTORY --pairs {pairs} --seed {seed}{option}

The same command writes the same bytes (pictures: with the same version of Pillow). Nothing here
comes from anywhere else; use it as you like.

- One to three things, alone or two or three equal ones in a row.
  Shapes: {shapes}.
  Colors: {colors}.
  Sizes: {sizes}.
- Every scene has exactly one description, which follows from what is where: the thing in the
  middle of the picture is what the others are left of, right of, above or below; with "between"
  the one in the middle is the subject, and the left or the upper neighbor comes first. An exact
  match of 100% can be reached, and every word that is not grammar is needed.
- No description comes twice, in a split or across splits. There are {descriptions:,}.

## Files

Lines are UTF-8 and end with a newline. Line i of each text and alignment file of a split belongs
to the same scene. `train` has nine tenths of the scenes, `valid` and `test` a twentieth each.

- `SPLIT.en`, `SPLIT.de`, `SPLIT.fr`: the descriptions, in ordinary writing: a capital first
  letter, commas and the final period attached to the word before them.
- `SPLIT.en-de.align`, `SPLIT.en-fr.align`: gold word alignments in Pharaoh format. `3-0` is a
  sure link between English word 3 and word 0 of the other language, `3p0` a possible one. Words
  are separated by spaces and counted from 0.
"""

_LINKS = """
## The links

They follow from the grammar, not from a program's guess. Sure: words that say the same thing of
the same thing (`star` and `Stern`, `a` and `ein`, `is` and `befindet`, `left` and `Links`, `of`
and `von`; French `du` is both `of` and `the`). Possible: words that only help (`sich` with `is`,
`to` and `the` of "to the left" with `Links`, `y` of "il y a"), and the two last words, which share
the final period.
"""

_PICTURES = """
- `images/SPLIT-NUMBER.png`: the picture of each scene, {size} by {size} pixels, RGB; NUMBER counts
  the lines of the split from 000001.
- `SPLIT.captions.csv`: CSV with the header `image,caption`; the caption is the English line. One
  caption an image, in the order of the split.
- `SPLIT.regions.jsonl`: one object for every noun of every caption: `image`; `word`, the index of
  the noun among the caption's words; `noun`, the shape; `phrase`, the index of the first word of
  its phrase ("a small blue star") and of the word after it; `box`, left, top, right and bottom in
  pixels (right and bottom are the first pixels outside), around all the shapes of a row;
  `center`, the middle of the box.
"""


def readme(pairs: int, seed: int, images: bool) -> str:
    """The text of README.md in Markdown."""
    files = _TEXTS.format(
        pairs=pairs,
        seed=seed,
        option="" if images else " --no-images",
        shapes=", ".join(SHAPES),
        sizes=", ".join(SIZES),
        colors=", ".join(COLORS),
        descriptions=count_descriptions(),
    )
    if images:
        files += _PICTURES.format(size=PICTURE_SIZE).lstrip("\n")
    return (files + _LINKS).lstrip("\n")
