"""Filters and tests as written → trees: looked up in the table, their arguments given names, lambdas put in place."""

from __future__ import annotations

from typing import Literal, Protocol, cast

from jinja2 import nodes

from toolpath.errors import closest
from toolpath.expressions import tree
from toolpath.expressions.slips import filter_hint
from toolpath.expressions.table import (
    COMPARING_TESTS,
    FILTERS,
    FORBIDDEN,
    SPECIAL_FILTERS,
    SPECIAL_TESTS,
    TESTS,
    Function,
)
from toolpath.expressions.tree import Tree

KNOWN_FILTERS = frozenset({*FILTERS, *SPECIAL_FILTERS})
KNOWN_TESTS = frozenset({*TESTS, *COMPARING_TESTS, *SPECIAL_TESTS})


class FilterLowering(Protocol):
    """Lowering of the tree around a filter, as far as the filter needs it."""

    def lower(self, node: nodes.Node) -> Tree:
        """The resolved tree of a node."""

    def covered(self, node: nodes.Node) -> Tree:
        """The tree of a node for whose absence something stands in."""

    def slot(self) -> int:
        """The number of a new parameter."""

    def function(self, node: nodes.Macro, parameters: int, filter_name: str) -> tree.Lambda:
        """A lambda with its parameters in scope."""

    def fail(
        self, message: str, code: str, node: nodes.Node, *, hint: str = "", suggestions: tuple[str, ...] = ()
    ) -> tree.Literal_:
        """Note a fault; what comes back stands in for the faulty node."""


def lower_filter(to: FilterLowering, node: nodes.Filter) -> Tree:
    """The tree of `subject | name(arguments)`."""
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return to.fail("Arguments are written out; * and ** are not of this language.", "forbidden_expression", node)
    if node.node is None or not _known(to, node, "filter"):
        return tree.Literal_(None)
    match node.name:
        case "default" | "d":
            return _default(to, node)
        case "filter" | "select" | "reject":
            return _select(to, node)
        case "selectattr" | "rejectattr":
            return _select_attribute(to, node)
        case "map":
            return _map(to, node)
        case name:
            return _plain(to, node, FILTERS[name])


def lower_test(to: FilterLowering, node: nodes.Test) -> Tree:
    """The tree of `subject is name(arguments)`."""
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return to.fail("Arguments are written out; * and ** are not of this language.", "forbidden_expression", node)
    if not _known(to, node, "test"):
        return tree.Literal_(None)
    if node.name in ("defined", "undefined", "none", "null"):
        if node.args or node.kwargs:
            return to.fail(f"`is {node.name}` takes no arguments.", "expression_syntax", node)
        subject = to.covered(node.node)
        if node.name in ("none", "null"):
            return tree.Compare(subject, (("eq", tree.Literal_(None)),))
        return tree.Defined(subject) if node.name == "defined" else tree.Not(tree.Defined(subject))
    return _test(to, node, node.name, to.lower(node.node), node.args)


def _known(to: FilterLowering, node: nodes.Filter | nodes.Test, what: str) -> bool:
    known = KNOWN_FILTERS if what == "filter" else KNOWN_TESTS
    if node.name in known:
        return True
    if node.name in FORBIDDEN:
        hint = filter_hint(node.name, KNOWN_FILTERS.__contains__) if what == "filter" else ""
        to.fail(f"The {what} {node.name} is not of this language.", "forbidden_expression", node, hint=hint)
    else:
        hint = filter_hint(node.name, KNOWN_FILTERS.__contains__) if what == "filter" else ""
        near = () if hint else closest(node.name, sorted(known))
        to.fail(
            f"There is no {what} {node.name}.",
            f"unknown_{what}",
            node,
            suggestions=near,
            hint=hint or ("" if near else f"There are {', '.join(sorted(known))}."),
        )
    return False


def _test(to: FilterLowering, node: nodes.Node, name: str, subject: Tree, arguments: list[nodes.Expr]) -> Tree:
    """A test by its name, of a subject that is lowered already."""
    if name in COMPARING_TESTS:
        if len(arguments) != 1:
            return to.fail(f"`is {name}` takes one argument.", "expression_syntax", node)
        return tree.Compare(subject, ((cast(tree.Comparison, COMPARING_TESTS[name]), to.lower(arguments[0])),))
    if name in ("none", "null"):
        return tree.Compare(subject, (("eq", tree.Literal_(None)),))
    if name in ("defined", "undefined"):
        found = tree.Defined(subject)
        return found if name == "defined" else tree.Not(found)
    function = TESTS[name]
    given = _arguments(to, node, name, function, arguments, [])
    return tree.Apply(function.call, subject, given, "boolean")


