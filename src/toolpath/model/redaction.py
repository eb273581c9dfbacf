"""Taking secrets out of what is written: whatever form they stand in, and before anything is cut short. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable

import msgspec

from toolpath.values import Json, encode

#: What stands where a secret stood.
REDACTED = "[redacted]"
#: Shorter ones would blank out ordinary text: they are left.
SHORTEST = 4
#: A number that merely holds the digits of a shorter secret is ordinary.
SHORTEST_DIGITS = 8
#: Characters that quoting may make of one that is no letter or digit, at most, and of one of its bytes.
_MOST_QUOTED = 28
_MOST_QUOTED_BYTE = 19
#: A piece of base64 with fewer characters is found by chance in any picture.
SHORTEST_BASE64 = 6

_ALNUM = re.compile("[A-Za-z0-9]+")
_BACKSLASHES = re.compile(r"\\+")
_HTML = {"&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos"}
_ESCAPED = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f"}
_encoder = msgspec.json.Encoder()
_REDACTED = REDACTED.encode()


class Form:
    """One way in which a secret may stand in a text."""

    __slots__ = ("anchor", "anchor_bytes", "longest", "pattern", "reach")

    def __init__(self, text: str, *, pattern: str = "") -> None:
        runs = _ALNUM.findall(text)
        self.anchor: str = max(runs, key=len, default="")
        """Letters and digits that are in it however it was quoted: where they are not, it is not. May be empty."""
        self.anchor_bytes = self.anchor.encode()
        self.pattern = re.compile(pattern or _quoted(text))
        self.longest: int = sum(map(len, runs)) + sum(map(_most_quoted, _ALNUM.sub("", text)))
        """How many characters it may take, at most."""
        self.reach = 96 * len(text)
        """How far from its anchor it may begin or end, at most."""

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where in the text it stands."""
        if not self.anchor:
            return [match.span() for match in self.pattern.finditer(text)]
        return [match.span() for begin, end in self._near(text) for match in self.pattern.finditer(text, begin, end)]

    def _near(self, text: str) -> list[tuple[int, int]]:
        """The parts of the text round the anchor, that do not overlap: all else needs no look."""
        parts: list[tuple[int, int]] = []
        at = text.find(self.anchor)
        while at >= 0:
            begin, end = max(0, at - self.reach), at + self.reach
            if parts and begin <= parts[-1][1]:
                parts[-1] = parts[-1][0], end
            else:
                parts.append((begin, end))
            at = text.find(self.anchor, at + len(self.anchor))
        return parts


