"""Lets tests import the benchmarks' modules, which are scripts and not part of the package."""

import sys
from pathlib import Path

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path[:0] = [str(_BENCHMARKS), str(_BENCHMARKS / "peers" / "counted")]
