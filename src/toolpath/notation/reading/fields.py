"""A mapping read field by field: aliases, types, choices, and a finding for whatever is left over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from toolpath.notation.nodes import DocumentNode
from toolpath.notation.reading.durations import DAY, HINT, seconds
from toolpath.notation.reading.notes import Notes, alike, below, shown
from toolpath.values import Json, JsonObject

Value = TypeVar("Value")
#: Text that other notations read as true or false.
_FLAGS = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "n", "0", "none", "never"), "false"),
}


class Fields:
    """The members of one mapping while they are read. What is not of its type is noted and counts as not given."""

    def __init__(self, node: DocumentNode, path: str, notes: Notes) -> None:
        self.node = node
        self.path = path
        self.notes = notes
        self.members: dict[str, DocumentNode] = node.value if isinstance(node.value, dict) else {}
        self._read: set[str] = set()
        if node.repeats:
            notes.repeats(path, node)

    @classmethod
    def of(cls, node: DocumentNode, path: str, notes: Notes, hint: str = "") -> Fields | None:
        """The fields of a node that must be a mapping; None, and a finding, where it is none."""
        notes.place(path, node)
        if isinstance(node.value, dict):
            return cls(node, path, notes)
        notes.wrong_type(path, node, "A mapping", hint)
        return None

    def node_of(self, name: str, *aliases: str) -> DocumentNode | None:
        """The field's node under whichever of its names it is given; null counts as not given."""
        found: DocumentNode | None = None
        given = ""
        for candidate in (name, *aliases):
            node = self.members.get(candidate)
            if node is None:
                continue
            self._read.add(candidate)
            if node.value is None:
                continue
            if found is None:
                found, given = node, candidate
            else:
                self.notes.error(
                    "alias_twice",
                    f"'{given}' and '{candidate}' are two names of one field; both are given.",
                    below(self.path, name),
                    node,
                    hint=f"Keep '{name}' alone.",
                )
        if found is not None and found.line:
            self.notes.place(below(self.path, name), found)
        return found

    def require(self, name: str, *aliases: str, hint: str = "") -> DocumentNode | None:
        """The field's node; where it is not given, a finding."""
        node = self.node_of(name, *aliases)
        if node is None:
            self.notes.missing(below(self.path, name), name, self.members.get(name, self.node), hint)
        return node

    def text(self, name: str, *aliases: str, default: str = "") -> str:
        """A text; numbers count as they are written, so that `version: 1.10` stays what it is."""
        return self.optional_text(name, *aliases) or default

    def optional_text(self, name: str, *aliases: str) -> str | None:
        """A text, or None where it is not given."""
        node = self.node_of(name, *aliases)
        return None if node is None else self.text_in(node, below(self.path, name))

    def text_in(self, node: DocumentNode, path: str) -> str | None:
        """The text of a node; else a finding."""
        if isinstance(node.value, str):
            return node.value
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return node.written or str(node.value)
        self.notes.wrong_type(path, node, "Text", "Put it in quotes." if isinstance(node.value, bool) else "")
        return None

    def flag(self, name: str, default: bool, *aliases: str) -> bool:
        """True or false."""
        node = self.node_of(name, *aliases)
        if node is None:
            return default
        if isinstance(node.value, bool):
            return node.value
        meant = _FLAGS.get(node.value.strip().lower()) if isinstance(node.value, str) else None
        hint = "" if meant is None else f"Write {name}: {meant}, without quotes."
        self.notes.wrong_type(below(self.path, name), node, "true or false", hint)
        return default

    def number(self, name: str, *, least: float = 0.0, most: float | None = None) -> float | None:
        """A number within bounds, or None where none is given."""
        node = self.node_of(name)
        if node is None:
            return None
        path = below(self.path, name)
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            self.notes.wrong_type(path, node, "A number", _without_quotes(name, node))
            return None
        # Comparing before converting: an integer may be larger than any float.
        if node.value < least or node.value > (1e300 if most is None else most):
            bounds = f"at least {least:g}" if most is None else f"from {least:g} to {most:g}"
            self.notes.error("unknown_value", f"A number {bounds} is expected here.", path, node)
            return None
        return float(node.value)

    def integer(self, name: str, *aliases: str, least: int = 0) -> int | None:
        """A whole number, or None where none is given."""
        node = self.node_of(name, *aliases)
        if node is None:
            return None
        path = below(self.path, name)
        value = node.value
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.notes.wrong_type(path, node, "A whole number", _without_quotes(name, node))
            return None
        if not least <= value < 2**53:
            self.notes.error("unknown_value", f"A whole number of at least {least} is expected here.", path, node)
            return None
        return value

    def duration(self, name: str, *, zero: bool = False) -> float | None:
        """Seconds, or None where no duration is given."""
        node = self.node_of(name)
        if node is None:
            return None
        found = seconds(node.value)
        if found is None or (found == 0 and not zero):
            self.notes.error(
                "bad_duration",
                f"{shown(node.value) if not isinstance(node.value, dict | list) else 'This'} is no duration.",
                below(self.path, name),
                node,
                hint=HINT,
            )
            return None
        return found

    def time_limit(self, name: str, *, named: bool = True) -> float | None:
        """As `duration`, with a warning above a day: most of these are milliseconds taken for seconds.

        Without `named`, one that names its unit is taken as meant.
        """
        found = self.duration(name)
        node = self.members.get(name)
        if found is not None and found > DAY and node is not None and (named or not isinstance(node.value, str)):
            hint = f"Seconds are expected; if these are milliseconds, write {shown(node.value).strip(chr(39))}ms."
            self.notes.warning(
                "unlikely_timeout",
                f"A time-out of {found / DAY:,.1f} days hardly ends anything.",
                below(self.path, name),
                node,
                hint=hint if not isinstance(node.value, str) else "Write a shorter one, or none.",
            )
        return found

    def choice(self, name: str, choices: tuple[str, ...], *aliases: str) -> str | None:
        """One of the words, or None where none is given."""
        node = self.node_of(name, *aliases)
        return None if node is None else self.choice_in(node, below(self.path, name), choices)

    def choice_in(self, node: DocumentNode, path: str, choices: tuple[str, ...], message: str = "") -> str | None:
        """The node as one of the words; else a finding."""
        if isinstance(node.value, str) and node.value in choices:
            return node.value
        if not isinstance(node.value, str):
            self.notes.wrong_type(path, node, f"One of {', '.join(choices)}")
            return None
        self.notes.error(
            "unknown_value",
            message or f"{shown(node.value)} is not known here.",
            path,
            node,
            hint=f"Use one of: {', '.join(choices)}.",
            suggestions=alike(node.value, choices),
        )
        return None

    def json(self, name: str, *aliases: str) -> Json:
        """Any JSON value; None where none is given."""
        node = self.node_of(name, *aliases)
        return None if node is None else self.notes.value(below(self.path, name), node)

    def mapping(self, name: str, *aliases: str) -> JsonObject:
        """A mapping of any JSON values; {} where none is given."""
        node = self.node_of(name, *aliases)
        if node is None:
            return {}
        path = below(self.path, name)
        if not isinstance(node.value, dict):
            hint = "Write inputs: {name: value}." if name == "inputs" else ""
            self.notes.wrong_type(path, node, "A mapping", hint)
            return {}
        found: JsonObject = self.notes.value(path, node)
        return found

    def texts(self, name: str, *aliases: str) -> tuple[str, ...]:
        """A list of texts; a single text is a list of one."""
        node = self.node_of(name, *aliases)
        if node is None:
            return ()
        path = below(self.path, name)
        if isinstance(node.value, str):
            return (node.value,)
        if not isinstance(node.value, list):
            self.notes.wrong_type(path, node, "A list of texts")
            return ()
        found: list[str] = []
        for index, item in enumerate(node.value):
            if isinstance(item.value, str):
                self.notes.place(below(path, index), item)
                found.append(item.value)
            else:
                self.notes.wrong_type(below(path, index), item, "Text")
        return tuple(found)

    def inside(self, name: str, read: Callable[[Fields], Value], hint: str = "") -> Value | None:
        """The value that `read` makes of the mapping in this field; None where none is given or it is none."""
        node = self.node_of(name)
        if node is None:
            return None
        fields = Fields.of(node, below(self.path, name), self.notes, hint)
        return None if fields is None else read(fields)

    def ignore(self, *names: str) -> None:
        """Count these fields as read."""
        self._read.update(names)

    @property
    def are_read(self) -> bool:
        """Whether somebody has read each of them."""
        return self._read.issuperset(self.members)

    def finish(self, what: str, known: Iterable[str], hints: dict[str, str] | None = None, otherwise: str = "") -> None:
        """Note every field that nobody has read; `what` names the mapping in the message.

        `hints`: what to do about some of them; `otherwise`: about one that is like none that is known.
        """
        if self.are_read:
            return
        names = tuple(known)
        for key, node in self.members.items():
            if key in self._read:
                continue
            place = (node.key_line, node.key_column) if node.key_line else None
            hint = (hints or {}).get(key, "")
            suggestions = alike(key, names)
            if not suggestions and not hint:
                hint = f"{otherwise}It knows: {', '.join(sorted(names))}."
            self.notes.error(
                "unknown_field",
                f"{what} has no field {shown(key)}.",
                below(self.path, key),
                place,
                hint=hint,
                suggestions=suggestions,
            )


def _without_quotes(name: str, node: DocumentNode) -> str:
    """The hint for a number that is written as text."""
    written = node.value.strip() if isinstance(node.value, str) else ""
    return f"Write {name}: {written}, without quotes." if written.isdecimal() else ""
