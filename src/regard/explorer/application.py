"""The application: what is answered at which address.

Computing happens in a few threads, one question each; the loop that listens never waits for it.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from regard.errors import UserError
from regard.explorer.answers import answer_question
from regard.explorer.bodies import MOST_PHOTO, MOST_QUESTION, Refused, read_body
from regard.explorer.guard import Guard
from regard.explorer.page import explorer_page, explorer_script, explorer_style
from regard.explorer.photos import Photos
from regard.explorer.questions import read_question
from regard.explorer.shelf import Shelved
from regard.views.json_view import dumps

#: Questions computed at once, and most that may wait for their turn.
WORKERS = 2
MOST_WAITING = 64
_LONGEST_NAME = 200

Result = TypeVar("Result")
Endpoint = Callable[[Request], Awaitable[Response]]


class Json(JSONResponse):
    """JSON in UTF-8, whatever the text."""

    def render(self, content: Any) -> bytes:
        return dumps(content).encode("utf-8")


def explorer_application(shelf: Sequence[Shelved]) -> ASGIApp:
    """The whole application over these models, guarded."""
    explorer = _Explorer(shelf)
    routes = [
        Route("/", _fixed(explorer_page(shelf), "text/html")),
        Route("/explorer.js", _fixed(explorer_script(), "text/javascript")),
        Route("/explorer.css", _fixed(explorer_style(), "text/css")),
        Route("/api/answer", _told(explorer.answer), methods=["POST"]),
        Route("/api/photo", _told(explorer.photo), methods=["POST"]),
    ]
    told: Any = {HTTPException: _refused}
    return Guard(Starlette(routes=routes, exception_handlers=told))


class _Explorer:
    """The two questions that there are."""

    def __init__(self, shelf: Sequence[Shelved]) -> None:
        self._shelf = shelf
        self._workers = CapacityLimiter(WORKERS)
        self._photos = Photos([each.model.needed_backbone() for each in shelf if each.reads_photos])

    async def answer(self, request: Request) -> Response:
        """A question of `questions.Question`."""
        kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(415, "a question is application/json")
        question = read_question(await read_body(request, MOST_QUESTION, "the question"))
        work = partial(answer_question, self._shelf, self._photos, question)
        return Json(await self._computed(request, work))

    async def photo(self, request: Request) -> Response:
        """A photo, as it is; its name may stand in the address."""
        if not self._shelf[0].reads_photos:
            raise Refused(400, "the models here read texts, not photos")
        name = request.query_params.get("name", "")[:_LONGEST_NAME] or "the photo"
        data = await read_body(request, MOST_PHOTO, name)
        key, photo = await self._computed(request, partial(self._photos.keep, data, name))
        names = ("rows", "columns", "covered", "width", "height")
        seen = [{name: getattr(each, name) for name in names} for each in photo.seen]
        return Json({"photo": key, "uri": photo.seen[0].uri, "seen": seen})

    async def _computed(self, request: Request, work: Callable[[], Result]) -> Result:
        """What the work gives, once it has its turn; nobody's work is not begun."""
        if self._workers.statistics().tasks_waiting >= MOST_WAITING:
            raise Refused(503, "too many questions wait; try again in a moment")
        async with self._workers:
            if await request.is_disconnected():
                raise ClientDisconnect
            return await to_thread.run_sync(work, abandon_on_cancel=True)


def _told(endpoint: Endpoint) -> Endpoint:
    """Whatever goes wrong is told in one line, and the server goes on."""

    async def told(request: Request) -> Response:
        try:
            return await endpoint(request)
        except Refused as refused:
            return Json({"error": refused.reason}, refused.status)
        except UserError as error:
            return Json({"error": str(error)}, 400)
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            said = "a fault in regard kept this from being answered; the terminal tells more"
            return Json({"error": said}, 500)

    return told


def _fixed(text: str, kind: str) -> Endpoint:
    async def fixed(request: Request) -> Response:
        return Response(text, media_type=kind)

    return fixed


async def _refused(request: Request, error: HTTPException) -> Response:
    return Json({"error": error.detail}, error.status_code)
