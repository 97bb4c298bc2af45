"""Time and memory of contestants that compute the same thing, measured in turn in one process."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

LEAST = 0.02  # seconds that one reading of the clock should cover at least
_MOST = 200  # calls in one reading


@dataclass(frozen=True)
class Contestant:
    """Something that computes a result.

    run: computes it. wanted: what gradients are taken with respect to in training; without any,
    only the forward pass is measured. modules: put into the mode that is measured. compared:
    whether the result is the case's.
    """

    name: str
    run: Callable[[], Tensor]
    wanted: tuple[Tensor, ...] = ()
    modules: tuple[nn.Module, ...] = ()
    compared: bool = True


@dataclass(frozen=True)
class Case:
    """The first contestant is what the others are compared with.

    seen: what is compared of a result. absent: names of contestants that are not installed.
    """

    title: str
    contestants: tuple[Contestant, ...]
    absent: tuple[str, ...] = ()
    seen: Callable[[Tensor], Tensor] = lambda result: result


@dataclass(frozen=True)
class Measured:
    """Of one contestant.

    forward, training: seconds of one call, without and with the backward pass, the best of all
    rounds. kept: bytes that wait for the backward pass. difference: the largest to the first
    contestant's result.
    """

    name: str
    forward: float | None = None
    training: float | None = None
    kept: int | None = None
    difference: float | None = None


def clock(threads: int) -> Callable[[], float]:
    """Processor time of one thread, which other programs hardly change; else time that passes."""
    return time.process_time if threads == 1 else time.perf_counter


def measure_all(
    cases: Sequence[Case], rounds: int, now: Callable[[], float]
) -> list[tuple[Case, list[Measured]]]:
    """Case after case; says on stderr which."""
    found = []
    for case in cases:
        print(case.title, file=sys.stderr, flush=True)
        found.append((case, measure(case, rounds, now)))
    return found


def measure(case: Case, rounds: int, now: Callable[[], float]) -> list[Measured]:
    """Every contestant once a round, in turn, so that a machine that drifts drifts for all."""
    calls = [_calls(contestant) for contestant in case.contestants]
    times: list[list[tuple[float, float | None]]] = [[] for _ in case.contestants]
    for _ in range(rounds):
        for contestant, number, found in zip(case.contestants, calls, times, strict=True):
            found.append((_forward(contestant, number, now), _training(contestant, number, now)))
    first = case.seen(_result(case.contestants[0]))
    made = []
    for contestant, found in zip(case.contestants, times, strict=True):
        trained = [training for _, training in found if training is not None]
        difference = None
        if contestant.compared and contestant is not case.contestants[0]:
            difference = (case.seen(_result(contestant)) - first).abs().max().item()
        made.append(
            Measured(
                name=contestant.name,
                forward=min(forward for forward, _ in found),
                training=min(trained, default=None),
                kept=kept_for_backward(contestant.run) if contestant.wanted else None,
                difference=difference,
            )
        )
    return [*made, *(Measured(name) for name in case.absent)]


def kept_for_backward(run: Callable[[], Tensor]) -> int:
    """Bytes of all that autograd saves while ``run`` runs, each storage once."""
    storages: dict[int, int] = {}
    alive: list[Tensor] = []  # or an address could be given out twice

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        alive.append(tensor.detach())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = run()
    del result
    return sum(storages.values())


def _calls(contestant: Contestant) -> int:
    """How many calls one reading of the clock covers. Warms up, too."""
    _result(contestant)
    began = time.perf_counter()
    _result(contestant)
    return max(1, min(_MOST, int(LEAST / max(1e-9, time.perf_counter() - began))))


def _result(contestant: Contestant) -> Tensor:
    with torch.no_grad():
        return contestant.run()


def _forward(contestant: Contestant, calls: int, now: Callable[[], float]) -> float:
    _set_training(contestant.modules, False)
    with torch.no_grad():
        began = now()
        for _ in range(calls):
            contestant.run()
        return (now() - began) / calls


def _training(contestant: Contestant, calls: int, now: Callable[[], float]) -> float | None:
    if not contestant.wanted:
        return None
    _set_training(contestant.modules, True)
    arriving = torch.ones_like(_result(contestant))
    began = now()
    for _ in range(calls):
        torch.autograd.grad(contestant.run(), contestant.wanted, arriving)
    return (now() - began) / calls


def _set_training(modules: Sequence[nn.Module], mode: bool) -> None:
    for module in modules:
        module.train(mode)
