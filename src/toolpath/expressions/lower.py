"""Jinja's tree of one expression → the resolved tree: an allow-list of nodes, names, filters and tests looked up."""

from __future__ import annotations

import math
from typing import cast

import msgspec
from jinja2 import nodes

from toolpath.errors import ExpressionError
from toolpath.expressions import filter_calls, tree
from toolpath.expressions.budget import MAX_BITS
from toolpath.expressions.guards import GuardedPath, guards_of, written
from toolpath.expressions.names import RESERVED, Ambiguous, Names, Root
from toolpath.expressions.resolve import Keys, ambiguous, resolve
from toolpath.expressions.slips import call_hint
from toolpath.expressions.tree import Reference, Tree

#: Nodes inside one another in one expression.
MAX_NESTING = 80

_BINARY: dict[type[nodes.Node], tree.Operator] = {
    nodes.Add: "add",
    nodes.Sub: "sub",
    nodes.Mul: "mul",
    nodes.Div: "div",
    nodes.FloorDiv: "floordiv",
    nodes.Mod: "mod",
    nodes.Pow: "pow",
}
_NULLS = frozenset({"null", "NULL", "Null", "NONE"})
_CONSTANTS = {"TRUE": True, "FALSE": False}


class Lowering:
    """One expression on its way to the resolved tree; collects references and faults as it goes."""

    def __init__(self, names: Names, pointer: str, base: int, *, allow_secrets: bool) -> None:
        self.references: list[Reference] = []
        self.faults: list[ExpressionError] = []
        self._names = names
        self._pointer = pointer
        self._base = base
        self._allow_secrets = allow_secrets
        self._parameters: dict[str, int] = {}
        self._slots = 0
        self._nesting = 0
        self._covered = 0
        self._guards: list[GuardedPath] = []
        self.nodes = 0

    def whole(self, node: nodes.Node) -> Tree:
        """The tree of a whole expression."""
        keys = written(node)
        if keys is not None and keys[0] == "secrets" and "secrets" not in self._parameters:
            return self._secret(node, keys)
        try:
            return self.lower(node)
        except RecursionError:
            self.fail("The expression is nested too deeply.", "expression_too_large", node)
            return tree.Literal_(None)

    def fail(
        self, message: str, code: str, node: nodes.Node, *, hint: str = "", suggestions: tuple[str, ...] = ()
    ) -> tree.Literal_:
        """Note a fault; what comes back stands in for the faulty node, so that the rest is looked at too."""
        self.faults.append(
            ExpressionError(message, code=code, offset=self._base + node.lineno, hint=hint, suggestions=suggestions)
        )
        return tree.Literal_(None)

    def lower(self, node: nodes.Node) -> Tree:
        """The resolved tree of a node."""
        self._nesting += 1
        self.nodes += 1
        try:
            if self._nesting > MAX_NESTING:
                if not any(fault.code == "expression_too_large" for fault in self.faults):
                    self.fail(
                        f"The expression is nested deeper than {MAX_NESTING} levels.",
                        "expression_too_large",
                        node,
                        hint="Split it into several steps.",
                    )
                return tree.Literal_(None)
            return self._lower(node)
        finally:
            self._nesting -= 1

    def _lower(self, node: nodes.Node) -> Tree:  # noqa: C901, PLR0912  # one case a kind of node
        match node:
            case nodes.Const():
                return self._constant(node)
            case nodes.Name() | nodes.Getattr() | nodes.Getitem():
                return self._path(node)
            case nodes.BinExpr() if type(node) in _BINARY:
                return tree.Binary(_BINARY[type(node)], self.lower(node.left), self.lower(node.right))
            case nodes.And() | nodes.Or():
                return self._logic(node)
            case nodes.Not():
                return tree.Not(self.lower(node.node))
            case nodes.Neg() | nodes.Pos():
                return self._sign(node)
            case nodes.Compare():
                first = self.lower(node.expr)
                return tree.Compare(
                    first, tuple((cast(tree.Comparison, term.op), self.lower(term.expr)) for term in node.ops)
                )
            case nodes.CondExpr():
                return self._choose(node)
            case nodes.Concat():
                return tree.Concat(tuple(self.lower(part) for part in node.nodes))
            case nodes.List() | nodes.Tuple():
                return tree.ListOf(tuple(self.lower(item) for item in node.items))
            case nodes.Dict():
                return tree.DictOf(tuple((self.lower(pair.key), self.lower(pair.value)) for pair in node.items))
            case nodes.Filter():
                return filter_calls.lower_filter(self, node)
            case nodes.Test():
                return filter_calls.lower_test(self, node)
            case _:
                return self._refuse(node)

    def _refuse(self, node: nodes.Node) -> Tree:
        if isinstance(node, nodes.Macro):
            return self.fail("A lambda stands only as the argument of a filter.", "forbidden_expression", node)
        if isinstance(node, nodes.Call):
            name = getattr(node.node, "name", getattr(node.node, "attr", ""))
            return self.fail(
                f"{name or 'A value'} cannot be called: there are only filters and tests.",
                "forbidden_expression",
                node,
                hint=call_hint(name, filter_calls.KNOWN_FILTERS.__contains__),
            )
        return self.fail(f"{type(node).__name__} is not of this language.", "forbidden_expression", node)

    def _constant(self, node: nodes.Const) -> Tree:
        value = node.value
        if (isinstance(value, float) and not math.isfinite(value)) or (
            isinstance(value, int) and value.bit_length() > MAX_BITS
        ):
            return self.fail("The number is too large.", "expression_too_large", node)
        if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
            return self.fail(
                "The text holds half of a surrogate pair, which is no character.", "expression_syntax", node
            )
        return tree.Literal_(value)

    def _sign(self, node: nodes.Neg | nodes.Pos) -> Tree:
        operand = self.lower(node.node)
        if isinstance(operand, tree.Literal_) and type(operand.value) in (int, float):
            return tree.Literal_(-operand.value if isinstance(node, nodes.Neg) else operand.value)
        return tree.Sign("neg" if isinstance(node, nodes.Neg) else "pos", operand)

    def _logic(self, node: nodes.And | nodes.Or) -> Tree:
        left = self.lower(node.left)
        with_guards = guards_of(node.left, isinstance(node, nodes.And))
        return tree.Logic(
            "and" if isinstance(node, nodes.And) else "or", left, self.guarded_by(with_guards, node.right)
        )

    def _choose(self, node: nodes.CondExpr) -> Tree:
        test = self.lower(node.test)
        yes = self.guarded_by(guards_of(node.test, True), node.expr1)
        no = None if node.expr2 is None else self.guarded_by(guards_of(node.test, False), node.expr2)
        return tree.Choose(test, yes, no)

    def guarded_by(self, guards: tuple[GuardedPath, ...], node: nodes.Node) -> Tree:
        """The tree of a node that is evaluated only where the guards hold."""
        before = len(self._guards)
        self._guards += guards
        try:
            return self.lower(node)
        finally:
            del self._guards[before:]

    def covered(self, node: nodes.Node) -> Tree:
        """The tree of a node for whose absence something stands in."""
        self._covered += 1
        try:
            return self.lower(node)
        finally:
            self._covered -= 1

    def function(self, node: nodes.Macro, parameters: int, filter_name: str) -> tree.Lambda:
        """A lambda with its parameters in scope."""
        if len(node.args) != parameters:
            self.fail(
                f"The lambda of {filter_name} takes {parameters} parameter, not {len(node.args)}.",
                "expression_syntax",
                node,
            )
        outer, before = dict(self._parameters), self.nodes
        slots = []
        for parameter in node.args:
            slots.append(self.slot())
            self._parameters[parameter.name] = slots[-1]
        body = self.lower(node.body[0])
        self._parameters = outer
        return tree.Lambda(tuple(slots), body, self.nodes - before)

    def slot(self) -> int:
        """The number of a new parameter."""
        self._slots += 1
        return self._slots - 1

    def _path(self, node: nodes.Node) -> Tree:
        """Names, keys and indices: as much as can be is one look-up."""
        links: list[nodes.Getattr | nodes.Getitem] = []
        while isinstance(node, nodes.Getattr | nodes.Getitem):
            links.append(node)
            node = node.node
        links.reverse()
        if len(links) > MAX_NESTING:
            return self.fail(f"The path has more than {MAX_NESTING} parts.", "expression_too_large", node)
        keys = tuple(_key(link) for link in links)
        if not isinstance(node, nodes.Name):
            return self._below(self.lower(node), links, keys)
        count = next((at for at, key in enumerate(keys) if key is None), len(keys))
        if node.name in self._parameters:
            known = cast(tuple[str | int, ...], keys[:count])
            return self._below(tree.Local(self._parameters[node.name], node.name, known), links[count:], keys[count:])
        if node.name in _NULLS or node.name in _CONSTANTS:
            return self._below(tree.Literal_(_CONSTANTS.get(node.name)), links, keys)
        reference = self._reference(node, keys, links)
        if reference is None:
            return tree.Literal_(None)
        # What the root took of the keys is gone from its path.
        taken = len(keys) - len(reference.path)
        fixed = msgspec.structs.replace(reference, path=keys[taken:count])
        return self._below(tree.Path(fixed), links[max(count, taken) :], keys[max(count, taken) :])

    def _below(self, found: Tree, links: list[nodes.Getattr | nodes.Getitem], keys: Keys) -> Tree:
        for link, key in zip(links, keys, strict=True):
            if key is not None:
                found = tree.Item(found, tree.Literal_(key))
            elif isinstance(argument := cast(nodes.Getitem, link).arg, nodes.Slice):
                bounds = [
                    None if part is None else self.lower(part)
                    for part in (argument.start, argument.stop, argument.step)
                ]
                found = tree.Slice(found, *bounds)
            else:
                found = tree.Item(found, self.lower(argument))
        return found

    def _reference(self, node: nodes.Name, keys: Keys, links: list[nodes.Getattr | nodes.Getitem]) -> Reference | None:
        offset = self._base + node.lineno
        if node.name == "secrets":
            self.fail(
                "A secret stands alone between its braces, so that it can be kept out of every record.",
                "secret_here",
                node,
                hint="Write {{ secrets.NAME }}, alone or inside text.",
            )
            return None
        # A slice is no key: what it is taken of is read whole.
        sliced = next((at for at, link in enumerate(links) if _is_slice(link)), len(keys))
        guarded = self._covered > 0 or any(guard.covers(node.name, keys) for guard in self._guards)
        reference = resolve(self._names, node.name, keys[:sliced], offset, pointer=self._pointer, guarded=guarded)
        if isinstance(reference, ExpressionError):
            self.faults.append(reference)
            return None
        self.references.append(reference)
        if isinstance(reference.root, Ambiguous):
            self.faults.append(ambiguous(reference, reference.root))
            return None
        path = reference.path + keys[sliced:]
        if reference.root is None and (variable := _variable(self._names, node.name, keys)) is not None:
            # Nothing is known to set it. Where something stands in for it, it is still looked for.
            return msgspec.structs.replace(reference, path=path, root=Root("state", variable))
        return msgspec.structs.replace(reference, path=path)

    def _secret(self, node: nodes.Node, keys: tuple[str | int | None, ...]) -> Tree:
        if not self._allow_secrets:
            return self.fail(
                "A secret may stand only in the inputs of a step and in a provider's headers.", "secret_here", node
            )
        found = resolve(self._names, "secrets", keys[1:], self._base + node.lineno, pointer=self._pointer)
        if isinstance(found, ExpressionError):
            self.faults.append(found)
            return tree.Literal_(None)
        self.references.append(found)
        return tree.Path(self.references[-1])


def _variable(names: Names, name: str, keys: Keys) -> str | None:
    """The variable of the state that a path with an unknown name would read."""
    if name == "state":
        return keys[0] if names.has_state and keys and isinstance(keys[0], str) else None
    return name if names.in_chain and name not in RESERVED else None


def _is_slice(link: nodes.Node) -> bool:
    return isinstance(link, nodes.Getitem) and isinstance(link.arg, nodes.Slice)


def _key(link: nodes.Getattr | nodes.Getitem) -> str | int | None:
    """The key of a look-up where it is known."""
    if isinstance(link, nodes.Getattr):
        return link.attr
    argument, sign = link.arg, 1
    if isinstance(argument, nodes.Neg):
        argument, sign = argument.node, -1
    if isinstance(argument, nodes.Const):
        if type(argument.value) is str and sign == 1:
            return argument.value
        if type(argument.value) is int:
            return sign * argument.value
    return None
