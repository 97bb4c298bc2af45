"""Opening a page in the user's browser, where there is one with windows."""

import os
import sys
import webbrowser
from threading import Thread


def open_browser(address: str) -> None:
    """Ask the system to open it; nothing happens, and nobody waits, where that cannot be.

    Without a display Python would start a browser in this very terminal.
    """
    windows = sys.platform in ("darwin", "win32") or any(
        os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY")
    )
    if windows:
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
