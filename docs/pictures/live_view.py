"""The picture of the live view in the README: `toolpath demo` in a terminal of its own, drawn at its busiest moment.

    .venv/bin/python docs/pictures/live_view.py

writes `live-view.svg` beside this file: the program's own lines and colours, as the terminal got them.
"""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

PICTURE = Path(__file__).with_name("live-view.svg")
COLUMNS, LINES = 80, 40
#: What stands between two pictures of one tree: back to its first line, every line wiped.
_BETWEEN = re.compile(r"\r\x1b\[2K(?:\x1b\[1A\x1b\[2K)*")
_FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{ font: {char_height}px monospace }}
.{unique_id}-title {{ font: bold 18px sans-serif }}
{styles}
</style>
{chrome}
<g class="{unique_id}-matrix" transform="translate({terminal_x}, {terminal_y})">{backgrounds}{matrix}</g>
</svg>
"""


def written_by(command: list[str]) -> str:
    """All that the command writes to a terminal of `COLUMNS` by `LINES`."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal = {"TERM": "xterm-256color", "COLORTERM": "", "PYTHONIOENCODING": "utf-8"}
    with subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=environment | terminal):  # noqa: S603  # ours
        os.close(its)
        written = bytearray()
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # what Linux says when nobody has the other end any more
                piece = b""
            if not piece:
                break
            written += piece
    os.close(ours)
    return written.decode()


def busiest(written: str) -> Text:
    """The tree of the moment in which most of it was going on."""
    trees = [Text.from_ansi(part.replace("\r", "")) for part in _BETWEEN.split(written)[1:-1]]
    return max(trees, key=lambda tree: tree.plain.count("●") + tree.plain.count("↻"))


def drawn(tree: Text) -> str:
    """The tree as an SVG without fonts from elsewhere."""
    paper = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard")
    paper.print(tree, no_wrap=True)
    picture = paper.export_svg(title="toolpath demo", theme=MONOKAI, code_format=_FRAME, unique_id="live")
    picture = re.sub(r' clip-path="[^"]*"|<text[^>]*>\s*</text>', "", picture).replace("</text>", "</text>\n")
    return "".join(f"{line.strip()}\n" for line in picture.splitlines() if line.strip())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        written = written_by([sys.executable, "-m", "toolpath", "demo", "--into", f"{folder}/demo"])
    PICTURE.write_text(drawn(busiest(written)), encoding="utf-8")
