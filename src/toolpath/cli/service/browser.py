"""The browser of the person at this machine. Where there is none, nothing happens."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import webbrowser


def open_page(address: str) -> bool:
    """Have the desktop's browser open the address, beside what goes on; whether there is a desktop.

    Without one a program in the terminal would be begun, which takes the terminal from who serves.
    """
    if not _has_desktop():
        return False
    threading.Thread(target=_open, args=(address,), name="browser", daemon=True).start()
    return True


def _open(address: str) -> None:
    # That it cannot be opened is no fault of the server's: it said where it listens.
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)


def _has_desktop() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"))
