"""What a person sees, and how time is counted."""

import io
import threading
import time
from pathlib import Path

import pytest
import torch
from rich.console import Console

from regard.training.budget import Budget
from regard.training.progress import (
    Glance,
    Lines,
    Live,
    Recent,
    Silence,
    clock,
    make_reporter,
)
from regard.training.threads import available_processors, resolve_threads

GLANCE = Glance(1234, 3, 2.5, 1250.5, 2345.6, 0.25, 65.0, "bleu 12.30 at 1,000 (the best so far)")
SEEN = (
    "step 1,234, epoch 3, loss 2.500, perplexity 1,250.50, 2,346 tokens/s, 1:05 left, "
    "bleu 12.30 at 1,000 (the best so far)"
)


def test_a_glance() -> None:
    assert str(GLANCE) == SEEN
    bare = Glance(1, 1, 9.0, 8000.0, 10.0, None, None, "")
    assert str(bare) == "step 1, epoch 1, loss 9.000, perplexity 8,000.00, 10 tokens/s"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0:00"), (7.4, "0:07"), (59.9, "1:00"), (754, "12:34"), (3723, "1:02:03"), (-5, "0:00")],
)
def test_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown


def test_lines_come_now_and_then_and_messages_at_once() -> None:
    stream = io.StringIO()
    seldom = Lines(stream, interval=1000)
    seldom.training(GLANCE)
    seldom.message("validated")
    seldom.counting("validating", 1, 2)
    seldom.close()
    assert stream.getvalue() == "validated\n"
    often = Lines(stream, interval=0)
    often.training(GLANCE)
    often.counting("validating", 1, 2000)
    assert stream.getvalue() == f"validated\n{SEEN}\nvalidating: 1 of 2,000\n"


def test_live_draws_on_a_terminal_and_leaves_the_messages() -> None:
    stream = io.StringIO()
    live = Live(Console(file=stream, force_terminal=True, width=200))
    live.training(GLANCE)
    live.message("validated [bold] 1")
    live.counting("validating", 1, 2000)
    live.progress.refresh()
    live.close()
    text = stream.getvalue()
    assert "validated [bold] 1\n" in text
    assert "validating: 1 of 2,000" in text
    assert text.endswith("\x1b[2K")  # the drawn line is wiped


def test_who_tells(capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(make_reporter(False), Silence)
    lines = make_reporter(True)  # captured: not a terminal
    assert isinstance(lines, Lines)
    lines.message("hello")
    assert capsys.readouterr().err == "hello\n"
    own = Silence()
    assert make_reporter(own) is own


def test_recent_updates_alone_count() -> None:
    recent = Recent(updates=2)
    assert (recent.loss, recent.tokens_per_second) == (0, 0)
    recent.add(1000, 9.0, 9.0, 1.0)
    recent.add(10, 2.0, 0.0, 1.0)
    recent.add(30, 4.0, 0.0, 3.0)
    assert recent.loss == pytest.approx((10 * 2 + 30 * 4) / 40)
    assert recent.perplexity == pytest.approx(1)
    assert recent.tokens_per_second == pytest.approx(10)
    assert recent.seconds_per_update == pytest.approx(2)


def test_a_budget_counts_all_sessions_and_keeps_time_for_the_end() -> None:
    budget = Budget(100.0, before=30.0, started=time.monotonic() - 20)
    assert budget.elapsed() == pytest.approx(50, abs=1)
    assert budget.left(validations=1) == pytest.approx(40, abs=1)  # a tenth until it is known
    budget.validation_seconds = 5.0
    assert budget.left(validations=2) == pytest.approx(38, abs=1)
    assert budget.left(validations=0) == pytest.approx(50, abs=1)
    budget.validation_seconds = 500.0
    assert budget.left(validations=1) == pytest.approx(0, abs=1)  # half at most
    assert Budget(None).left(validations=1) is None


def test_processors_within_the_containers_share(tmp_path: Path) -> None:
    quota = tmp_path / "cpu.max"
    everything = available_processors(quota)
    assert everything >= 1
    for text, expected in (
        ("max 100000", everything),
        ("50000 100000", 1),
        ("nonsense", everything),
    ):
        quota.write_text(text, encoding="utf-8")
        assert available_processors(quota) == expected
    quota.write_text("6400000 100000", encoding="utf-8")
    assert available_processors(quota) == min(everything, 64)


def test_threads_are_those_asked_for_or_all_that_may_be_used() -> None:
    assert resolve_threads(7) == 7
    assert resolve_threads(0) == min(torch.get_num_threads(), available_processors())


def test_live_stops_its_thread() -> None:
    before = threading.active_count()
    live = Live(Console(file=io.StringIO(), force_terminal=True))
    live.close()
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == before
