"""The filters and tests of the language: one visible list, with their parameters and what they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from msgspec import Struct

from toolpath.expressions import lists, predicates, texts
from toolpath.values import JsonObject


class Function(Struct, frozen=True):
    """A filter or test: called with the budget, the subject, and its parameters by name."""

    call: Callable[..., Any]
    parameters: tuple[str, ...] = ()
    required: int = 0
    """So many of the parameters must be given."""
    gives: str | None = None
    """JSON type of the result; None: depends."""
    by: Literal["attribute", "key"] | None = None
    """Takes a lambda or `attribute=` that says what to go by; `attribute`: a text that comes first is one too."""
    builds: bool = False
    """The result may hold an element more than once, or in new lists."""

    @property
    def schema(self) -> JsonObject | None:
        """The schema of the result, as far as it is known."""
        return None if self.gives is None else {"type": self.gives}


_fold = ("case_sensitive",)
FILTERS: Final[Mapping[str, Function]] = {
    "abs": Function(texts.absolute, gives="number"),
    "all": Function(lists.all_of, gives="boolean", by="attribute"),
    "any": Function(lists.any_of, gives="boolean", by="attribute"),
    "batch": Function(lists.batch, ("size", "fill"), 1, "array", builds=True),
    "capitalize": Function(texts.capitalize, gives="string"),
    "center": Function(texts.center, ("width",), gives="string"),
    "count": Function(lists.length, gives="integer"),
    "dictsort": Function(lists.dictsort, ("case_sensitive", "by", "reverse"), gives="array", builds=True),
    "filesizeformat": Function(texts.filesizeformat, ("binary",), gives="string"),
    "first": Function(lists.first),
    "flatten": Function(lists.flatten, gives="array"),
    "float": Function(texts.to_float, ("default",), gives="number"),
    "groupby": Function(lists.groupby, _fold, gives="array", by="attribute", builds=True),
    "indent": Function(texts.indent, ("width", "first", "blank"), gives="string"),
    "int": Function(texts.to_int, ("default", "base"), gives="integer"),
    "items": Function(lists.items, gives="array", builds=True),
    "join": Function(lists.join, ("separator",), gives="string", by="key"),
    "json": Function(texts.to_json, ("indent",), gives="string"),
    "keys": Function(lists.keys, gives="array"),
    "last": Function(lists.last),
    "length": Function(lists.length, gives="integer"),
    "list": Function(lists.to_list, gives="array"),
    "lower": Function(texts.lower, gives="string"),
    "max": Function(lists.greatest, _fold, by="attribute"),
    "min": Function(lists.least, _fold, by="attribute"),
    "replace": Function(texts.replace, ("old", "new", "count"), 2, "string"),
    "reverse": Function(lists.reverse),
    "round": Function(texts.rounded, ("precision", "method"), gives="number"),
    "slice": Function(lists.pieces, ("count", "fill"), 1, "array", builds=True),
    "sort": Function(lists.sort, ("reverse", "case_sensitive"), gives="array", by="attribute"),
    "split": Function(texts.split, ("separator", "limit"), gives="array"),
    "string": Function(texts.string, gives="string"),
    "sum": Function(lists.total, ("start",), by="attribute", builds=True),
    "title": Function(texts.title, gives="string"),
    "tojson": Function(texts.to_json, ("indent",), gives="string"),
    "trim": Function(texts.trim, ("chars",), gives="string"),
    "truncate": Function(texts.truncate, ("length", "killwords", "end", "leeway"), gives="string"),
    "unique": Function(lists.unique, _fold, gives="array", by="attribute"),
    "upper": Function(texts.upper, gives="string"),
    "urlencode": Function(texts.urlencode, gives="string"),
    "values": Function(lists.values, gives="array"),
    "wordcount": Function(texts.wordcount, gives="integer"),
    "wordwrap": Function(texts.wordwrap, ("width", "break_long_words"), gives="string"),
}
#: Filters that the compiler knows by itself, since they take functions or look at what is not there.
SPECIAL_FILTERS: Final = frozenset({"default", "d", "filter", "map", "select", "reject", "selectattr", "rejectattr"})
#: Filters and tests of Jinja that reach beyond JSON, or are for other texts than these.
FORBIDDEN: Final = frozenset(
    {"attr", "format", "xmlattr", "escape", "e", "safe", "forceescape", "urlize", "striptags", "random", "pprint"}
    | {"callable", "test", "sameas", "escaped"}
)

TESTS: Final[Mapping[str, Function]] = {
    "boolean": Function(predicates.is_boolean),
    "divisibleby": Function(predicates.is_divisible, ("by",), 1),
    "even": Function(predicates.is_even),
    "false": Function(predicates.is_false),
    "float": Function(predicates.is_float),
    "integer": Function(predicates.is_integer),
    "iterable": Function(predicates.is_iterable),
    "lower": Function(predicates.is_lower),
    "mapping": Function(predicates.is_mapping),
    "number": Function(predicates.is_number),
    "odd": Function(predicates.is_odd),
    "sequence": Function(predicates.is_sequence),
    "string": Function(predicates.is_string),
    "true": Function(predicates.is_true),
    "upper": Function(predicates.is_upper),
}
#: Tests that are comparisons under another name.
COMPARING_TESTS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("eq", "equalto", "=="), "eq"),
    **dict.fromkeys(("ne", "!="), "ne"),
    **dict.fromkeys(("lt", "lessthan", "<"), "lt"),
    **dict.fromkeys(("le", "<="), "lteq"),
    **dict.fromkeys(("gt", "greaterthan", ">"), "gt"),
    **dict.fromkeys(("ge", ">="), "gteq"),
    "in": "in",
}
#: Tests that the compiler knows by itself.
SPECIAL_TESTS: Final = frozenset({"defined", "undefined", "none", "null"})
