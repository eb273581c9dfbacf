"""Ids of steps: which may be written, and which are made where none is given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import get_args

from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.model.plan import Step
from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.notes import Notes, shown

#: What an id, a variable of a loop and a group look like.
PATTERN = r"^[A-Za-z_][A-Za-z0-9_-]*$"
MAX_LENGTH = 128
FORBIDDEN = RESERVED | KEYWORDS
_ID = re.compile(PATTERN[1:-1])
#: Fields in which steps stand.
_WITH_STEPS = ("steps", *(kind.__struct_config__.tag for kind in get_args(Step) if kind.shape.blocks))
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def is_id(text: str) -> bool:
    """The text has the form of an id; whether it is reserved is another matter."""
    return len(text) <= MAX_LENGTH and _ID.fullmatch(text) is not None


class Ids:
    """The ids of one plan: unique in all of it, those that are written before those that are made."""

    def __init__(self, notes: Notes, steps: DocumentNode | None) -> None:
        self._notes = notes
        self._written: set[str] = set()
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}
        if steps is not None:
            self._written.update(_written_ids(steps))

    def choose(self, node: DocumentNode | None, path: str, bare_name: str) -> tuple[str, bool]:
        """The step's id, and whether it was made: the written one where it may stand, else one of `bare_name`."""
        if node is None or node.value is None:
            return self.derive(bare_name), True
        written = self._checked(node, path)
        if written is None:
            return self.derive(node.value if isinstance(node.value, str) else bare_name), True
        self._taken.add(written)
        return written, False

    def derive(self, bare_name: str) -> str:
        """An id that nobody has, made of a tool's bare name: `name`, `name_2`, `name_3`."""
        stem = _OTHER.sub("_", bare_name[: MAX_LENGTH - 8]) or "step"
        if not (stem[0].isalpha() or stem[0] == "_"):
            stem = f"_{stem}"
        number = self._last.get(stem, 0)
        while True:
            number += 1
            made = stem if number == 1 else f"{stem}_{number}"
            if made not in self._taken and made not in self._written and made not in FORBIDDEN:
                self._last[stem] = number
                self._taken.add(made)
                return made

    def _checked(self, node: DocumentNode, path: str) -> str | None:
        written = node.value
        if not isinstance(written, str):
            self._notes.wrong_type(path, node, "An id as text", "Put it in quotes.")
        elif not is_id(written):
            self._notes.error(
                "bad_id",
                f"{shown(written)} cannot be an id.",
                path,
                node,
                hint=f"Use letters, digits, '_' and '-', a letter or '_' first, at most {MAX_LENGTH}.",
            )
        elif written in FORBIDDEN:
            self._notes.error(
                "reserved_id",
                f"The name {written!r} is reserved.",
                path,
                node,
                hint="Choose another id, for example by adding a suffix.",
            )
        elif written in self._taken:
            self._notes.error(
                "duplicate_id",
                f"The id {shown(written)} is used twice.",
                path,
                node,
                hint="Ids are unique in the whole plan.",
            )
        else:
            return written
        return None


def _written_ids(steps: DocumentNode) -> Iterable[str]:
    """The ids that are written anywhere in these steps, in good form or not."""
    pending = [steps]
    while pending:
        node = pending.pop()
        if isinstance(node.value, list):
            pending.extend(node.value)
        elif isinstance(node.value, dict):
            members = node.value
            named = members.get("id")
            if named is not None and isinstance(named.value, str):
                yield named.value
            for key in _WITH_STEPS:
                if key in members:
                    pending.append(members[key])