class Redactor:
    """Replaces secret values in text and JSON by `[redacted]`, however they are quoted or encoded.

    Plain, as part of base64 (also of `user:secret`), in hexadecimal, quoted for URLs, HTML, JSON and Python, each of
    them several times over and mixed, and as a number.
    """

    __slots__ = ("_digits", "_forms", "_numbers", "_values", "active")

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.active = False
        """Whether there is anything to take out."""
        self._values: frozenset[str] = frozenset()
        self._forms: tuple[Form, ...] = ()
        self._numbers: frozenset[str] = frozenset()
        self._digits: tuple[str, ...] = ()
        self.add(values)

    def __bool__(self) -> bool:
        return self.active

    @property
    def longest(self) -> int:
        """How many characters a secret may take, at most: of a text that goes on, so many may be a part of one."""
        return max((form.longest for form in self._forms), default=0)

    def add(self, values: Iterable[str]) -> None:
        """Redact these values too. Values under four characters would blank out ordinary text and are left."""
        new = {value for value in values if len(value) >= SHORTEST} - self._values
        if not new:
            return
        self._values |= new
        self._forms += tuple(form for value in sorted(new) for form in _forms_of(value))
        self._numbers |= {text for value in new for text in _numbers_of(value)}
        self._digits = tuple(n for n in self._numbers if n.isdecimal() and len(n) >= SHORTEST_DIGITS)
        self._forms += tuple(Form(number) for number in self._numbers - self._values)
        self.active = True

    def text(self, text: str) -> str:
        """The text without any secret."""
        found = [span for form in self._forms if form.anchor in text for span in form.spans(text)]
        return _without(text, found) if found else text

    def value(self, value: Json) -> Json:
        """The JSON value without any secret, in its keys, texts and numbers; the same object where there was none."""
        if not self.active:
            return value
        match value:
            case str():
                return self.text(value)
            case None | bool():
                return value
            case dict() | list() if not self._may_hold(value):
                return value
            case _:
                clean = self._walked(value)
                return value if clean == value else clean

    def result(self, value: Json, data: bytes) -> tuple[Json, bytes]:
        """The same for a value and its JSON text, which is looked through once."""
        if not self.active or not self._may_be_in(data):
            return value, data
        clean = self._walked(value)
        return (value, data) if clean == value else (clean, encode(clean))

    def finds(self, value: Json) -> bool:
        """Whether the JSON value holds a secret."""
        return self.active and self.value(value) != value

    def _may_hold(self, value: Json) -> bool:
        try:
            return self._may_be_in(_encoder.encode(value))
        except (TypeError, ValueError, RecursionError, OverflowError):
            return True

    def _may_be_in(self, data: bytes) -> bool:
        # Letters and digits stand in JSON as they are: of most values nothing else has to be looked at.
        return any(form.anchor_bytes in data for form in self._forms)

    def _walked(self, value: Json) -> Json:
        match value:
            case str():
                return self.text(value)
            case None | bool():
                return value
            case dict():
                return {self.text(key): self._walked(item) for key, item in value.items()}
            case list():
                return [self._walked(item) for item in value]
            case int() | float():
                return REDACTED if self._is_secret(value) else value
            case _:
                return value

    def _is_secret(self, number: float) -> bool:
        text = str(abs(number)).removesuffix(".0")
        return text in self._numbers or any(digits in text for digits in self._digits)


class RunRedactor(Redactor):
    """Takes out what another one does, and the secrets of one run: of others they would blank out ordinary text."""

    __slots__ = ("_base",)

    def __init__(self, base: Redactor, values: Iterable[str]) -> None:
        self._base = base
        super().__init__(values)
        self.active = True

    @property
    def longest(self) -> int:
        """How many characters a secret may take, at most."""
        return max(super().longest, self._base.longest)

    def text(self, text: str) -> str:
        """The text without any secret."""
        return super().text(self._base.text(text))

    def value(self, value: Json) -> Json:
        """The JSON value without any secret."""
        return super().value(self._base.value(value))

    def result(self, value: Json, data: bytes) -> tuple[Json, bytes]:
        """The same for a value and its JSON text."""
        return super().result(*self._base.result(value, data))


def is_redacted(value: Json) -> bool:
    """Whether a secret was taken out of the value."""
    try:
        # Of most values nothing has to be looked at in Python.
        if _encoder.encode(value).find(_REDACTED) < 0:
            return False
    except (TypeError, ValueError, RecursionError, OverflowError):
        pass
    return _holds_redacted(value)


