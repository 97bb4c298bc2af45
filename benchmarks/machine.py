"""What a benchmark ran on."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path

_SIZE = 2048
_SECONDS = 2.0
_PROCESSOR_SECONDS = 1.0


@dataclass(frozen=True)
class Machine:
    """processor: its name; cores: those that this process may use."""

    processor: str
    cores: int
    system: str
    python: str
    torch: str


def describe() -> Machine:
    """This machine."""
    import torch

    available = getattr(os, "sched_getaffinity", None)
    return Machine(
        processor=_processor(),
        cores=len(available(0)) if available else os.cpu_count() or 1,
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        torch=torch.__version__,
    )


def matrix_rate(threads: int) -> float:
    """Floating-point operations a second of float32 matrix products, 2048 x 2048 by 2048 x 2048.

    The best of the products of two seconds: what the machine can do now.
    """
    import torch

    torch.set_num_threads(threads)
    left, right = torch.rand(_SIZE, _SIZE), torch.rand(_SIZE, _SIZE)
    best, end = float("inf"), time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        began = time.perf_counter()
        torch.mm(left, right)
        best = min(best, time.perf_counter() - began)
    return 2 * _SIZE**3 / best


def processor_rate() -> float:
    """The same per second of the processor, on one thread: the mean over a second of its time."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    left, right = torch.rand(_SIZE, _SIZE), torch.rand(_SIZE, _SIZE)
    torch.mm(left, right)
    products, began = 0, time.thread_time()
    while (taken := time.thread_time() - began) < _PROCESSOR_SECONDS:
        torch.mm(left, right)
        products += 1
    torch.set_num_threads(threads)
    return products * 2 * _SIZE**3 / taken


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
