"""Files of a multipart body, each as a stream, as they arrive: never a whole one in memory, and none on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from email.message import Message
from typing import TYPE_CHECKING, Final

from starlette.requests import Request

from toolpath.server.problems import Problem

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks, MultipartParser

#: Bytes of a field that is no file.
_LONGEST_FIELD: Final = 1_000
#: Parts of one body.
_MOST_PARTS: Final = 100


class FilePart:
    """One file of the body; its bytes are to be taken before the next part is asked for."""

    def __init__(self, name: str, media_type: str, pieces: AsyncIterator[bytes]) -> None:
        self.name = name
        """As the client calls it: anything."""
        self.media_type = media_type
        self.pieces = pieces


class FormFiles:
    """The files of the request's body, one after the other. `fields` has the short texts that came before."""

    def __init__(self, request: Request) -> None:
        self.fields: dict[str, str] = {}
        self._body = request.stream()
        self._told: deque[tuple[str, bytes]] = deque()
        self._name = b""
        self._value = b""
        self._headers: dict[str, str] = {}
        self._parts = 0
        self._parser = self._made(request)

    def _made(self, request: Request) -> MultipartParser:
        from python_multipart.exceptions import FormParserError  # noqa: PLC0415
        from python_multipart.multipart import MultipartParser, parse_options_header  # noqa: PLC0415

        media, options = parse_options_header(request.headers.get("content-type", ""))
        boundary = options.get(b"boundary", b"")
        if media != b"multipart/form-data" or not boundary:
            raise Problem(
                415,
                "unsupported_media_type",
                "The body must be multipart/form-data with a boundary.",
                hint="As `curl -F files=@report.pdf` sends it.",
            )
        told: MultipartCallbacks = {
            "on_part_begin": lambda: self._tell("begin"),
            "on_part_data": lambda data, start, end: self._tell("data", data[start:end]),
            "on_part_end": lambda: self._tell("end"),
            "on_header_field": self._on_name,
            "on_header_value": self._on_value,
            "on_header_end": self._on_header,
            "on_headers_finished": lambda: self._tell("headers"),
            "on_end": lambda: self._tell("over"),
        }
        try:
            return MultipartParser(boundary, told)
        except FormParserError as error:
            raise Problem(400, "unreadable", f"The body is no multipart/form-data: {error}") from None

    def _tell(self, what: str, data: bytes = b"") -> None:
        if what == "begin":
            self._headers = {}
            self._parts += 1
            if self._parts > _MOST_PARTS:
                raise Problem(413, "too_large", f"A body has at most {_MOST_PARTS} parts.")
        if what == "headers":
            data = self._headers.get("content-disposition", "").encode("latin-1", "replace")
            self._told.append(("type", self._headers.get("content-type", "").encode("latin-1", "replace")))
        self._told.append((what, data))

    def _on_name(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        self._headers[self._name.decode("latin-1").lower()] = self._value.decode("latin-1")
        self._name = self._value = b""

    async def __aiter__(self) -> AsyncIterator[FilePart]:
        """The files. Raises `Problem` for a body that is none, or that breaks off."""
        media_type = ""
        while True:
            what, data = await self._next()
            match what:
                case "type":
                    media_type = data.decode("latin-1")
                case "headers":
                    field, name = _named(data.decode("latin-1"))
                    if name is None:
                        self.fields[field] = await self._text()
                        continue
                    part = FilePart(name, media_type, pieces := self._pieces())
                    yield part
                    async for _ in pieces:
                        # What nobody wanted.
                        pass
                case "over":
                    return

    async def _pieces(self) -> AsyncIterator[bytes]:
        while True:
            what, data = await self._next()
            if what != "data":
                return
            yield data

    async def _text(self) -> str:
        found = b""
        async for piece in self._pieces():
            found += piece
            if len(found) > _LONGEST_FIELD:
                raise Problem(413, "too_large", f"A field of the form has at most {_LONGEST_FIELD} bytes.")
        return found.decode("utf-8", "replace")

    async def _next(self) -> tuple[str, bytes]:
        from python_multipart.exceptions import FormParserError  # noqa: PLC0415

        while not self._told:
            chunk = await anext(self._body, b"")
            if not chunk:
                raise Problem(400, "unreadable", "The body breaks off before its last boundary.")
            try:
                self._parser.write(chunk)
            except FormParserError as error:
                raise Problem(400, "unreadable", f"The body is no multipart/form-data: {error}") from None
        return self._told.popleft()


def _named(disposition: str) -> tuple[str, str | None]:
    """Name of the field, and of the file where it is one: as UTF-8, as RFC 5987 writes it, or as it stands."""
    header = Message()
    header["content-disposition"] = disposition.replace("\r", " ").replace("\n", " ")
    name = _decoded(str(header.get_param("name", "", "content-disposition") or ""))
    found = header.get_param("filename", None, "content-disposition")
    if isinstance(found, tuple):
        charset, _, text = found
        try:
            return name, text.encode("latin-1", "replace").decode(charset or "utf-8", "replace")
        except (LookupError, ValueError):
            # No charset that there is, or one that some bytes cannot be in.
            return name, text
    return name, None if found is None else _decoded(str(found))


def _decoded(text: str) -> str:
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text
