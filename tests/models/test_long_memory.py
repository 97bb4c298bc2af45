"""Long sources and targets: what a training step needs does not grow with their product times size.

Additive attention as it is usually written keeps a tensor ``[batch, steps, source, size]``: at
1,000 by 1,000 positions, 8 rows and size 256 that is 8 GB, several times over.
"""

import subprocess
import sys

import pytest

STEP = """
import resource
import sys
import tempfile
from pathlib import Path

from regard.data.pairs import Pair, Pairs
from regard.training.recipes import load_recipe
from regard.training.train import train

LENGTH, ROWS = 999, 8  # and the end symbol
words = [f"w{number}" for number in range(2000)]
text = [" ".join(words[(row * 7 + i * i) % 2000] for i in range(LENGTH)) for row in range(ROWS)]
learned = Pairs(tuple(Pair(each, each) for each in text), "long")
configuration = load_recipe("rnnsearch", [
    "tokenization={joint: true, source: {kind: space}, target: {kind: space}}",
    "batching={tokens: 16000, maximum_length: 1000}",
    "training.maximum_updates=1",
    "search={beam: 1, maximum_length_ratio: 0}",
    "training.threads=1",
])
model = configuration.model
assert model.encoder.size == model.decoder.size == model.decoder.attention.size == 256
assert model.embedding.size == 256
valid = Pairs((Pair("w0", "w1"),), "short")
with tempfile.TemporaryDirectory() as directory:
    result = train(configuration, learned, valid, Path(directory) / "run", progress=False)
assert result.step == 1 and result.target_tokens == ROWS * (LENGTH + 1), result
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak * (1 if sys.platform == "darwin" else 1024))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell a process' peak")
def test_a_step_of_a_thousand_tokens_stays_under_three_gigabytes() -> None:
    """rnnsearch at width 256, 8 rows of 1,000 tokens on both sides, the whole process counted."""
    done = subprocess.run([sys.executable, "-c", STEP], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout)
    assert 0.3e9 < peak < 3e9, f"{peak / 1e9:.2f} GB"