def _arguments(
    to: FilterLowering,
    node: nodes.Node,
    name: str,
    function: Function,
    positional: list[nodes.Expr],
    named: list[nodes.Keyword],
) -> tuple[tuple[str, Tree], ...]:
    known = function.parameters
    takes = f"{name} takes {', '.join(known) or 'no arguments'}"
    if len(positional) > len(known):
        to.fail(f"{takes}; too many are given.", "expression_syntax", node)
    given = [*zip(known, positional, strict=False), *((pair.key, pair.value) for pair in named)]
    for at, (key, value) in enumerate(given):
        if key not in known:
            to.fail(f"{takes}, not {key}.", "expression_syntax", value, suggestions=closest(key, known))
        elif any(key == other for other, _ in given[:at]):
            to.fail(f"{name}: {key} is given twice.", "expression_syntax", value)
    missing = [key for key in known[: function.required] if all(key != other for other, _ in given)]
    if missing:
        to.fail(f"{name} needs {' and '.join(missing)}.", "expression_syntax", node)
    return tuple((key, to.lower(value)) for key, value in given)


def _plain(to: FilterLowering, node: nodes.Filter, function: Function) -> Tree:
    subject = to.lower(cast(nodes.Node, node.node))
    positional, named = list(node.args), _named(node)
    key: tuple[tuple[str, Tree], ...] = ()
    if function.by is not None:
        by = _take_key(positional, named, attribute=function.by == "attribute")
        if by is not None:
            found = _function(to, node, by, _take(named, "default"))
            key = () if found is None else (("key", found),)
    given = _arguments(to, node, node.name, function, positional, named)
    # What stands in for an unreadable number may be of any type.
    gives = None if any(name == "default" for name, _ in given) else function.gives
    return tree.Apply(function.call, subject, given + key, gives, function.builds)


def _named(node: nodes.Filter) -> list[nodes.Keyword]:
    # Jinja declares them as pairs; its parser makes keywords.
    return cast(list[nodes.Keyword], list(node.kwargs))


def _take_key(positional: list[nodes.Expr], named: list[nodes.Keyword], *, attribute: bool) -> nodes.Expr | None:
    """The lambda or attribute to go by, taken out of the arguments."""
    first = positional[0] if positional else None
    if isinstance(first, nodes.Macro) or (
        attribute and isinstance(first, nodes.Const) and isinstance(first.value, str)
    ):
        return positional.pop(0)
    return _take(named, "attribute") or _take(named, "key")


def _take(named: list[nodes.Keyword], key: str) -> nodes.Expr | None:
    for pair in named:
        if pair.key == key:
            named.remove(pair)
            return pair.value
    return None


def _function(
    to: FilterLowering, node: nodes.Filter, by: nodes.Expr, default: nodes.Expr | None = None
) -> tree.Lambda | None:
    """A function of one element: a lambda, or what an attribute such as 'author.name' gives."""
    if isinstance(by, nodes.Macro):
        return to.function(by, 1, node.name)
    if isinstance(by, nodes.Const) and type(by.value) in (str, int):
        slot = to.slot()
        return tree.Lambda((slot,), _attribute(to, by.value, slot, default), 1)
    to.fail(f"{node.name}: an attribute is a text such as 'author.name'.", "expression_syntax", by)
    return None


def _attribute(to: FilterLowering, written: str | int, slot: int, default: nodes.Expr | None) -> Tree:
    parts = [written] if isinstance(written, int) else written.split(".")
    keys = tuple(
        int(part) if isinstance(part, str) and part.isdecimal() and part.isascii() else part for part in parts[:80]
    )
    found = tree.Local(slot, "element", keys)
    return found if default is None else tree.Default(found, to.lower(default), None)


def _default(to: FilterLowering, node: nodes.Filter) -> Tree:
    subject = to.covered(cast(nodes.Node, node.node))
    given = dict(
        _arguments(to, node, node.name, Function(_default, ("default_value", "boolean")), node.args, _named(node))
    )
    return tree.Default(subject, given.get("default_value", tree.Literal_("")), given.get("boolean"))


