"""The reader of one document, in a process of its own: `python -I -m … SAID SECONDS`, the document on stdin.

It limits its own memory, time and files before it looks at the document, and prints `{markdown, cut, fault}`.
"""

from __future__ import annotations

import csv
import io
import json
import resource
import sys
import zipfile
from collections.abc import Callable, Iterable
from typing import Any, Final

#: What an Office document may unpack to: bytes, and parts.
_UNPACKED: Final = 200_000_000
_PARTS: Final = 10_000
_SIGNATURES: Final = ((b"%PDF-", "pdf"), (b"\xd0\xcf\x11\xe0", "old"))


class Unread(Exception):  # what it says is told
    """A document that cannot be read, and why."""


def main() -> None:
    """Read the one document."""
    said = json.loads(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (said["memory"], said["memory"]))
    seconds = int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    # It writes nothing, and starts nothing.
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    told: dict[str, Any] = {}
    try:
        markdown = read(sys.stdin.buffer.read(), said["ending"])
        told = {"markdown": markdown[: said["chars"]], "cut": len(markdown) > said["chars"]}
    except Unread as error:
        told = {"fault": str(error)}
    except ModuleNotFoundError as error:
        told = {"fault": f"{error.name} is not installed: pip install 'toolpath[documents]'."}
    except MemoryError:
        told = {"fault": "it takes more memory than it may."}
    except RecursionError:
        told = {"fault": "it is nested too deep."}
    except Exception as error:  # noqa: BLE001  # a hostile document breaks a reader in any way
        told = {"fault": f"{type(error).__name__}: {error!s:.300}"}
    text = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    sys.stdout.buffer.write(text)


def read(data: bytes, ending: str) -> str:
    """The document as Markdown, by what it is, not by how it is called. Raises `Unread`."""
    kind = next((kind for signature, kind in _SIGNATURES if data.startswith(signature)), ending)
    if data.startswith(b"PK\x03\x04"):
        kind = _kind_of_archive(data)
    if kind == "old":
        raise Unread("it is of an old Office format; save it as docx or xlsx.")
    if kind == "pdf":
        return _pdf(data)
    if kind in _ARCHIVES:
        return _ARCHIVES[kind](data)
    if b"\0" in data[:10_000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Unread("it is no PDF, docx, xlsx, HTML, CSV or text.")
    text = _decoded(data)
    if kind in ("html", "htm", "xhtml") or text.lstrip()[:15].lower().startswith(("<!doctype html", "<html")):
        return _html(text)
    return _csv(text) if kind in ("csv", "tsv") else text


def _kind_of_archive(data: bytes) -> str:
    """The kind of an archive; looked at before anything is unpacked. Raises `Unread`."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
    if len(parts) > _PARTS or sum(part.file_size for part in parts) > _UNPACKED:
        raise Unread(f"it unpacks to more than {_UNPACKED:,} bytes or {_PARTS:,} parts.")
    names = {part.filename for part in parts}
    for mark, kind in (("word/document.xml", "docx"), ("xl/workbook.xml", "xlsx")):
        if mark in names:
            return kind
    raise Unread("it is an archive, but no docx or xlsx.")


def _pdf(data: bytes) -> str:
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise Unread("it is encrypted.")
    pages = [page.extract_text().strip() for page in reader.pages]
    if not any(pages):
        raise Unread("it has no text, only pictures of it.")
    return "\n\n".join(f"<!-- page {number} -->\n\n{text}" for number, text in enumerate(pages, 1) if text)


def _docx(data: bytes) -> str:
    import mammoth

    found: str = mammoth.convert_to_html(
        io.BytesIO(data), convert_image=mammoth.images.img_element(lambda image: {"src": ""})
    ).value
    return _html(found)


def _xlsx(data: bytes) -> str:
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True)
    sheets = []
    for sheet in book.worksheets:
        found = [list(row) for row in sheet.iter_rows(values_only=True)]
        sheets.append(f"## {sheet.title}\n\n{_table(found)}")
    return "\n\n".join(sheets)


def _html(text: str) -> str:
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(text, "html.parser")
    for hidden in soup(["script", "style", "noscript", "template", "iframe", "object", "img"]):
        hidden.decompose()
    found: str = MarkdownConverter(heading_style="ATX").convert_soup(soup)
    lines = [line.rstrip() for line in found.splitlines()]
    kept = [line for number, line in enumerate(lines) if line or (number and lines[number - 1])]
    return "\n".join(kept).strip()


def _csv(text: str) -> str:
    csv.field_size_limit(10_000_000)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:10_000], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    return _table(csv.reader(io.StringIO(text, newline=""), dialect))


def _table(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as a table, empty ones left out; the first is its head."""
    cells = [["" if cell is None else _cell(str(cell)) for cell in row] for row in rows]
    cells = [row for row in cells if any(row)]
    if not cells:
        return ""
    # Of a sheet mostly the begin is filled.
    width = max(max(at for at, cell in enumerate(row, 1) if cell) for row in cells)
    padded = [(row + [""] * (width - len(row)))[:width] for row in cells]
    lines = [padded[0], ["---"] * width, *padded[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16") if data.startswith((b"\xff\xfe", b"\xfe\xff")) else ("utf-8-sig",):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("cp1252", "replace")


_ARCHIVES: Final[dict[str, Callable[[bytes], str]]] = {"docx": _docx, "xlsx": _xlsx}

if __name__ == "__main__":
    main()
