"""Tests: what `x is …` asks of a JSON value. Pure; each takes the budget and its subject."""

from __future__ import annotations

from toolpath.expressions.budget import WorkBudget
from toolpath.expressions.operate import wrong
from toolpath.expressions.texts import number
from toolpath.values import Json


def is_boolean(budget: WorkBudget, value: Json) -> bool:
    """True or false."""
    return type(value) is bool


def is_true(budget: WorkBudget, value: Json) -> bool:
    """True itself, not merely something that counts as true."""
    return value is True


def is_false(budget: WorkBudget, value: Json) -> bool:
    """False itself."""
    return value is False


def is_integer(budget: WorkBudget, value: Json) -> bool:
    """A number written without a fraction."""
    return type(value) is int


def is_float(budget: WorkBudget, value: Json) -> bool:
    """A number written with a fraction."""
    return type(value) is float


def is_number(budget: WorkBudget, value: Json) -> bool:
    """Any number."""
    return type(value) is int or type(value) is float


def is_string(budget: WorkBudget, value: Json) -> bool:
    """A text."""
    return type(value) is str


def is_mapping(budget: WorkBudget, value: Json) -> bool:
    """An object."""
    return type(value) is dict


def is_sequence(budget: WorkBudget, value: Json) -> bool:
    """A list, text or object, as Jinja has it."""
    return type(value) in (list, str, dict)


def is_iterable(budget: WorkBudget, value: Json) -> bool:
    """A list, text or object."""
    return type(value) in (list, str, dict)


def is_even(budget: WorkBudget, value: Json) -> bool:
    """Divisible by two."""
    return bool(number(value, "even") % 2 == 0)


def is_odd(budget: WorkBudget, value: Json) -> bool:
    """Not divisible by two."""
    return bool(number(value, "odd") % 2 == 1)


def is_divisible(budget: WorkBudget, value: Json, by: Json) -> bool:
    """Divisible by the number."""
    if number(by, "divisibleby") == 0:
        raise wrong("Division by zero.")
    return bool(number(value, "divisibleby") % by == 0)


def is_lower(budget: WorkBudget, value: Json) -> bool:
    """A text in small letters."""
    if type(value) is not str:
        return False
    budget.text(len(value))
    return value.islower()


def is_upper(budget: WorkBudget, value: Json) -> bool:
    """A text in capitals."""
    if type(value) is not str:
        return False
    budget.text(len(value))
    return value.isupper()
