"""Constants in an expression that its value may be made of, as against those it compares with or looks up by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jinja2 import nodes

from toolpath.errors import ExpressionError
from toolpath.expressions.parse import parse

#: Filters whose arguments come into the value.
_GIVING = frozenset({"default", "d", "replace", "join"})


def constants_of(source: str) -> tuple[str, ...]:
    """The texts and numbers that the value of an expression may hold as they are written; joined ones as one text.

    None for what is no expression.
    """
    try:
        return tuple(dict.fromkeys(_of(parse(source))))
    except (ExpressionError, RecursionError):
        return ()


def reads_something(source: str) -> bool:
    """Whether an expression reads anything of the plan or its run; so does what is no expression."""
    try:
        return _reads(parse(source))
    except (ExpressionError, RecursionError):
        return True


def _reads(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) or any(node.find_all(nodes.Name))


def _of(node: nodes.Node) -> Iterator[str]:
    match node:
        case nodes.Const(value=bool() | None):
            return
        case nodes.Const(value=value):
            yield str(value)
        case nodes.Concat(nodes=parts):
            yield from _joined(parts, is_reckoned=not _reads(node))
        case nodes.Add():
            yield from _joined(_summands(node), is_reckoned=not _reads(node))
        case nodes.And(left=left, right=right) | nodes.Or(left=left, right=right):
            yield from _all((left, right))
        case nodes.BinExpr() | nodes.UnaryExpr() if not _reads(node):
            # All that it is reckoned of stands in it.
            yield from _all(node.iter_child_nodes())
        case nodes.CondExpr(expr1=yes, expr2=no):
            yield from _all((yes,) if no is None else (yes, no))
        case nodes.List(items=items) | nodes.Tuple(items=items):
            yield from _all(items)
        case nodes.Dict(items=items):
            yield from _all(pair.value for pair in items)
        case nodes.Filter(node=subject, name=name, args=arguments, kwargs=named):
            # The value that is made for each item stands in the function.
            inner = [one for argument in arguments if isinstance(argument, nodes.Macro) for one in argument.body]
            given = [*arguments, *(one.value for one in named)] if name in _GIVING else inner
            yield from _all([*([] if subject is None else [subject]), *given])
        case nodes.Getitem(node=subject) | nodes.Getattr(node=subject):
            yield from _of(subject)
        case _:
            return


def _all(parts: Iterable[nodes.Node]) -> Iterator[str]:
    for part in parts:
        yield from _of(part)


def _summands(node: nodes.Node) -> list[nodes.Node]:
    return [*_summands(node.left), *_summands(node.right)] if isinstance(node, nodes.Add) else [node]


def _joined(parts: Iterable[nodes.Node], *, is_reckoned: bool) -> Iterator[str]:
    """The texts of the parts, side by side as one; a number that is added to what is read is none of them."""
    run = ""
    for part in parts:
        if isinstance(part, nodes.Const) and isinstance(part.value, str):
            run += part.value
            continue
        if run:
            yield run
        run = ""
        if is_reckoned or not isinstance(part, nodes.Const):
            yield from _of(part)
    if run:
        yield run
