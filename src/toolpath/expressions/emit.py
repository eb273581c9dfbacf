"""Resolved trees → Python's tree of one function over a frame. Names in the generated code are fixed, never from text.

The fast form subscripts directly and compares natively; it may fail with any error, or answer. The diagnosing form
defines what is right: it is only compiled where the fast one has failed, and names what is missing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, cast

from toolpath.errors import ExpressionError
from toolpath.expressions import look, operate, tree
from toolpath.expressions.names import Root
from toolpath.expressions.shape import is_steady, may_be_void
from toolpath.expressions.tree import Tree
from toolpath.values import Json

Run = Callable[[Any, Any], Json]
"""Frame and budget → value."""

# Every node must say where it stands; nobody will see it. `Any`, since the types of ast know no such spreading.
_AT: dict[str, Any] = {"lineno": 1, "col_offset": 0}
_LOAD = ast.Load()
_NATIVE: dict[str, type[ast.cmpop]] = {"lt": ast.Lt, "lteq": ast.LtE, "gt": ast.Gt, "gteq": ast.GtE}
# What each node of a lambda costs for each element, as a share of a unit.
_NODES_PER_UNIT = 4


class Emitter:
    """Writes one function; its constants and the functions it calls become the function's globals."""

    def __init__(self, *, diagnose: bool = False) -> None:
        self.charged = False
        """The function uses its budget."""
        self._diagnose = diagnose
        self._globals: dict[str, Any] = {"__builtins__": {}}
        self._known: dict[int, str] = {}

    def function(self, body: ast.expr) -> Run:
        """The function that gives the value of `body`. Raises `ExpressionError` when it is too deep to compile."""
        parameters = [ast.arg("f", **_AT), ast.arg("b", **_AT)]
        whole = ast.Expression(ast.Lambda(_parameters(parameters), body, **_AT))
        try:
            outer = compile(whole, "<expression>", "eval")
        except (RecursionError, MemoryError, SyntaxError):
            raise ExpressionError(
                "The expression is nested too deeply.", code="expression_too_large", hint="Split it into several steps."
            ) from None
        code = next(constant for constant in outer.co_consts if isinstance(constant, CodeType))
        return cast(Run, FunctionType(code, self._globals))

    def held(self, value: Any) -> ast.expr:
        """A value that the code refers to."""
        name = self._known.get(id(value))
        if name is None:
            name = self._known[id(value)] = f"c{len(self._known)}"
            self._globals[name] = value
        return _name(name)

    def constant(self, value: Json) -> ast.expr:
        """A JSON value that is the same each time; never a copy of it."""
        if value is None or type(value) in (str, int, float, bool):
            return _constant(value)
        return self.held(value)

    def call(self, function: Any, *arguments: ast.expr, named: Iterable[tuple[str, ast.expr]] = ()) -> ast.expr:
        """A call of one of our functions."""
        keywords = [ast.keyword(key, value, **_AT) for key, value in named]
        return ast.Call(self.held(function), list(arguments), keywords, **_AT)

    def budget(self) -> ast.expr:
        """The budget of the evaluation."""
        self.charged = True
        return _name("b")

    def text(self, parts: Iterable[str | Tree]) -> ast.expr:
        """Text with templates in it."""
        texts = [
            _constant(part) if isinstance(part, str) else self.call(operate.text, self.emit(part), self.budget())
            for part in parts
        ]
        join = ast.Attribute(_constant(""), "join", _LOAD, **_AT)
        return ast.Call(join, [ast.Tuple(texts, _LOAD, **_AT)], [], **_AT)

    def emit(self, of: Tree, undefined: bool = False) -> ast.expr:  # noqa: C901, PLR0912  # one case a kind of node
        """The code of a tree. `undefined`: where there is nothing by intent, give `VOID` and not null."""
        match of:
            case tree.Literal_(value):
                return self.constant(value)
            case tree.Path():
                return self._path(of, undefined)
            case tree.Local():
                return self._local(of)
            case tree.Item() | tree.Slice():
                return self._part(of, undefined)
            case tree.Sign(operator, operand):
                return self.call(operate.neg if operator == "neg" else operate.pos, self.emit(operand))
            case tree.Binary(operator, left, right):
                return self.call(operate.BINARY[operator], self.emit(left), self.emit(right), self.budget())
            case tree.Compare():
                return self._compare(of)
            case tree.Logic(operator, left, right):
                kind = ast.And() if operator == "and" else ast.Or()
                return ast.BoolOp(kind, [self.emit(left), self.emit(right)], **_AT)
            case tree.Not(operand):
                return ast.UnaryOp(ast.Not(), self.emit(operand), **_AT)
            case tree.Choose():
                return self._choose(of, undefined)
            case tree.Concat(parts):
                return self.call(operate.joined, self.budget(), *(self.emit(part) for part in parts))
            case tree.ListOf(items):
                return ast.List([self.emit(item) for item in items], _LOAD, **_AT)
            case tree.DictOf():
                return self._object(of)
            case tree.Lambda(slots, body):
                return _lambda([f"v{slot}" for slot in slots], self.emit(body))
            case tree.Apply():
                return self._apply(of)
            case tree.Each():
                return self._each(of)
            case tree.Default() | tree.Defined():
                return self._absence(of)

    def _path(self, of: tree.Path, undefined: bool) -> ast.expr:
        if self._diagnose:
            return self._path_with_care(of, undefined)
        reference, root = of.reference, of.reference.root
        keys = cast(tuple[str | int, ...], reference.path)
        if not isinstance(root, Root):
            return self.call(look.unknown, _constant(reference.name))
        frame = self._frame(root.up)
        match root.kind:
            case "output":
                return _below(_attribute(frame, "outputs"), (root.key, *keys))
            case "steps":
                record = ast.Call(_attribute(frame, "step_record"), [_constant(root.key)], [], **_AT)
                return _below(record, (reference.aspect, *keys))
            case "item" | "last" | "run":
                return _below(_attribute(frame, root.kind), keys)
            case kind:
                return _below(_attribute(frame, kind), (*([root.key] if root.key else []), *keys))

    def _path_with_care(self, of: tree.Path, undefined: bool) -> ast.expr:
        reference, root = of.reference, of.reference.root
        keys, name = _constant(reference.path), _constant(reference.name)
        if not isinstance(root, Root):
            return self.call(look.unknown, name)
        frame, key = self._frame(root.up), _constant(root.key)
        void = self.held(look.VOID) if undefined else _constant(None)
        match root.kind:
            case "output":
                return self.call(look.output, frame, key, keys, name, void)
            case "steps":
                path = _constant((reference.aspect, *reference.path))
                return self.call(look.record, frame, key, path, name)
            case "secrets":
                return self.call(look.secret, frame, key)
            case "state" | "inputs" if root.key:
                read = look.variable if root.kind == "state" else look.given
                return self.call(read, frame, key, keys, name, void)
            case kind:
                return self.call(look.follow, _attribute(frame, kind), keys, name)

    def _frame(self, up: int) -> ast.expr:
        frame = _name("f")
        for _ in range(up):
            frame = _attribute(frame, "up")
        return frame

    def _local(self, of: tree.Local) -> ast.expr:
        value = _name(f"v{of.slot}")
        if self._diagnose and of.keys:
            return self.call(look.follow, value, _constant(of.keys), _constant(of.name))
        return _below(value, of.keys)

    def _part(self, of: tree.Item | tree.Slice, undefined: bool) -> ast.expr:
        subject = self.emit(of.subject, self._diagnose)
        if isinstance(of, tree.Slice):
            bounds = (_constant(None) if part is None else self.emit(part) for part in (of.start, of.stop, of.step))
            found = self.call(look.part, subject, *bounds, self.budget())
        elif (
            not self._diagnose and isinstance(of.key, tree.Literal_) and isinstance(of.subject, tree.Apply | tree.Item)
        ):
            return ast.Subscript(subject, self.emit(of.key), _LOAD, **_AT)
        else:
            where = (
                look.path_text(of.subject.reference.name, of.subject.reference.path)
                if isinstance(of.subject, tree.Path)
                else "the value"
            )
            found = self.call(look.item if self._diagnose else look.reach, subject, self.emit(of.key), _constant(where))
        return found if undefined or not self._diagnose else self.call(look.nulled, found)

    def _compare(self, of: tree.Compare) -> ast.expr:
        if len(of.rest) > 1:
            terms = [self.emit(of.first)]
            for operator, term in of.rest:
                terms += [_constant(operator), self.emit(term)]
            return self.call(operate.compare_all, self.budget(), *terms)
        operator, other = of.rest[0]
        left, right = self.emit(of.first), self.emit(other)
        kind = None if self._diagnose else _native(operator, of.first, other)
        if kind is not None:
            return ast.Compare(left, [kind], [right], **_AT)
        return self.call(operate.COMPARISONS[operator], left, right, self.budget())

    def _choose(self, of: tree.Choose, undefined: bool) -> ast.expr:
        if of.no is None:
            no = self.held(look.VOID) if undefined and self._diagnose else _constant(None)
        else:
            no = self.emit(of.no, undefined)
        return ast.IfExp(self.emit(of.test), self.emit(of.yes, undefined), no, **_AT)

    def _object(self, of: tree.DictOf) -> ast.expr:
        if all(isinstance(key, tree.Literal_) and type(key.value) is str for key, _ in of.items):
            return ast.Dict([self.emit(key) for key, _ in of.items], [self.emit(value) for _, value in of.items], **_AT)
        pairs = [ast.Tuple([self.emit(key), self.emit(value)], _LOAD, **_AT) for key, value in of.items]
        return self.call(operate.built, ast.Tuple(cast(list[ast.expr], pairs), _LOAD, **_AT))

    def _apply(self, of: tree.Apply) -> ast.expr:
        subject = self.emit(of.subject)
        for _, argument in of.arguments:
            if isinstance(argument, tree.Lambda):
                subject = self._elements(subject, argument.size)
        named = [(key, self.emit(argument)) for key, argument in of.arguments]
        return self.call(of.function, self.budget(), subject, named=named)

    def _elements(self, subject: ast.expr, size: int) -> ast.expr:
        units = _constant(1 + size // _NODES_PER_UNIT)
        return self.call(operate.elements, subject, units, self.budget())

    def _each(self, of: tree.Each) -> ast.expr:
        source = self._elements(self.emit(of.subject), of.function.size)
        name = f"v{of.function.slots[0]}"
        body = self.emit(of.function.body)
        if of.kind == "reject":
            body = ast.UnaryOp(ast.Not(), body, **_AT)
        loop = ast.comprehension(ast.Name(name, ast.Store(), **_AT), source, [], 0)
        if of.kind == "map":
            return ast.ListComp(body, [loop], **_AT)
        loop.ifs.append(body)
        return ast.ListComp(_name(name), [loop], **_AT)

    def _absence(self, of: tree.Default | tree.Defined) -> ast.expr:
        read = _lambda([], self.emit(of.subject, self._diagnose))
        flags = [_constant(flag(of.subject)) for flag in (is_steady, may_be_void)]
        if isinstance(of, tree.Defined):
            return self.call(look.defined, read) if self._diagnose else self.call(look.is_there, read, *flags)
        otherwise = _lambda([], self.emit(of.otherwise))
        falsy = _constant(False) if of.falsy is None else self.emit(of.falsy)
        if self._diagnose:
            return self.call(look.default, read, otherwise, falsy)
        return self.call(look.attempt, read, otherwise, falsy, *flags)


def _native(operator: str, left: Tree, right: Tree) -> ast.cmpop | None:
    """Python's comparison, where it says what JSON's does: one side is a constant for which they agree."""
    if isinstance(left, tree.Literal_) and isinstance(right, tree.Literal_):
        # Python warns of such comparisons when it compiles them.
        return None
    for side in (left, right):
        if not isinstance(side, tree.Literal_):
            continue
        value = side.value
        if operator in _NATIVE:
            return _NATIVE[operator]() if type(value) in (int, float, str) else None
        if operator in ("eq", "ne"):
            if value is None or type(value) is bool:
                return ast.Is() if operator == "eq" else ast.IsNot()
            if type(value) is str or (type(value) in (int, float) and value not in (0, 1)):
                return ast.Eq() if operator == "eq" else ast.NotEq()
    return None


def _constant(value: Any) -> ast.expr:
    return ast.Constant(value, **_AT)


def _name(name: str) -> ast.expr:
    return ast.Name(name, _LOAD, **_AT)


def _attribute(of: ast.expr, name: str) -> ast.expr:
    return ast.Attribute(of, name, _LOAD, **_AT)


def _below(value: ast.expr, keys: Iterable[str | int]) -> ast.expr:
    for key in keys:
        value = ast.Subscript(value, _constant(key), _LOAD, **_AT)
    return value


def _parameters(parameters: list[ast.arg]) -> ast.arguments:
    return ast.arguments([], parameters, None, [], [], None, [])


def _lambda(names: Iterable[str], body: ast.expr) -> ast.expr:
    return ast.Lambda(_parameters([ast.arg(name, **_AT) for name in names]), body, **_AT)
