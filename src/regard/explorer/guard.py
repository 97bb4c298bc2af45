"""Guard: who may ask, and what a browser may do with the answers.

The application listens on this machine alone. A page of another site, open in the same browser,
could still send it questions, or read its answers under a name that was made to point here (DNS
rebinding): neither is answered.
"""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The names that this machine has for itself. The port is free: a tunnel may change it.
_HOST = re.compile(r"(?:127\.0\.0\.1|localhost)(?::\d{1,5})?", re.IGNORECASE | re.ASCII)

#: Nothing from anywhere else, no script but the page's own file, no markup that could become one.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types regard"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Refuses requests that were not meant for this machine, and adds `HEADERS` to all answers."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """An ASGI application."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        refusal = _refusal(Headers(scope=scope)) if scope["type"] == "http" else None
        if refusal is None:
            await self.application(scope, receive, guarded)
        else:
            await refusal(scope, receive, guarded)


def _refusal(headers: Headers) -> JSONResponse | None:
    hosts, origins = headers.getlist("host"), headers.getlist("origin")
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        said = "this server answers to 127.0.0.1 and localhost alone"
        return JSONResponse({"error": said}, 421)
    if any(origin.lower() != f"http://{hosts[0].lower()}" for origin in origins):
        return JSONResponse({"error": "pages of other sites are not answered"}, 403)
    return None
