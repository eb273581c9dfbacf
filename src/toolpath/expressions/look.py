"""Careful look-up of a path: what is missing, where, and what is there instead. Runs after a fast look-up failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from toolpath.errors import ExpressionError, Unresolved, closest
from toolpath.expressions import operate
from toolpath.expressions.budget import WorkBudget
from toolpath.expressions.names import Frame
from toolpath.values import Json, type_name

#: Keys that a message lists.
_SHOWN = 8


class Diagnose(Exception):  # a signal, never seen outside
    """The fast form cannot tell; the diagnosing form must."""


class _Void:
    """Stands for the output of a step that has none, where `default` and `is defined` must tell it from null."""


VOID: Final = _Void()


def path_text(name: str, keys: Sequence[str | int | None]) -> str:
    """The path as it would be written: `writer.items[0]['my key']`."""
    return name + "".join([_key_text(key) for key in keys])


def _key_text(key: str | int | None) -> str:
    if key is None:
        return "[…]"
    if isinstance(key, str):
        return f".{key}" if key.isidentifier() else f"[{key!r}]"
    return f"[{key}]"


def follow(value: Json, keys: tuple[str | int, ...], name: str) -> Json:
    """The value at the keys below the value called `name`. Raises `Unresolved` with what is there instead."""
    for count, written in enumerate(keys):
        key, kind = written, type(value)
        if kind is dict:
            # On an object a number names the key of that text.
            key = str(written) if type(written) is int else written
            there = key in value
        else:
            there = (kind is list or kind is str) and type(key) is int and -len(value) <= key < len(value)
        if not there:
            raise missing(value, key, path_text(name, keys[:count]))
        value = value[key]
    return value


def missing(value: Json, key: str | int, where: str) -> Unresolved:
    """The error that `key` is not in the value at `where`."""
    whole = f"{where}{_key_text(key)}"
    if isinstance(value, dict):
        there = ", ".join(f"{name} ({type_name(item)})" for name, item in list(value.items())[:_SHOWN])
        more = f" and {len(value) - _SHOWN} more" if len(value) > _SHOWN else ""
        return Unresolved(
            f"{whole} is not there: {where} has {there or 'no keys'}{more}.",
            suggestions=closest(str(key), list(value)[:200]),
        )
    if isinstance(value, list):
        if isinstance(key, str):
            return Unresolved(
                f"{whole}: {where} is a list of {len(value)}, not an object.",
                hint=f"Take one element, {where}[0]{_key_text(key)}, or {where} | map(attribute={key!r})."
                if value
                else "",
            )
        return Unresolved(f"{whole} is not there: {where} has {len(value)} elements.")
    return Unresolved(f"{whole} is not there: {where} is {'null' if value is None else f'of type {type_name(value)}'}.")


def item(value: Any, key: Json, where: str) -> Any:
    """The item at a computed key; `VOID` below itself."""
    if value is VOID:
        return VOID
    key = operate.whole(key)
    if type(key) is not str and type(key) is not int:
        raise ExpressionError(
            f"A key is text and an index an integer; {where}[…] got {type_name(key)}.", code="expression_type"
        )
    return follow(value, (key,), where)


def reach(value: Json, key: Json, where: str) -> Json:
    """`item` in the fast form, which cannot tell null from the null of a void step."""
    if value is None:
        raise Diagnose
    return item(value, key, where)


def part(value: Any, start: Json, stop: Json, step: Json, budget: WorkBudget) -> Any:
    """A slice; `VOID` of itself."""
    return VOID if value is VOID else operate.part(value, start, stop, step, budget)


def nulled(value: Any) -> Json:
    """The value, and null for `VOID`."""
    return None if value is VOID else value


def unknown(name: str) -> Json:
    """Raises the error that a name means nothing."""
    raise Unresolved(f"Nothing here is called {name}.")


def variable(frame: Frame, key: str, keys: tuple[str | int, ...], name: str, void: Json) -> Json:
    """A path into the state; `void` where it is an input that was not given."""
    if key not in frame.state:
        raise Unresolved(f"Variable not found in chain state: {key}", suggestions=closest(key, frame.state))
    if frame.state[key] is None and not keys and frame.inputs.get(key, 0) is None:
        return void
    return follow(frame.state[key], keys, name)


def given(frame: Frame, key: str, keys: tuple[str | int, ...], name: str, void: Json) -> Json:
    """A path into the inputs; `void` where an optional one was not given."""
    if key not in frame.inputs:
        raise missing(frame.inputs, key, "inputs")
    if frame.inputs[key] is None and not keys:
        return void
    return follow(frame.inputs[key], keys, name)


def output(frame: Frame, key: str, keys: tuple[str | int, ...], name: str, void: Json) -> Json:
    """A path into the output of a step; `void` where the step has none by intent."""
    if frame.void(key):
        return void
    if key not in frame.outputs:
        raise Unresolved(f"{path_text(name, keys)} is not there: step {key} has not ended.")
    return follow(frame.outputs[key], keys, name)


def record(frame: Frame, key: str, keys: tuple[str | int, ...], name: str) -> Json:
    """A path into what is known of a step besides its output; `keys` begins with the aspect."""
    try:
        found = frame.step_record(key)
    except LookupError:
        raise Unresolved(f"{name} is not there: step {key} has not run.") from None
    return follow(found, keys, f"steps.{key}")


def secret(frame: Frame, key: str) -> str:
    """A secret by its name."""
    if key not in frame.secrets:
        raise Unresolved(f"No secret is called {key}.", suggestions=closest(key, frame.secrets))
    return frame.secrets[key]


def attempt(read: Callable[[], Json], otherwise: Callable[[], Json], falsy: Json, steady: bool, void: bool) -> Json:
    """`default` in the fast form. `steady`: only a missing key makes `read` fail; `void`: null may be a void step."""
    try:
        value = read()
    except Unresolved:
        return otherwise()
    except (LookupError, TypeError, AttributeError):
        if steady:
            return otherwise()
        raise Diagnose from None
    if value is None and void:
        raise Diagnose
    return otherwise() if falsy and not value else value


def default(read: Callable[[], Any], otherwise: Callable[[], Json], falsy: Json) -> Json:
    """`default` in the diagnosing form."""
    try:
        value = read()
    except Unresolved:
        return otherwise()
    return otherwise() if value is VOID or (falsy and not value) else value


def defined(read: Callable[[], Any]) -> bool:
    """`is defined` in the diagnosing form."""
    try:
        return read() is not VOID
    except Unresolved:
        return False


def is_there(read: Callable[[], Json], steady: bool, void: bool) -> bool:
    """`is defined` in the fast form; the flags as in `attempt`."""
    try:
        value = read()
    except Unresolved:
        return False
    except (LookupError, TypeError, AttributeError):
        if steady:
            return False
        raise Diagnose from None
    if value is None and void:
        raise Diagnose
    return True
