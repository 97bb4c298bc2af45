"""Reading: captions from any of their formats, with the images they belong to."""

from __future__ import annotations

from pathlib import Path

from regard.data.captions.data import CaptionData


def read_captions(
    data: str | Path,
    images: Path | None,
    split: str | None = None,
    *,
    skip_missing: bool = False,
) -> CaptionData:
    """Read captions and find the images they belong to, strictly.

    data: a captions file (CSV with `image,caption`, Flickr8k's token file, COCO's captions JSON,
        Karpathy's JSON, `metadata.jsonl`) or a folder of images with a `.txt` beside each; see
        docs/formats.md.
    images: the folder that the images' names are relative to; None = the folder `images` beside
        the captions file where there is one, else the folder of the file itself.
    split: `train`, `valid` or `test` where the file carries them, or a file that lists the names
        of the images, one a line; None = all.
    skip_missing: leave out images that are not there and name them in `CaptionData.missing`.

    Raises UserError with file and line or key for everything malformed, for images that are not
    there, and when nothing is left.
    """
    raise NotImplementedError