def _select(to: FilterLowering, node: nodes.Filter) -> Tree:
    """`filter(lambda x: …)`, `select('odd')`, `reject('in', names)`."""
    subject = to.lower(cast(nodes.Node, node.node))
    kind: Literal["filter", "reject"] = "reject" if node.name == "reject" else "filter"
    if node.kwargs:
        return to.fail(f"{node.name} takes no named arguments.", "expression_syntax", node.kwargs[0])
    first = node.args[0] if node.args else None
    if isinstance(first, nodes.Macro):
        if len(node.args) > 1:
            return to.fail(f"{node.name} takes one lambda and nothing else.", "expression_syntax", node.args[1])
        return tree.Each(kind, subject, to.function(first, 1, node.name))
    slot = to.slot()
    element: Tree = tree.Local(slot, "element")
    if first is not None:
        element = _named_test(to, node, first, element, node.args[1:])
    return tree.Each(kind, subject, tree.Lambda((slot,), element, 1))


def _select_attribute(to: FilterLowering, node: nodes.Filter) -> Tree:
    """`selectattr('price', 'gt', 50)`; an attribute that is not there is null."""
    subject = to.lower(cast(nodes.Node, node.node))
    if not node.args or node.kwargs:
        return to.fail(f"{node.name} needs an attribute, and may take a test.", "expression_syntax", node)
    first = node.args[0]
    if not isinstance(first, nodes.Const) or type(first.value) not in (str, int):
        return to.fail(f"{node.name}: an attribute is a text such as 'author.name'.", "expression_syntax", first)
    slot = to.slot()
    found = _attribute(to, first.value, slot, None)
    name = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], nodes.Const) else None
    if name not in ("defined", "undefined"):
        found = tree.Default(found, tree.Literal_(None), None)
    if len(node.args) > 1:
        found = _named_test(to, node, node.args[1], found, node.args[2:])
    kind: Literal["filter", "reject"] = "reject" if node.name == "rejectattr" else "filter"
    return tree.Each(kind, subject, tree.Lambda((slot,), found, 2))


def _named_test(
    to: FilterLowering, node: nodes.Filter, name: nodes.Expr, subject: Tree, arguments: list[nodes.Expr]
) -> Tree:
    if not isinstance(name, nodes.Const) or type(name.value) is not str:
        return to.fail(f"{node.name}: a test is named by a text such as 'odd'.", "expression_syntax", name)
    test = nodes.Test(node.node, name.value, arguments, [], None, None, lineno=name.lineno)
    if not _known(to, test, "test"):
        return tree.Literal_(None)
    return _test(to, name, name.value, subject, arguments)


def _map(to: FilterLowering, node: nodes.Filter) -> Tree:
    """`map(lambda x: …)`, `map(attribute='name', default=…)`, `map('upper')`."""
    subject = to.lower(cast(nodes.Node, node.node))
    positional, named = list(node.args), _named(node)
    by = _take(named, "attribute")
    if by is not None or (positional and isinstance(positional[0], nodes.Macro)):
        by = by if by is not None else positional.pop(0)
        default = None if isinstance(by, nodes.Macro) else _take(named, "default")
        if positional or named:
            to.fail("map takes one lambda or attribute, and `default` with the latter.", "expression_syntax", node)
        function = _function(to, node, by, default)
        return tree.Literal_(None) if function is None else tree.Each("map", subject, function)
    if not positional or not isinstance(positional[0], nodes.Const) or type(positional[0].value) is not str:
        return to.fail("map needs a lambda, attribute='…', or the name of a filter.", "expression_syntax", node)
    return _map_filter(to, node, subject, positional[0].value)


def _map_filter(to: FilterLowering, node: nodes.Filter, subject: Tree, name: str) -> Tree:
    """`map('upper')`: the named filter on each element."""
    slot = to.slot()
    named = nodes.Filter(None, name, node.args[1:], node.kwargs, None, None, lineno=node.args[0].lineno)
    if name not in FILTERS:
        if name not in KNOWN_FILTERS and name not in FORBIDDEN and not closest(name, KNOWN_FILTERS):
            return to.fail(
                f"There is no filter {name}.", "unknown_filter", named, hint=f"For a key write map(attribute={name!r})."
            )
        if _known(to, named, "filter"):
            to.fail(f"map({name!r}) needs a lambda.", "expression_syntax", named, hint=f"map(lambda x: x | {name}(…))")
        return tree.Literal_(None)
    function = FILTERS[name]
    given = _arguments(to, node, name, function, node.args[1:], _named(node))
    element = tree.Apply(function.call, tree.Local(slot, "element"), given, function.gives, function.builds)
    return tree.Each("map", subject, tree.Lambda((slot,), element, 2))
