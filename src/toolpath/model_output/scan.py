"""A text from left to right: what a reader knows is taken whole, so that nothing inside a string is ever a call."""

from __future__ import annotations

import re
from bisect import bisect_right

from toolpath.errors import ReadError
from toolpath.model_output.code_blocks import read_alone
from toolpath.model_output.found import ReaderResult, TextPiece
from toolpath.model_output.marked import read_body
from toolpath.model_output.own import read_yaml_text
from toolpath.model_output.page import Page
from toolpath.model_output.quoting import is_quoted
from toolpath.model_output.readers import LONGEST_BEGINNING, MAY_BEGIN, TEXT_READERS

_BEGINS = re.compile("|".join(f"(?P<r{index}>{reader.begins})" for index, reader in enumerate(TEXT_READERS)), re.M)
#: Characters that are looked through at once: no thread holds the interpreter for longer than that takes.
_AT_ONCE = 100_000
#: Parts of one text that could be calls or values, and faults in them; no answer of a model comes near.
MAX_PARTS = 20_000
MAX_FAULTS = 1_000
#: Tokens of models' chat templates; and characters that do not show.
_TOKEN = re.compile(r"<[|\uff5c][^<>|\uff5c\n]{1,60}[|\uff5c]>")
#: What begins a call that stands alone, and no sentence.
_HEAD = re.compile(
    r"(?:call:)?[A-Za-z_][\w.\-]*(?:\[ARGS\]\s*|\s*<\w*arg_key>|\{)|\[?[A-Za-z_][\w.\-]*\(\s*\w+\s*=\s*[\"'\[{\d]"
    r"|[a-z][\w.]*[ \t]*\n\s{0,9}\{\s{0,9}\"|\[\s{0,9}[A-Za-z_][\w.\-]*\(\s{0,9}(?:\w+\s{0,9}=(?!=)|\*)"
)
_ENDED = re.compile(r"(?:\s|<[|\uff5c][^<>|\uff5c\n]{1,60}[|\uff5c]>){0,20}\Z")
#: Thoughts after which the rest may be a call that stands alone.
_THOUGHTS = 5
_FENCES = re.compile(r"^[ \t]*```", re.M)
_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff"


