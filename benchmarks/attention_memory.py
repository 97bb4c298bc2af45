"""How much memory one training step of additive attention takes, in a process of its own.

    python benchmarks/attention_memory.py regard|plain BATCH QUERIES POSITIONS SIZE

Prints the bytes that the process had at its peak above those before the step.
"""

import subprocess
import sys
from pathlib import Path

import torch

from attention_cases import naive_scores
from regard.attention import Attention

FORMS = ("regard", "plain")


def measure(form: str, batch: int, queries: int, positions: int, size: int) -> int | None:
    """Run this file; None where the system does not tell a process's peak."""
    numbers = [str(number) for number in (batch, queries, positions, size)]
    command = [sys.executable, str(Path(__file__)), form, *numbers]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return int(done.stdout) if done.stdout.strip() else None


def train_step(form: str, batch: int, queries: int, positions: int, size: int) -> None:
    """Projections, scores, softmax, weighted sum, forward and backward."""
    attention = Attention(size, score="additive")
    query, keys = torch.randn(batch, queries, size), torch.randn(batch, positions, size)
    if form == "regard":
        context = attention(query, keys).context
    else:
        assert attention.query_projection is not None and attention.key_projection is not None
        scores = naive_scores(
            attention.query_projection(query),
            attention.key_projection(keys),
            attention.score.v_a[0],
        )
        context = scores.softmax(-1) @ keys
    context.square().mean().backward()


def main(arguments: list[str]) -> None:
    form, *numbers = arguments
    if form not in FORMS:
        raise SystemExit(f"{form} is not one of {', '.join(FORMS)}")
    status = Path("/proc/self/status")
    if not status.is_file():
        return
    train_step(form, 1, 2, 2, 8)  # libraries are loaded now
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts from here
    before = _bytes(status, "VmRSS")
    train_step(form, *(int(number) for number in numbers))
    print(_bytes(status, "VmHWM") - before)


def _bytes(status: Path, field: str) -> int:
    for line in status.read_text(encoding="ascii").split("\n"):
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{status} has no {field}")


if __name__ == "__main__":
    main(sys.argv[1:])
