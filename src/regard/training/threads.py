"""Threads: how many processor threads a run takes."""

import os
from pathlib import Path

import torch


def resolve_threads(threads: int) -> int:
    """`threads`, or for 0 all that this process may use: torch's choice within its limits."""
    return threads or max(1, min(torch.get_num_threads(), available_processors()))


def available_processors(quota: Path = Path("/sys/fs/cgroup/cpu.max")) -> int:
    """Processors that this process may use: its affinity, and the share its container is given."""
    try:
        processors = len(os.sched_getaffinity(0))
    except AttributeError:  # not on this system
        processors = os.cpu_count() or 1
    try:
        allowed, period = quota.read_text(encoding="utf-8").split()
        processors = min(processors, max(1, round(int(allowed) / int(period))))
    except (OSError, ValueError):  # no container, or no limit ("max")
        pass
    return processors
