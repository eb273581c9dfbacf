"""Operators over JSON values: arithmetic, comparison, text, slices; each within the budget. Never changes a value."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec

from toolpath.errors import ExpressionError, OverBudget
from toolpath.expressions.budget import MAX_BITS, WorkBudget
from toolpath.values import Json, type_name

# Texts up to this length are put in uncharged: an expression has too few places for them to matter.
_LARGE = 4_096

_encode = msgspec.json.Encoder().encode


def wrong(message: str, hint: str = "") -> ExpressionError:
    """The error of an operation on values it is not made for."""
    return ExpressionError(message, code="expression_type", hint=hint)


def whole(value: Json) -> Json:
    """A number without a fraction as an integer: JSON knows no difference between 2 and 2.0. Anything else as it is."""
    return int(value) if type(value) is float and value.is_integer() else value


def _numbers(left: Json, right: Json, sign: str) -> None:
    for value in (left, right):
        if type(value) is not int and type(value) is not float:
            other = f"{type_name(left)} {sign} {type_name(right)}"
            text = isinstance(left, str) or isinstance(right, str)
            raise wrong(
                f"{other} cannot be computed.",
                "Join texts with ~, or turn the text into a number with | int." if text else "",
            )


def bounded(value: Json) -> Json:
    """The number, unless JSON could not hold it."""
    if type(value) is int:
        if value.bit_length() > MAX_BITS:
            raise OverBudget(f"The expression would compute an integer of {value.bit_length()} bits.")
    elif type(value) is not float or not math.isfinite(value):
        raise wrong("The result is no finite number.")
    return value


def add(left: Json, right: Json, budget: WorkBudget) -> Json:
    """The sum of numbers; texts and lists joined."""
    if type(left) is str and type(right) is str:
        budget.text(len(left) + len(right))
        return left + right
    if type(left) is list and type(right) is list:
        budget.charge(len(left) + len(right))
        return left + right
    _numbers(left, right, "+")
    return bounded(left + right)


def sub(left: Json, right: Json, budget: WorkBudget) -> Json:
    """The difference of numbers."""
    _numbers(left, right, "-")
    return bounded(left - right)


def mul(left: Json, right: Json, budget: WorkBudget) -> Json:
    """The product of numbers; a text or list repeated."""
    if type(right) in (str, list):
        left, right = right, left
    if type(left) in (str, list) and type(whole(right)) is int:
        right = whole(right)
        if type(left) is str:
            budget.text(len(left) * max(right, 0))
        else:
            budget.charge(len(left) * max(right, 0))
        return left * right
    _numbers(left, right, "*")
    _fits(left, right)
    return bounded(left * right)


def _fits(*factors: Json) -> None:
    if all(type(factor) is int for factor in factors):
        bits = sum(factor.bit_length() for factor in factors)
        if bits > MAX_BITS + 1:
            raise OverBudget(f"The expression would compute an integer of about {bits} bits.")


def div(left: Json, right: Json, budget: WorkBudget) -> Json:
    """The quotient, always with a fraction: 4 / 2 is 2.0."""
    return _divide(left, right, "/", lambda: left / right)


def floordiv(left: Json, right: Json, budget: WorkBudget) -> Json:
    """The quotient without its fraction, rounded down."""
    return _divide(left, right, "//", lambda: left // right)


def mod(left: Json, right: Json, budget: WorkBudget) -> Json:
    """The rest of a division; of numbers alone."""
    return _divide(left, right, "%", lambda: left % right)


def _divide(left: Json, right: Json, sign: str, compute: Callable[[], Json]) -> Json:
    _numbers(left, right, sign)
    if right == 0:
        raise wrong("Division by zero.")
    try:
        return bounded(compute())
    except OverflowError:
        raise wrong("The result is no finite number.") from None


def power(left: Json, right: Json, budget: WorkBudget) -> Json:
    """`left ** right` of numbers."""
    _numbers(left, right, "**")
    if type(left) is int and type(right) is int and right > 0 and abs(left) > 1:
        bits = (left.bit_length() - 1) * right
        if bits > MAX_BITS:
            raise OverBudget(f"The expression would compute an integer of about {bits} bits.")
    try:
        return bounded(left**right)
    except (OverflowError, ZeroDivisionError):
        raise wrong("The result is no finite number.") from None


def neg(value: Json) -> Json:
    """`-x`."""
    _numbers(value, 0, "-")
    return -value


def pos(value: Json) -> Json:
    """`+x`."""
    _numbers(value, 0, "+")
    return value


_scalars = frozenset({str, int, float, bool, type(None)})


def same(left: Json, right: Json, budget: WorkBudget) -> bool:
    """Whether two values are equal as JSON: 1 is 1.0, true is not 1."""
    pairs = [(left, right)]
    while pairs:
        left, right = pairs.pop()
        kind, other = type(left), type(right)
        if kind in _scalars or other in _scalars:
            if kind is str and other is str:
                budget.charge(1 + (min(len(left), len(right)) >> 6))
            if (kind is bool) is not (other is bool) or left != right:
                return False
        elif kind is not other or len(left) != len(right):
            return False
        elif left is not right:
            budget.charge(1 + len(left))
            if kind is list:
                pairs += zip(left, right, strict=True)
            elif left.keys() != right.keys():
                return False
            else:
                pairs += ((left[key], right[key]) for key in left)
    return True


def _differ(left: Json, right: Json, budget: WorkBudget) -> bool:
    return not same(left, right, budget)


def _ordered(left: Json, right: Json, budget: WorkBudget) -> None:
    if type(left) is str and type(right) is str:
        budget.charge(1 + (min(len(left), len(right)) >> 6))
        return
    for value in (left, right):
        if type(value) not in (int, float, bool):
            raise wrong(
                f"{type_name(left)} and {type_name(right)} have no order.",
                "Compare two numbers or two texts; | int and | float read numbers from text.",
            )


def less(left: Json, right: Json, budget: WorkBudget) -> bool:
    """`left < right` of two numbers or two texts."""
    _ordered(left, right, budget)
    return bool(left < right)


def at_most(left: Json, right: Json, budget: WorkBudget) -> bool:
    """`left <= right` of two numbers or two texts."""
    _ordered(left, right, budget)
    return bool(left <= right)


def more(left: Json, right: Json, budget: WorkBudget) -> bool:
    """`left > right` of two numbers or two texts."""
    return less(right, left, budget)


def at_least(left: Json, right: Json, budget: WorkBudget) -> bool:
    """`left >= right` of two numbers or two texts."""
    return at_most(right, left, budget)


def within(value: Json, container: Json, budget: WorkBudget) -> bool:
    """Whether the list has the element, the object the key, or the text the text."""
    if type(container) is list:
        if type(value) is str:
            budget.charge(1 + len(container) * (1 + (len(value) >> 6)))
            return value in container
        for element in container:
            budget.charge(1)
            if same(value, element, budget):
                return True
        return False
    if type(container) is dict:
        return type(value) is str and value in container
    if type(container) is str and type(value) is str:
        budget.text(len(container))
        return value in container
    raise wrong(
        f"{type_name(value)} in {type_name(container)} cannot be asked.", "`in` looks into a list, an object or a text."
    )


def without(value: Json, container: Json, budget: WorkBudget) -> bool:
    """`not in`."""
    return not within(value, container, budget)


COMPARISONS: dict[str, Callable[[Json, Json, WorkBudget], bool]] = {
    "eq": same,
    "ne": _differ,
    "lt": less,
    "lteq": at_most,
    "gt": more,
    "gteq": at_least,
    "in": within,
    "notin": without,
}
BINARY: dict[str, Callable[[Json, Json, WorkBudget], Json]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "floordiv": floordiv,
    "mod": mod,
    "pow": power,
}


def compare_all(budget: WorkBudget, *terms: Json) -> bool:
    """`a < b <= c`: operands and comparisons in turn."""
    return all(COMPARISONS[terms[at]](terms[at - 1], terms[at + 1], budget) for at in range(1, len(terms), 2))


def json_text(value: Json, budget: WorkBudget) -> str:
    """The value as compact JSON."""
    budget.weigh(value)
    try:
        text = _encode(value).decode()
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise wrong(f"The value cannot be written as JSON: {error}.") from None
    budget.text(len(text))
    return text


def text(value: Json, budget: WorkBudget) -> str:
    """The value as it stands inside text: a text as it is, all else as compact JSON."""
    if type(value) is not str:
        return json_text(value, budget)
    if len(value) > _LARGE:
        budget.text(len(value))
    return value


def joined(budget: WorkBudget, *parts: Json) -> str:
    """`a ~ b`: the texts of all parts."""
    texts = [text(part, budget) for part in parts]
    budget.text(sum(map(len, texts)))
    return "".join(texts)


def part(value: Json, start: Json, stop: Json, step: Json, budget: WorkBudget) -> Json:
    """A slice of a list or text."""
    if type(value) not in (list, str):
        raise wrong(f"A slice is taken of a list or text, not of {type_name(value)}.")
    start, stop, step = whole(start), whole(stop), whole(step)
    for bound in (start, stop, step):
        if bound is not None and type(bound) is not int:
            raise wrong(f"The bounds of a slice are integers, not {type_name(bound)}.")
    if step == 0:
        raise wrong("The step of a slice cannot be 0.")
    budget.charge(1 + (len(value) >> 6 if type(value) is str else len(value)))
    return value[start:stop:step]


def built(pairs: tuple[tuple[Json, Json], ...]) -> Json:
    """An object written out in an expression."""
    for key, _ in pairs:
        if type(key) is not str:
            raise wrong(f"The keys of an object are texts, not {type_name(key)}.")
    return dict(pairs)


def elements(value: Json, size: int, budget: WorkBudget) -> list[Json]:
    """The list itself, after taking what visiting each element costs."""
    if type(value) is not list:
        raise wrong(
            f"A list is needed, not {type_name(value)}.",
            "Take its pairs with | items." if type(value) is dict else "",
        )
    budget.charge(1 + len(value) * size)
    return value
