"""Filters of lists and objects. Bounded functions of JSON with Jinja's names; new lists of the same elements."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from toolpath.errors import Unresolved
from toolpath.expressions.budget import WorkBudget
from toolpath.expressions.operate import add, elements, json_text, text, whole, wrong
from toolpath.values import Json, type_name

Key = Callable[[Json], Json] | None


def length(budget: WorkBudget, value: Json) -> int:
    """How many elements, keys or characters there are."""
    if type(value) not in (list, dict, str):
        raise wrong(f"{type_name(value)} has no length.")
    return len(value)


def first(budget: WorkBudget, value: Json) -> Json:
    """The first element or character."""
    return _end(value, 0, "first")


def last(budget: WorkBudget, value: Json) -> Json:
    """The last element or character."""
    return _end(value, -1, "last")


def _end(value: Json, at: int, name: str) -> Json:
    if type(value) not in (list, str):
        raise wrong(f"{name} needs a list or text, not {type_name(value)}.")
    if not value:
        raise Unresolved(f"{name}: there is none, the {type_name(value)} is empty.", hint="Add | default(…).")
    return value[at]


def to_list(budget: WorkBudget, value: Json) -> list[Json]:
    """The list; the characters of a text; the keys of an object."""
    if type(value) not in (list, dict, str):
        raise wrong(f"{type_name(value)} cannot become a list.")
    budget.charge(1 + len(value))
    return list(value)


def keys(budget: WorkBudget, value: Json) -> list[Json]:
    """The keys of an object."""
    budget.charge(1 + len(_object(value, "keys")))
    return list(value)


def values(budget: WorkBudget, value: Json) -> list[Json]:
    """The values of an object."""
    budget.charge(1 + len(_object(value, "values")))
    return list(value.values())


def items(budget: WorkBudget, value: Json) -> list[Json]:
    """The pairs [key, value] of an object."""
    budget.charge(1 + len(_object(value, "items")))
    return [[key, item] for key, item in value.items()]


def dictsort(
    budget: WorkBudget, value: Json, case_sensitive: Json = False, by: Json = "key", reverse: Json = False
) -> list[Json]:
    """The pairs of an object in the order of their keys, or values."""
    if by not in ("key", "value"):
        raise wrong("dictsort: by is 'key' or 'value'.")
    at = 0 if by == "key" else 1
    return sort(budget, items(budget, value), reverse, case_sensitive, key=lambda pair: pair[at])


def _object(value: Json, name: str) -> dict[str, Json]:
    if type(value) is not dict:
        raise wrong(f"{name} needs an object, not {type_name(value)}.")
    return value


def _ranks(budget: WorkBudget, value: list[Json], key: Key, folded: bool) -> list[tuple[int, Json]]:
    """The ranks that elements are ordered by: nulls, then numbers, then texts; of one kind besides null."""
    found: list[tuple[int, Json]] = []
    for element in value:
        rank = element if key is None else key(element)
        kind = type(rank)
        if kind is str:
            budget.text(len(rank))
            found.append((2, rank.casefold() if folded else rank))
        elif kind is int or kind is float or kind is bool:
            found.append((1, rank))
        elif rank is None:
            found.append((0, 0))
        elif kind is list:
            found.append((3, _list_rank(budget, rank, folded)))
        else:
            raise wrong("Objects have no order.", "Say what to sort by: attribute='…' or a lambda.")
    if len({order for order, _ in found} - {0}) > 1:
        raise wrong("Numbers, texts and lists have no common order.")
    return found


def _list_rank(budget: WorkBudget, value: list[Json], folded: bool) -> list[tuple[int, Json]]:
    budget.charge(len(value))
    if any(type(part) not in (str, int, float, bool, type(None)) for part in value):
        raise wrong("Lists in lists have no order.", "Say what to sort by: attribute='…' or a lambda.")
    return [_ranks(budget, [part], None, folded)[0] for part in value]


def _cost(count: int) -> int:
    return 1 + count * count.bit_length()


def sort(
    budget: WorkBudget, value: Json, reverse: Json = False, case_sensitive: Json = False, *, key: Key = None
) -> list[Json]:
    """The elements in order; equal ones stay as they were."""
    source = elements(value, 1, budget)
    budget.charge(_cost(len(source)))
    ranks = _ranks(budget, source, key, not case_sensitive)
    order = sorted(range(len(source)), key=ranks.__getitem__, reverse=bool(reverse))
    return [source[at] for at in order]


def least(budget: WorkBudget, value: Json, case_sensitive: Json = False, *, key: Key = None) -> Json:
    """The smallest element."""
    return _extreme(budget, value, key, not case_sensitive, min)


def greatest(budget: WorkBudget, value: Json, case_sensitive: Json = False, *, key: Key = None) -> Json:
    """The greatest element."""
    return _extreme(budget, value, key, not case_sensitive, max)


def _extreme(budget: WorkBudget, value: Json, key: Key, folded: bool, choose: Callable[..., int]) -> Json:
    source = elements(value, 1, budget)
    if not source:
        raise Unresolved("min and max: there is none, the list is empty.", hint="Add | default(…).")
    ranks = _ranks(budget, source, key, folded)
    return source[choose(range(len(source)), key=ranks.__getitem__)]


def total(budget: WorkBudget, value: Json, start: Json = 0, *, key: Key = None) -> Json:
    """The sum of the elements."""
    found = start
    for element in elements(value, 1, budget):
        found = add(found, element if key is None else key(element), budget)
    return found


class _Groups:
    """Elements by equal JSON keys, in the order of first occurrence."""

    __slots__ = ("_budget", "_folded", "groups")

    def __init__(self, budget: WorkBudget, folded: bool) -> None:
        self._budget = budget
        self._folded = folded
        self.groups: dict[tuple[str, Json], tuple[Json, list[Json]]] = {}

    def put(self, rank: Json, element: Json) -> None:
        kind = type(rank)
        if kind is str:
            self._budget.text(len(rank))
            key = ("s", rank.casefold() if self._folded else rank)
        elif kind is int or kind is float:
            key = ("n", rank)
        elif kind is bool or rank is None:
            key = ("c", rank)
        else:
            self._budget.weigh(rank)
            key = ("j", json_text(_ordered(rank), self._budget))
        self.groups.setdefault(key, (rank, []))[1].append(element)


def _ordered(value: Json) -> Json:
    """The value with sorted keys and 1.0 as 1, so that equal values have one text."""
    match value:
        case dict():
            return {key: _ordered(value[key]) for key in sorted(value)}
        case list():
            return [_ordered(item) for item in value]
        case float() if value.is_integer():
            return int(value)
        case _:
            return value


def unique(budget: WorkBudget, value: Json, case_sensitive: Json = False, *, key: Key = None) -> list[Json]:
    """The elements without those equal to an earlier one."""
    groups = _Groups(budget, not case_sensitive)
    for element in elements(value, 1, budget):
        groups.put(element if key is None else key(element), element)
    return [found[0] for _, found in groups.groups.values()]


def groupby(budget: WorkBudget, value: Json, case_sensitive: Json = False, *, key: Key = None) -> list[Json]:
    """`{grouper, list}` for each value of the attribute, in their order."""
    groups = _Groups(budget, not case_sensitive)
    for element in elements(value, 1, budget):
        groups.put(element if key is None else key(element), element)
    found = [{"grouper": rank, "list": members} for rank, members in groups.groups.values()]
    return sort(budget, found, key=lambda group: group["grouper"])


def join(budget: WorkBudget, value: Json, separator: Json = "", *, key: Key = None) -> str:
    """The texts of the elements with a separator between them."""
    if type(separator) is not str:
        raise wrong(f"join: the separator is text, not {type_name(separator)}.")
    source = elements(value, 1, budget)
    texts = [text(element if key is None else key(element), budget) for element in source]
    budget.text(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def reverse(budget: WorkBudget, value: Json) -> Json:
    """The elements or characters in reverse."""
    if type(value) is str:
        budget.text(len(value))
        return value[::-1]
    return elements(value, 1, budget)[::-1]


def batch(budget: WorkBudget, value: Json, size: Json, fill: Json = None) -> list[Json]:
    """Lists of `size` elements each; the last one filled up with `fill` if that is given."""
    source, size = elements(value, 1, budget), _count(size, "batch")
    found = [source[at : at + size] for at in range(0, len(source), size)]
    if fill is not None and found and len(found[-1]) < size:
        found[-1] = found[-1] + _filling(fill, size - len(found[-1]), budget)
    return found


def pieces(budget: WorkBudget, value: Json, count: Json, fill: Json = None) -> list[Json]:
    """The elements in `count` lists of about the same length; shorter ones filled up with `fill` if that is given."""
    source, count = elements(value, 1, budget), _count(count, "slice")
    budget.charge(count)
    each, more = divmod(len(source), count)
    found: list[Json] = []
    at = 0
    for number in range(count):
        end = at + each + (number < more)
        short = fill is not None and more > 0 and number >= more
        found.append(source[at:end] + ([fill] if short else []))
        at = end
    return found


def _count(value: Json, name: str) -> int:
    value = whole(value)
    if type(value) is not int or value < 1:
        raise wrong(f"{name} needs a whole number from 1.")
    return value


def _filling(value: Json, count: int, budget: WorkBudget) -> list[Json]:
    budget.charge(count)
    return [value] * count


def flatten(budget: WorkBudget, value: Json) -> list[Json]:
    """The elements of the lists in the list, one level."""
    found: list[Json] = []
    for element in elements(value, 1, budget):
        found += elements(element, 1, budget) if type(element) is list else (element,)
    return found


def any_of(budget: WorkBudget, value: Json, *, key: Key = None) -> bool:
    """Whether an element is true, or the lambda is for one."""
    return any(_truths(budget, value, key))


def all_of(budget: WorkBudget, value: Json, *, key: Key = None) -> bool:
    """Whether every element is true, or the lambda is for each."""
    return all(_truths(budget, value, key))


def _truths(budget: WorkBudget, value: Json, key: Key) -> Iterable[Json]:
    source = elements(value, 1, budget)
    return source if key is None else map(key, source)
