"""Draw the pictures of docs/mechanisms: trained for the purpose, or computed, by regard itself.

    python benchmarks/draw_mechanisms.py              all of them, a few minutes
    python benchmarks/draw_mechanisms.py positions    one

Everything is seeded; the same machine draws the same files.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch

from pictures import (
    alignments,
    bottleneck,
    copying,
    drawing_lots,
    grid,
    hard_alignments,
    measured,
    places,
    pondering,
)
from regard.files import write_text

PICTURES: dict[str, Callable[[], str]] = {
    "additive": alignments.additive,
    "attention-layer": measured.attention_layer,
    "copying": copying.copying,
    "coverage-and-supervision": alignments.coverage_and_supervision,
    "exact-hard-attention": hard_alignments.exact_hard_attention,
    "hard-attention": drawing_lots.hard_attention,
    "location-and-local": alignments.location_and_local,
    "log-probabilities": measured.log_probabilities,
    "luong-scores": alignments.luong_scores,
    "masks-and-memories": places.masks,
    "multi-head": alignments.multi_head,
    "positions": places.positions,
    "recurrent": bottleneck.recurrent_models,
    "relative-positions": places.relative_positions,
    "scaled-dot-product": measured.scaled_dot_product,
    "scaling": measured.scaling,
    "sparse-attention": alignments.sparse_attention,
    "transformer": alignments.transformer_layer,
    "universal-transformer": pondering.universal_transformer,
    "universal-transformer-steps": pondering.steps_of_tokens,
    "visual-attention": grid.visual_attention,
}
DIRECTORY = Path(__file__).parents[1] / "docs" / "images" / "mechanisms"


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw and write; 2 after one line when there is no picture of that name."""
    parser = argparse.ArgumentParser(description="Draw the pictures of docs/mechanisms.")
    parser.add_argument("names", nargs="*", help="which (default: all)")
    parser.add_argument("--out", type=Path, default=DIRECTORY, help="where to (default: the docs)")
    options = parser.parse_args(arguments)
    for name in options.names:
        if name not in PICTURES:
            print(f"error: {name} is none of {', '.join(PICTURES)}", file=sys.stderr)
            return 2
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.names or PICTURES:
        path = options.out / f"{name}.svg"
        write_text(path, PICTURES[name]())
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