def _holds_redacted(value: Json) -> bool:
    match value:
        case str():
            return REDACTED in value
        case dict():
            return any(_holds_redacted(item) for item in value.values())
        case list():
            return any(_holds_redacted(item) for item in value)
        case _:
            return False


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with what is covered by any of the spans replaced: a secret inside another goes with it."""
    pieces: list[str] = []
    done, start, until = 0, 0, -1
    for begin, end in sorted(spans):
        if begin > until:
            if until >= 0:
                pieces += [text[done:start], REDACTED]
                done = until
            start = begin
        until = max(until, end)
    return "".join((*pieces, text[done:start], REDACTED, text[until:]))


def _forms_of(value: str) -> list[Form]:
    raw = value.encode("utf-8", "surrogatepass")
    digits = raw.hex()
    forms = [Form(value)]
    forms += [Form(case, pattern=f"(?i:{digits})") for case in dict.fromkeys((digits, digits.upper()))]
    return forms + [Form(core, pattern=_base64_pattern(core)) for core in _base64_cores(raw)]


def _base64_cores(raw: bytes) -> list[str]:
    """The characters that base64 of any text with these bytes has, for each of the three places they may begin at."""
    cores = {base64.b64encode(raw).decode().rstrip("=")}
    for before in range(3):
        written = base64.b64encode(bytes(before) + raw).decode()
        first, last = -(-8 * before // 6), 8 * (before + len(raw)) // 6
        if last - first >= SHORTEST_BASE64:
            cores.add(written[first:last])
    return sorted(cores, key=len, reverse=True)


def _base64_pattern(core: str) -> str:
    """Of both alphabets, also quoted for a URL."""
    other = {"+": "[+-]", "/": "[/_]"}
    return "".join(f"(?:{other[c]}|{_quoted(c)})" if c in other else c for c in core)


def _numbers_of(value: str) -> set[str]:
    """How the secret is written where it stands as a number, if it is one."""
    try:
        numbers = [float(value)] if value.strip("+-0123456789") else [int(value)]
    except ValueError:
        return set()
    texts = {str(abs(number)).removesuffix(".0") for number in numbers if number == number}  # noqa: PLR0124  # not NaN
    return {text for text in texts if len(text) >= SHORTEST}


def _quoted(text: str) -> str:
    """A pattern of the text as it is, and as quoted for URLs, HTML, JSON or Python, up to four times over.

    Every repetition in it is bounded: no text makes it slow.
    """
    parts, at = [], 0
    while at < len(text):
        run = _BACKSLASHES.match(text, at)
        if run is not None:
            count = run.end() - at
            parts.append(rf"(?:\\{{{count},{16 * count}}}|(?:{'|'.join(_encoded(chr(92)))}){{{count}}})")
            at = run.end()
            continue
        parts.append(_any_of(text[at], after_backslash=text[at - 1 : at] == "\\"))
        at += 1
    return "".join(parts)


def _most_quoted(char: str) -> int:
    return max(_MOST_QUOTED, _MOST_QUOTED_BYTE * len(char.encode("utf-8", "surrogatepass")))


def _any_of(char: str, *, after_backslash: bool) -> str:
    if _ALNUM.fullmatch(char):
        return char
    ways = [re.escape(char), *_encoded(char)]
    if char == " ":
        ways += [r"\+", r"%(?:25){0,4}2[bB]"]
    if char in _HTML:
        ways.append(f"&(?:amp;){{0,4}}{_HTML[char]};")
    if char in _ESCAPED:
        ways.append(rf"\\{{1,16}}{_ESCAPED[char]}")
    if char in "\"'/" and not after_backslash:
        ways.append(rf"\\{{1,16}}{char}")
    return f"(?:{'|'.join(ways)})"


def _encoded(char: str) -> list[str]:
    """The character by its number, as URLs, HTML, JSON and Python write it."""
    code, raw = ord(char), char.encode("utf-8", "surrogatepass")
    units = char.encode("utf-16-be", "surrogatepass").hex()
    ways = [
        "".join(f"%(?:25){{0,4}}(?i:{byte:02x})" for byte in raw),
        rf"&(?:amp;){{0,4}}#(?:0{{0,6}}{code}|[xX]0{{0,6}}(?i:{code:x}));",
        "".join(rf"\\{{1,16}}u(?i:{units[at : at + 4]})" for at in range(0, len(units), 4)),
        "".join(rf"\\{{1,16}}x(?i:{byte:02x})" for byte in raw),
    ]
    if code < 256 and len(raw) > 1:
        ways.append(rf"\\{{1,16}}x(?i:{code:02x})")
    elif code > 0xFFFF:
        ways.append(rf"\\{{1,16}}U(?i:{code:08x})")
    return ways
