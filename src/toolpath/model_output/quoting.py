"""Quotation of a part of a text: by backticks or quotation marks in a line of words, or by the line's mark. Pure."""

from __future__ import annotations

import re

#: What may stand in a line that is nothing but the quoted part: the mark of a list, or words that say what comes.
_ANNOUNCES = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d{1,4}[.)][ \t]+)?(?:[^\n]*:)?[ \t*_]*")
_NOTHING_MORE = re.compile(r"[ \t.;,*_]*(?=\n|\Z)")
#: Tags and tokens around a call, and what goes with them.
_TAG = r"(?:[ \u00a0\u202f]|<[^<>\n`]{1,60}>)"
_TAGS_BEFORE = re.compile(rf"{_TAG}{{1,9}}\Z")
_ENDED = re.compile(rf"{_TAG}{{0,9}}")
_FAR, _NEAR = 1_000, 200
#: What holds texts of any author, and remarks that no page shows.
_HOLDS = re.compile(
    r"(?:<(?:examples?|documents?|context|quote|blockquote|page|source|history|e?mail)(?:\s[^<>\n]{0,100})?>|<!--)\s*\Z"
)
#: What says that an example comes, at the end of a line, in the four languages; the opening of a block may stand below.
_EXAMPLE = re.compile(
    r"(?:\b(?:examples?|for instance|beispiel|beispielsweise|exemples?|ejemplos?)\b|\be\. ?g\.|\bz\. ?b\.|\bp\. ?ex\.)"
    r"[^\n.!?]{0,40}[:,]?[ \t*]*(?:\n\s{0,9}|(?<=[\s:,]))(?:```\w*\s{0,9})?[`\"]?\Z",
    re.IGNORECASE,
)
_QUOTING = re.compile(r"[ \t]*>[ \t]")
#: An opening sign and those that close it.
_CLOSING = {
    "``": ("``",),
    "`": ("`",),
    '"': ('"',),
    "'": ("'",),
    "\u201c": ("\u201d", "\u201c"),
    "\u201e": ("\u201c", "\u201d"),
    "\u2018": ("\u2019",),
    "\u201a": ("\u2018", "\u2019"),
    "\u00ab": ("\u00bb",),
    "\u00bb": ("\u00ab",),
}


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether the part from `start` to `end` is quoted among other words: somebody's call, or an example of one."""
    line_start = text.rfind("\n", 0, start) + 1
    above = text[max(0, start - _NEAR) : start]
    if _QUOTING.match(text, line_start, start) or _HOLDS.search(above) or _EXAMPLE.search(above):
        return True
    before = _TAGS_BEFORE.sub("", text[max(line_start, start - _FAR) : start])
    # Three of them are a fence.
    if before.endswith("```"):
        return False
    opening = next((sign for sign in _CLOSING if before.endswith(sign)), "")
    ended = _ENDED.match(text, end)
    at = ended.end() if ended else end
    closing = next((sign for sign in _CLOSING.get(opening, ()) if text.startswith(sign, at)), "")
    if not closing:
        return False
    behind = at + len(closing)
    is_all = _ANNOUNCES.fullmatch(before.removesuffix(opening)) and _NOTHING_MORE.match(text, behind)
    return not is_all
