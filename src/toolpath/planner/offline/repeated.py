"""Rows of values that a text says in one way: `3 and 4, 5 and 12`, `2 of 8, 5 of 20 and 7 of 30`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from toolpath.planner.offline.assigned_mentions import MOST_CALLS
from toolpath.planner.offline.mention import Mention
from toolpath.planner.offline.slots import Slot

_BARE = re.compile(r"[\s,;]*")
_BETWEEN_ROWS = re.compile(r"[,;]|\band\b|\bor\b", re.IGNORECASE)

_WORD = re.compile(r"[^\W\d]+")
_JOINING = frozenset(("and", "or", "then", "also", "finally", "of", "for", "the", "a", "an", "as", "well", "with"))
#: Values of a row.
_WIDEST = 4
_NUMERIC = ("integer", "number")


def rows(slots: Sequence[Slot], text: str, said: Sequence[Mention]) -> list[str] | None:
    """The text once for each row, without the other rows; None where it has no rows.

    `said`: what the text mentions, in its order. A row has two values or more, between which the same words stand in
    each row; between rows there is a comma or a conjunction, and it is another one than inside them.
    """
    for width in range(2, _WIDEST + 1):
        for at in range(len(said) - 2 * width + 1):
            count = _count(text, said[at:], width)
            if count < 2 or not _fits(slots, said[at : at + width]):
                continue
            last = said[at + count * width - 1]
            edges = [(said[at + row * width].start, said[at + (row + 1) * width - 1].end) for row in range(count)]
            tail = text[last.end :]
            return [f"{text[: said[at].start]}{text[start:end]}{tail}" for start, end in edges]
    return None


def _count(text: str, said: Sequence[Mention], width: int) -> int:
    """How many rows of so many values begin with the first of what is said."""
    inner = [_words(text, left, right) for left, right in pairwise(said[:width])]
    if len(inner) < width - 1 or any(_BARE.fullmatch(words) for words in inner):
        return 0
    kinds = [one.kind for one in said[:width]]
    count = 1
    while count < MOST_CALLS and len(said) >= (count + 1) * width:
        row = said[count * width : (count + 1) * width]
        edge = text[said[count * width - 1].end : row[0].start]
        own = [_words(text, left, right) for left, right in pairwise(row)]
        if (
            own != inner
            or [one.kind for one in row] != kinds
            or not _is_edge(edge, inner, _beside(text, said[0], row[-1]))
        ):
            break
        count += 1
    return count


def _beside(text: str, first: Mention, last: Mention) -> frozenset[str]:
    """Words that belong to each row: those before the first one, and those at the end of the next or after it."""
    before, after = text[max(0, first.start - 40) : first.start], text[last.end : last.end + 60]
    words = (
        *_WORD.findall(before.lower())[-2:],
        *_WORD.findall(after.lower())[:3],
        *_WORD.findall(last.text.lower())[-1:],
    )
    return frozenset(words)


def _is_edge(edge: str, inner: Sequence[str], shared: frozenset[str]) -> bool:
    """Whether the text between two rows joins them and says nothing of its own.

    What belongs to each row, as `rounds` in `2 of 8 rounds, 5 of 9 rounds`, is nothing of its own.
    """
    plain = " ".join(edge.lower().split())
    if not _BETWEEN_ROWS.search(edge) or plain in inner or "." in edge:
        return False
    return all(word in _JOINING or word in shared for word in _WORD.findall(plain))


def _words(text: str, left: Mention, right: Mention) -> str:
    return " ".join(text[left.end : right.start].lower().split())


def _fits(slots: Sequence[Slot], row: Sequence[Mention]) -> bool:
    """Whether the tool needs a value for each of the row, of the kind that it is."""
    needed = [slot for slot in slots if slot.required]
    numbers = sum(slot.type in _NUMERIC for slot in needed)
    lists = sum(slot.type == "array" for slot in needed)
    texts = sum(slot.type == "string" for slot in needed)
    said = [one.kind for one in row]
    in_numbers = said.count("number")
    in_lists = said.count("list")
    return in_numbers <= numbers and in_lists <= lists and len(said) - in_numbers - in_lists <= texts
