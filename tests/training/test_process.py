"""The process: its memory, its hold on a run directory."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from regard.errors import UserError
from regard.training.lock import locked


def test_freed_memory_is_kept() -> None:
    """In a process of its own: large tensors made again and again cost no page faults."""
    code = """
        import resource, sys
        from regard.training.allocator import keep_freed_memory
        kept = keep_freed_memory() if sys.argv[1] == "keep" else True
        def work():
            parts = [bytearray(8_000_000 + n) for n in range(8)]
            return len(parts)
        work()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        for _ in range(5):
            work()
        print(int(kept), resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
    """
    faults = {}
    for how in ("keep", "leave"):
        command = [sys.executable, "-c", textwrap.dedent(code), how]
        done = subprocess.run(command, capture_output=True, check=True)
        kept, count = done.stdout.split()
        if kept != b"1":
            pytest.skip("there is no glibc here")
        faults[how] = int(count)
    assert faults["keep"] < 100 < faults["leave"]


def test_one_process_at_a_time(tmp_path: Path) -> None:
    message = "another process is training there"
    with locked(tmp_path), pytest.raises(UserError, match=message), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_hold_ends_with_its_block_even_when_it_fails(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="inside"), locked(tmp_path):
        raise OSError("inside")
    with locked(tmp_path):
        pass
