"""Threads: pictures side by side, each in a thread that uses one core.

Torch's own threads, all working on one picture of a small network, mostly wait for each other; the
more so on a machine that does other things as well.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")

#: How many items for each thread are begun before the first result is taken.
AHEAD = 16


def in_threads(
    function: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[Result, None, None]:
    """The result of every item, in their order, from as many threads as torch would use.

    An exception of the function is raised in its item's turn; what was not begun is then left, as
    it is when the generator is closed.
    """
    threads = torch.get_num_threads()
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(
        threads, "regard-images", initializer=torch.set_num_threads, initargs=(1,)
    )
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) >= AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)  # for threads begun later: those of the pool said one
