"""A process that ends without a word, before or after anything it does: nothing is lost."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from regard.training import ending, loop, session
from regard.training.train import train

from .outcome import assert_same
from .tiny import reversals, tiny

CONFIGURATION = tiny("transformer", maximum_updates=12, validation_interval=5, average={"count": 2})


def run(out: Path) -> None:
    train(CONFIGURATION, reversals(30), reversals(5, 6), out, progress=False, resume=True)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was never stopped: 12 updates, validated after 5, 10 and 12."""
    out = tmp_path_factory.mktemp("whole") / "run"
    run(out)
    return out


class Killed(BaseException):
    """As if the process had ended here."""


def die_in(
    call: int, module: Any, name: str, monkeypatch: pytest.MonkeyPatch, *, after: bool
) -> None:
    """Let the call-th call of a function be the last thing that happens."""
    real: Callable[..., Any] = getattr(module, name)
    left = [call]

    def dying(*arguments: Any, **options: Any) -> Any:
        left[0] -= 1
        result = real(*arguments, **options) if left[0] or after else None
        if not left[0]:
            raise Killed
        return result

    monkeypatch.setattr(module, name, dying)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(
    ("module", "name", "call"),
    [
        (loop, "update", 7),
        (loop, "validate_candidate", 1),
        (loop, "validate_candidate", 2),
        (loop, "save", 2),
        (session, "write_model", 1),
        (session, "write_bytes", 2),
        (session, "validate", 2),
        (ending, "save", 1),
        (ending, "validate_candidate", 1),
        (ending, "validate_session", 1),
        (ending, "_log_end", 1),
    ],
)
def test_an_end_without_a_word(
    module: Any,
    name: str,
    call: int,
    after: bool,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as patched:
        die_in(call, module, name, patched, after=after)
        with pytest.raises(Killed):
            run(out)
    run(out)
    assert_same(whole, out)
