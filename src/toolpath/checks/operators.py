"""Types that operators need and give; those of filters are in `filters.py`. Pure; a judge keeps what does not fit."""

from __future__ import annotations

from typing import Final

from toolpath.checks.kinds import NUMERIC
from toolpath.checks.shapes import NEVER, Type, either, list_of
from toolpath.checks.walker import Walker
from toolpath.expressions import tree
from toolpath.expressions.tree import Tree

_TEXT: Final[Type] = {"type": "string"}
_BOOLEAN: Final[Type] = {"type": "boolean"}
_INTEGER: Final[Type] = {"type": "integer"}
_NUMBER: Final[Type] = {"type": "number"}
_SIGNS: Final = {"add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**"}
_NUMBERS: Final = {"number", "integer"}
_SIZED: Final = {"array", "object", "string"}

GROUPS: Final = {"integer": "number", "number": "number", "boolean": "number"}


def signed(judge: Walker, operand: Tree) -> Type:
    """`-x`."""
    found = judge.need(operand, judge.type(operand), _NUMBERS, "a sign needs a number")
    return _INTEGER if judge.kinds.names(found) == frozenset({"integer"}) else _NUMBER


def part(judge: Walker, of: tree.Slice) -> Type:
    """A slice: of a list or text, within whole numbers."""
    subject = judge.need(of.subject, judge.type(of.subject), {"array", "string"}, "a slice is taken of a list or text")
    for bound in (of.start, of.stop, of.step):
        if bound is not None:
            judge.need(bound, judge.type(bound), {"integer", "null"}, "the bounds of a slice are integers")
    if of.step is not None and judge.kinds.may_be_zero(judge.type(of.step)):
        judge.mismatch("the step of a slice cannot be 0", is_zero(of.step), of.step)
    names = judge.kinds.names(subject) or {"array", "string"}
    parts: list[Type] = [list_of(judge.kinds.items(judge.kinds.only(subject, {"array"})))] if "array" in names else []
    return either([*parts, *([_TEXT] if "string" in names else [])]) if names else NEVER


def binary(judge: Walker, of: tree.Binary) -> Type:
    """Arithmetic: of numbers; `+` joins texts and lists too, and `*` repeats them."""
    left, right = judge.type(of.left), judge.type(of.right)
    ones, others = judge.kinds.names(left), judge.kinds.names(right)
    if ones is None:
        judge.note_unknown(of.left)
    if others is None:
        judge.note_unknown(of.right)
    if ones is None or others is None:
        return _of_known(of.operator, ones if others is None else others)
    pairs = [(one, other) for one in ones for other in others]
    fitting = [pair for pair in pairs if computes(of.operator, *pair)]
    if len(fitting) < len(pairs):
        judge.mismatch(
            f"{judge.kinds.text(left)} {_SIGNS[of.operator]} {judge.kinds.text(right)} cannot be computed",
            not fitting,
            of.left,
            of.right,
            hint=_way_out(of.operator, ones, others),
        )
    if of.operator in ("div", "floordiv", "mod") and judge.kinds.may_be_zero(right):
        judge.mismatch("it divides by what may be 0", is_zero(of.right), of.right, of.left, hint="Ask for that first.")
    if of.operator == "pow" and not (
        judge.kinds.least(right) >= 0 and (others <= {"integer"} or _is_positive(judge, left))
    ):
        judge.mismatch("a negative or fractional power may have no finite result", False, of.right, of.left)
    results = {_result(of.operator, *pair) for pair in fitting} or {_result(of.operator, "integer", "integer")}
    if not pairs:
        return _of_known(of.operator, ones or others)
    made: list[Type] = [{"type": kind} for kind in sorted(results - {"array"})]
    if "array" in results:
        made.append(_joined_lists(judge, of, left, right))
    return either(made)


def _joined_lists(judge: Walker, of: tree.Binary, left: Type, right: Type) -> Type:
    """The list that `+` joins of lists, or `*` repeats."""
    lists = [judge.kinds.only(side, {"array"}) for side in (left, right)]
    lists = [side for side in lists if judge.kinds.names(side)]
    filled = of.operator == "add" and any(map(judge.kinds.is_filled, lists))
    return judge.listed(either([judge.kinds.items(side) for side in lists]), filled)


def _of_known(operator: str, names: frozenset[str] | set[str] | None) -> Type:
    """The type where only one side is known, or where the other never comes."""
    if operator not in ("add", "mul"):
        return _NUMBER
    if not names or operator == "mul":
        return NEVER if names is not None and not names else None
    # Where it gives anything at all, what it does not take was not there: null and a list give a list.
    names = names & (NUMERIC | {"string", "array"})
    if names and names <= NUMERIC:
        return _NUMBER if "number" in names else _INTEGER
    return {"type": next(iter(names))} if len(names) == 1 else None


def computes(operator: str, left: str, right: str) -> bool:
    """Whether the operator takes two operands of these JSON types."""
    if left in NUMERIC and right in NUMERIC:
        return True
    if operator == "add":
        return left == right and left in ("string", "array")
    return operator == "mul" and {left, right} in ({"integer", "string"}, {"integer", "array"})


def _result(operator: str, left: str, right: str) -> str:
    if left in NUMERIC and right in NUMERIC:
        return "integer" if left == right == "integer" and operator not in ("div", "pow") else "number"
    return "array" if "array" in (left, right) else "string"


def _way_out(operator: str, ones: frozenset[str], others: frozenset[str]) -> str:
    both = ones | others
    if "null" in both:
        return "Read what may be null with `or`, e.g. `(x or 0)`."
    if "string" in both and operator == "add":
        return "Join texts with ~, or turn the text into a number with | int."
    return "Turn text into a number with | int or | float." if "string" in both else ""


def is_zero(of: Tree) -> bool:
    """Whether it is the number 0, written out."""
    return isinstance(of, tree.Literal_) and bool(of.value == 0)


def _is_positive(judge: Walker, of: Type) -> bool:
    return judge.kinds.least(of) >= 0


def compared(judge: Walker, of: tree.Compare) -> None:
    """`a < b`: of numbers or of texts; `in`: in a list, an object or a text. `==` takes anything."""
    left, left_type = of.first, judge.type(of.first)
    for operator, right in of.rest:
        right_type = judge.type(right)
        if operator in ("in", "notin"):
            inside = judge.need(right, right_type, _SIZED, "`in` looks into a list, an object or a text")
            names = judge.kinds.names(inside)
            if names is not None and "string" in names:
                judge.need(left, left_type, {"string"}, "only text can be in a text")
        elif operator not in ("eq", "ne"):
            _ordered(judge, (left, left_type), (right, right_type))
        left, left_type = right, right_type


def _ordered(judge: Walker, left: tuple[Tree, Type], right: tuple[Tree, Type]) -> None:
    groups: list[set[str]] = []
    for of, type_ in (left, right):
        names = judge.kinds.names(type_)
        if names is None:
            judge.note_unknown(of)
            return
        groups.append({GROUPS.get(name, name) for name in names})
    pairs = [(one, other) for one in groups[0] for other in groups[1]]
    fitting = [pair for pair in pairs if pair[0] == pair[1] and pair[0] in ("number", "string")]
    if len(fitting) < len(pairs):
        both = groups[0] | groups[1]
        hint = "Read what may be null with `or`, e.g. `(x or 0)`." if "null" in both else ""
        hint = hint or ("| int and | float read numbers from text." if both >= {"number", "string"} else "")
        message = f"{judge.kinds.text(left[1])} and {judge.kinds.text(right[1])} have no order"
        judge.mismatch(message, not fitting, left[0], right[0], hint=hint)
