"""Types that filters and tests need and give. Pure; a judge keeps what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final

from toolpath.checks.kinds import NUMERIC
from toolpath.checks.operators import GROUPS, computes, is_zero
from toolpath.checks.shapes import NEVER, Type, either, list_of, object_of, tuple_of
from toolpath.checks.walker import Walker
from toolpath.expressions import tree
from toolpath.expressions.table import FILTERS, TESTS
from toolpath.expressions.tree import Tree

_TEXT: Final[Type] = {"type": "string"}
_BOOLEAN: Final[Type] = {"type": "boolean"}
_INTEGER: Final[Type] = {"type": "integer"}
_NUMBER: Final[Type] = {"type": "number"}
_NUMBERS: Final = frozenset({"number", "integer"})
_SIZED: Final = frozenset({"array", "object", "string"})

_FILTERS: Final[dict[Callable[..., object], str]] = {function.call: name for name, function in FILTERS.items()}
_TESTS: Final[dict[Callable[..., object], str]] = {function.call: name for name, function in TESTS.items()}

#: What the subject has to be; of filters that are not named it may be anything.
_SUBJECTS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("abs", "round", "filesizeformat", "even", "odd", "divisibleby"), _NUMBERS),
    **dict.fromkeys(
        ("all", "any", "batch", "flatten", "groupby", "join", "max", "min", "slice", "sort"), frozenset({"array"})
    ),
    **dict.fromkeys(("sum", "unique"), frozenset({"array"})),
    **dict.fromkeys(
        ("capitalize", "center", "indent", "lower", "replace", "split", "title", "trim"), frozenset({"string"})
    ),
    **dict.fromkeys(("truncate", "upper", "wordcount", "wordwrap"), frozenset({"string"})),
    **dict.fromkeys(("count", "length", "list"), _SIZED),
    **dict.fromkeys(("first", "last", "reverse"), frozenset({"array", "string"})),
    **dict.fromkeys(("dictsort", "items", "keys", "values"), frozenset({"object"})),
    "urlencode": frozenset({"string", "object"}),
}
#: What arguments have to be, where not anything will do.
_ARGUMENTS: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("separator", "old", "new", "end", "chars"), frozenset({"string"})),
    **dict.fromkeys(("size", "count", "limit", "precision", "leeway", "length", "base"), frozenset({"integer"})),
    **dict.fromkeys(("by",), frozenset({"number", "integer", "string"})),
}
#: The least that an argument may be.
_LEAST: Final = {("batch", "size"): 1, ("slice", "count"): 1, ("wordwrap", "width"): 1}
#: Arguments for which null is as if they were not given.
_MAY_BE_NULL: Final = {("trim", "chars"), ("replace", "count"), ("split", "separator"), ("split", "limit")}


def name_of(of: tree.Apply) -> str:
    """The filter as it is written; empty for a test."""
    return _FILTERS.get(of.function, "")


def applied(judge: Walker, of: tree.Apply) -> Type:
    """A filter or test."""
    name = _FILTERS.get(of.function) or _TESTS.get(of.function, "")
    subject = judge.type(of.subject)
    wanted = _SUBJECTS.get(name)
    if wanted is not None:
        subject = judge.need(of.subject, subject, wanted, f"{name} needs {_listed(wanted)}")
    key: Type = None
    given: dict[str, Tree] = {}
    for argument, value in of.arguments:
        if isinstance(value, tree.Lambda):
            key = judge.called(value, subject, of.subject)
            given["key"] = value
        else:
            _argument(judge, name, argument, value)
            given[argument] = value
    if of.function in _TESTS:
        return _BOOLEAN
    ranked = key if "key" in given else judge.kinds.items(subject)
    return _Result(judge, of, name, subject, given, ranked).type()


def _argument(judge: Walker, name: str, argument: str, value: Tree) -> None:
    found = judge.type(value)
    wanted = _ARGUMENTS.get(argument)
    if argument == "width":
        wanted = frozenset({"integer", "string"}) if name == "indent" else frozenset({"integer"})
    if name == "dictsort" or (argument == "length" and name != "truncate"):
        wanted = None
    if argument == "by" and name == "divisibleby":
        found = judge.need(value, found, _NUMBERS, "divisibleby needs a number")
        if judge.kinds.may_be_zero(found):
            judge.mismatch("it divides by what may be 0", is_zero(value), value)
        return
    if argument == "indent":
        wanted = frozenset({"integer", "null"})
    if wanted is None:
        if argument in ("method", "by") and not isinstance(value, tree.Literal_):
            judge.mismatch(f"{argument} of {name} is written out", False, value)
        return
    if (name, argument) in _MAY_BE_NULL:
        wanted = wanted | {"null"}
    found = judge.need(value, found, wanted, f"{argument} of {name} is {_listed(wanted - {'null'})}")
    least = _LEAST.get((name, argument))
    if least is not None and judge.kinds.least(found) < least:
        judge.mismatch(f"{argument} of {name} is at least {least}", isinstance(value, tree.Literal_), value)
    if (name, argument) == ("split", "separator") and not judge.kinds.is_filled(judge.kinds.only(found, {"string"})):
        judge.mismatch("the separator of split may be empty", isinstance(value, tree.Literal_), value)


class _Result:
    """Type that one filter gives."""

    __slots__ = ("given", "judge", "kinds", "name", "of", "ranked", "subject")

    def __init__(
        self, judge: Walker, of: tree.Apply, name: str, subject: Type, given: dict[str, Tree], ranked: Type
    ) -> None:
        self.judge = judge
        self.kinds = judge.kinds
        self.of = of
        self.name = name
        self.subject = subject
        self.given = given
        self.ranked = ranked

    def type(self) -> Type:  # noqa: C901, PLR0912  # one case a filter
        """The type of what it gives."""
        judge, kinds, subject = self.judge, self.kinds, self.subject
        is_filled = kinds.is_filled(subject)
        match self.name:
            case "abs":
                kind = "integer" if kinds.names(subject) == frozenset({"integer"}) else "number"
                return {"type": kind, "minimum": 0}
            case "length" | "count":
                return {"type": "integer", "minimum": 1 if is_filled else 0}
            case "first" | "last":
                return self._end()
            case "min" | "max":
                self._ranks(self.ranked)
                if not is_filled:
                    judge.empty(self.of.subject, self.name)
                return kinds.items(subject)
            case "sum":
                return self._sum()
            case "sort" | "unique":
                if self.name == "sort":
                    self._ranks(self.ranked)
                return judge.listed(kinds.items(subject), is_filled)
            case "groupby":
                self._ranks(self.ranked)
                group = object_of({"grouper": self.ranked, "list": judge.listed(kinds.items(subject), True)})
                return judge.listed(group, is_filled)
            case "reverse":
                return self._reversed(is_filled)
            case "batch" | "slice":
                fill = self.given.get("fill")
                items = kinds.items(subject)
                items = either([items, judge.type(fill)]) if fill is not None else items
                return judge.listed(list_of(items), is_filled or self.name == "slice")
            case "flatten":
                return self._flat()
            case _:
                return self._other(is_filled)

    def _other(self, is_filled: bool) -> Type:
        judge, kinds, subject = self.judge, self.kinds, self.subject
        match self.name:
            case "list":
                parts: list[Type] = []
                names = kinds.names(subject) or {"array"}
                if "array" in names:
                    parts.append(kinds.items(kinds.only(subject, {"array"})))
                return judge.listed(either([*parts, *([_TEXT] if names - {"array"} else [])]), is_filled)
            case "keys":
                return judge.listed(_TEXT, is_filled)
            case "values":
                return judge.listed(kinds.values(subject), is_filled)
            case "items" | "dictsort":
                values = kinds.values(subject)
                by = self.given.get("by")
                if isinstance(by, tree.Literal_) and by.value == "value":
                    self._ranks(values)
                return judge.listed(tuple_of([_TEXT, values]), is_filled)
            case "split":
                return judge.listed(_TEXT, "separator" in self.given)
            case "int" | "float":
                plain = _INTEGER if self.name == "int" else _NUMBER
                otherwise = self.given.get("default")
                return plain if otherwise is None else either([plain, judge.type(otherwise)])
            case name:
                gives = FILTERS[name].gives if name in FILTERS else None
                return None if gives is None else {"type": gives}

    def _end(self) -> Type:
        kinds, subject = self.kinds, self.subject
        if not kinds.is_filled(subject):
            self.judge.empty(self.of.subject, self.name)
        names = kinds.names(subject)
        if names is None:
            return None
        at = 0 if self.name == "first" else -1
        parts: list[Type] = []
        if "array" in names:
            lists = kinds.only(subject, {"array"})
            parts.append(kinds.child(lists, at) if at == 0 and kinds.has(lists, at) else kinds.items(lists))
        parts += [{"type": "string", "minLength": 1}] if "string" in names else []
        return either(parts) if parts else NEVER

    def _reversed(self, is_filled: bool) -> Type:
        names = self.kinds.names(self.subject)
        if names is None:
            return None
        lists = self.kinds.only(self.subject, {"array"})
        parts: list[Type] = [self.judge.listed(self.kinds.items(lists), is_filled)] if "array" in names else []
        return either([*parts, *([_TEXT] if "string" in names else [])]) if names else NEVER

    def _flat(self) -> Type:
        items = self.kinds.items(self.subject)
        names = self.kinds.names(items)
        if names is None:
            return list_of(None)
        inner = self.kinds.items(self.kinds.only(items, {"array"})) if "array" in names else NEVER
        others = self.kinds.only(items, {"null", "boolean", "number", "string", "object"})
        return list_of(either([inner, others]))

    def _sum(self) -> Type:
        start = self.given.get("start")
        first = _INTEGER if start is None else self.judge.type(start)
        ones, others = self.kinds.names(first), self.kinds.names(self.ranked)
        if others is None or ones is None:
            self.judge.note_unknown(self.of.subject)
            return None
        pairs = [(one, other) for one in ones for other in others]
        if not all(computes("add", *pair) for pair in pairs):
            fitting = any(computes("add", *pair) for pair in pairs)
            message = f"sum adds {self.kinds.text(first)} and {self.kinds.text(self.ranked)}, which cannot be computed"
            self.judge.mismatch(message, False if fitting else self.kinds.is_filled(self.subject), self.of.subject)
        names = ones | others
        if names <= NUMERIC:
            return _INTEGER if names <= {"integer"} else _NUMBER
        return {"type": "string"} if names == {"string"} else None

    def _ranks(self, of: Type) -> None:
        """Report values that are put in order and are not of one kind besides null."""
        names = self.kinds.names(of)
        if names is None:
            self.judge.note_unknown(self.of.subject)
            return
        groups = {GROUPS.get(name, name) for name in names} - {"null"}
        if "object" in groups:
            hint = "Say what to go by: attribute='…' or a lambda."
            self.judge.mismatch(
                f"{self.name} puts objects in order, which have none", False, self.of.subject, hint=hint
            )
        elif len(groups) > 1:
            self.judge.mismatch(
                f"{self.name} puts {self.kinds.text(of)} in order, which have none in common", False, self.of.subject
            )
        if "array" in groups:
            inner = self.kinds.names(self.kinds.items(self.kinds.only(of, {"array"})))
            if inner is None or inner & {"array", "object"}:
                self.judge.mismatch(
                    f"{self.name} puts lists in order that may hold lists or objects", False, self.of.subject
                )


def _listed(kinds: AbstractSet[str]) -> str:
    words = {"array": "a list", "string": "text", "object": "an object", "number": "a number", "integer": "an integer"}
    named = [words[kind] for kind in ("array", "string", "object", "number", "integer") if kind in kinds]
    if "a number" in named:
        named = [name for name in named if name != "an integer"]
    return " or ".join(named)
