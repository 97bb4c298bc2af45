"""The explore verb: look into models live, in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from regard.cli.options import Steps, Threads


def explore(
    model: Annotated[
        list[Path],
        typer.Option(
            "--model", metavar="RUN", help="The run directory of a model; several side by side."
        ),
    ],
    port: Annotated[
        int,
        typer.Option(min=0, max=65535, metavar="N", help="Port on this machine; 0: any free one."),
    ] = 8427,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Only print the address; open no browser.")
    ] = False,
    steps: Steps = None,
    threads: Threads = None,
) -> None:
    """Look into models live: translate, begin or hide, see the search, compare.

    Serves a page on this machine alone, until Ctrl-C.
    """
    from regard.cli.reading import load_model
    from regard.cli.streams import report
    from regard.explorer.needed import check_installed

    check_installed()
    from regard.explorer.application import explorer_application
    from regard.explorer.opening import open_browser
    from regard.explorer.server import address_of, listen, serve
    from regard.explorer.shelf import shelve

    listening = listen(port)
    shelf = shelve([load_model([each], threads, steps=steps) for each in model])
    application = explorer_application(shelf)
    address = address_of(listening)
    report(f"exploring {', '.join(each.name for each in shelf)} at {address} (Ctrl-C ends it)")
    if not no_browser:
        open_browser(address)
    serve(application, listening)