class Scanned:
    """The pieces of a page, in order, each with where it begins."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.pieces: list[tuple[int, TextPiece]] = []
        self._fences = [match.start() for match in _FENCES.finditer(page.text)]
        self._called = False
        """A call was found: a result after it is imagined."""
        self._read()

    def _read(self) -> None:
        if self._alone(0):
            return
        at = tries = 0
        while match := _begins(self.page.text, at):
            start = match.start()
            tries += 1
            if tries > MAX_PARTS or self.page.faults > MAX_FAULTS:
                raise self.page.broken("The text holds too many parts that could be calls or values.", start)
            piece = self._piece(match)
            if piece is None:
                at = start + 1
                continue
            at = max(piece.end, start + 1)
            if self._ends(start, piece) or (piece.hidden and tries <= _THOUGHTS and self._alone(at)):
                return

    def _alone(self, at: int) -> bool:
        """Take the rest of the text as one call without any token around it, where it is one."""
        whole = _whole(self.page, at)
        if whole is not None:
            self.pieces.append((self.page.skip(at), whole))
        return whole is not None

    def _piece(self, match: re.Match[str]) -> TextPiece | None:
        reader = next(reader for index, reader in enumerate(TEXT_READERS) if match.group(f"r{index}") is not None)
        own = reader.pattern.match(self.page.text, match.start())
        try:
            return reader.read(self.page, own) if own else None
        except ReadError as error:
            return TextPiece(end=max(match.end(), self.page.where(error)), error=error)

    def _ends(self, start: int, piece: TextPiece) -> bool:
        """Take the piece; true where nothing after it counts."""
        if piece.drops:
            # A broken call before it is no thought for sure: its error stays.
            kept = [(at, one) for at, one in self.pieces if one.error is not None and not one.doubtful]
            self.pieces = [(0, piece)] if not kept else [*kept, (start, piece)]
            self._called = False
            return False
        if piece.imagined and self._called:
            self._leave_out(start, "what follows a result that the model imagined")
            return True
        if piece.found is not None and piece.found.calls and self._is_quoted(start, piece):
            quoted = self.page.broken("This call is quoted; whether it is meant cannot be told.", start)
            piece = TextPiece(end=piece.end, error=quoted, doubtful=True)
        self.pieces.append((start, piece))
        self._called = self._called or (piece.found is not None and bool(piece.found.calls))
        if piece.found is not None and piece.found.one_a_turn:
            if _begins(self.page.text, piece.end):
                self._leave_out(piece.end, "what follows the one action of a turn")
            return True
        return False

    def _is_quoted(self, start: int, piece: TextPiece) -> bool:
        """Whether the call stands in quotes, or, in the tokens of a model, in a block of code among words."""
        if is_quoted(self.page.text, start, piece.end):
            return True
        if piece.found is None or not piece.found.marked:
            return False
        number = bisect_right(self._fences, start)
        is_inside = number % 2 == 1 and number < len(self._fences) and self._fences[number] >= piece.end
        if not is_inside or not self.page.text[: self._fences[number - 1]].strip():
            return False
        line_end = self.page.text.find("\n", self._fences[number])
        return line_end >= 0 and self.page.skip(line_end) < len(self.page.text)

    def _leave_out(self, start: int, what: str) -> None:
        self.page.repair(f"left out: {what}", start)
        self.pieces.append((start, TextPiece(end=len(self.page.text), hidden=True)))

    def founds(self) -> list[tuple[int, int, ReaderResult]]:
        """The finds: where each begins and ends, and what it is."""
        return [(start, piece.end, piece.found) for start, piece in self.pieces if piece.found is not None]

    def gaps(self) -> list[tuple[int, int]]:
        """The parts of the text that no call, plan, thought or imagined result takes up."""
        found: list[tuple[int, int]] = []
        at = 0
        for start, piece in self.pieces:
            if piece.found is not None or piece.hidden:
                found.append((at, max(at, start)))
                at = max(at, piece.end)
        return [*found, (at, len(self.page.text))]

    def prose(self) -> str:
        """The text that is meant for people: that between the pieces, and that inside them."""
        between = [self.page.text[start:end] for start, end in self.gaps()]
        inside = [piece.found.prose if piece.found else None for _, piece in self.pieces if piece.found or piece.hidden]
        parts = [between[0]]
        for text, after in zip(inside, between[1:], strict=True):
            parts += [f"\n{text}\n" if text else "", after]
        return _without_fences("".join(parts))


def _begins(text: str, at: int) -> re.Match[str] | None:
    """The first part from there on that a reader may know."""
    for start in range(at, len(text) + 1, _AT_ONCE):
        for found in MAY_BEGIN.finditer(text, start, start + _AT_ONCE + LONGEST_BEGINNING):
            match = _BEGINS.match(text, found.start())
            if match is not None:
                return match
    return None


def _whole(page: Page, start: int) -> TextPiece | None:
    """A text that is one body of a call from here to its end, without any token around it."""
    at = page.skip(start)
    code = read_alone(page, at)
    if code is not None or page.text[at : at + 1] in ("", "{", "<", "`"):
        return code
    yaml = read_yaml_text(page) if start == 0 else None
    if yaml is not None:
        return yaml
    try:
        piece = read_body(page, at, marked=False)
    except ReadError as error:
        # Prose may begin like a call, but not like this.
        return TextPiece(end=len(page.text), error=error) if _HEAD.match(page.text, at) else None
    return piece if piece is not None and _ENDED.match(page.text, piece.end) else None


def _without_fences(text: str) -> str:
    lines = [line for line in text.split("\n") if not re.fullmatch(r"\s*```\w*\s*", line)]
    return _TOKEN.sub("", "\n".join(lines)).strip(f" \t\r\n{_INVISIBLE}")
