"""The server: one address on this machine, until a signal ends it."""

from __future__ import annotations

import errno
import socket
from typing import TYPE_CHECKING

from regard.errors import UserError

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

ADDRESS = "127.0.0.1"
#: Seconds that answers under way are waited for at the end.
_LAST_WAIT = 1


def listen(port: int) -> socket.socket:
    """A socket that listens on this machine alone; port 0: any free one.

    Raises UserError where the port is taken or not allowed.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((ADDRESS, port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        taken = error.errno == errno.EADDRINUSE
        reason = "is taken" if taken else f"cannot be used ({error.strerror})"
        raise UserError(
            f"port {port} {reason}; give another one with --port, or 0 for any free one"
        ) from error
    return listening


def address_of(listening: socket.socket) -> str:
    """What to open in a browser."""
    return f"http://{ADDRESS}:{listening.getsockname()[1]}/"


def serve(application: ASGIApp, listening: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM, which then do what they did before."""
    server_for(application).run(sockets=[listening])


def server_for(application: ASGIApp) -> uvicorn.Server:
    """A server that says nothing and ends soon."""
    import uvicorn

    configuration = uvicorn.Config(
        application,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_LAST_WAIT,
    )
    return uvicorn.Server(configuration)
