"""Time a decoder over words. Runs inside the tool's environment: standard library only."""

import json
import time
from collections.abc import Callable, Sequence

WARM_UP = 50  # words decoded before the clock starts


def report(
    decode: Callable[[list[str]], Sequence[Sequence[str]]],
    words: list[str],
    facts: dict[str, object],
) -> None:
    """Print one line of JSON: the facts, and how long all `words` took.

    seconds, cpu_seconds: of the clock and of the processor, whatever the process does, loading
    left out. symbols: how many were written.
    """
    decode(words[:WARM_UP])
    began, used = time.perf_counter(), time.process_time()
    answers = decode(words)
    used, passed = time.process_time() - used, time.perf_counter() - began
    symbols = sum(map(len, answers))
    line = {"words": len(answers), "symbols": symbols, "seconds": passed, "cpu_seconds": used}
    print(json.dumps({**facts, **line}))
