"""Bodies of requests, read piece by piece and no further than a limit."""

from __future__ import annotations

from starlette.requests import Request

#: Most bytes of a question. A text that is too long is then told by its characters.
MOST_QUESTION = 2**20
#: Most bytes of a photo.
MOST_PHOTO = 16 * 2**20
#: As much of what is refused is read and dropped: a browser hears the reason only once it has sent
#: everything.
_DROPPED = 256 * 2**20


class Refused(Exception):  # noqa: N818 - an answer more than an error
    """A request that gets no answer but why, with a status of HTTP."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


async def read_body(request: Request, most: int, what: str) -> bytes:
    """The whole body, never more than `most` bytes of it in memory.

    Raises Refused where there is more, or nothing.
    """
    pieces: list[bytes] = []
    size = 0
    async for piece in request.stream():
        size += len(piece)
        if size <= most:
            pieces.append(piece)
        else:
            pieces.clear()
        if size > _DROPPED:
            break
    if size > most:
        raise Refused(413, f"{what} has more than {_said(most)}, the most that is taken here")
    if size == 0:
        raise Refused(400, f"{what} is empty")
    return b"".join(pieces)


def _said(size: int) -> str:
    return f"{size // 2**20} MiB"
