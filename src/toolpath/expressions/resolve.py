"""A path of an expression → the reference it makes: what its first names mean, and whether it is covered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

import msgspec

from toolpath.errors import ExpressionError, Unresolved, closest
from toolpath.expressions.look import path_text
from toolpath.expressions.names import Ambiguous, Names, Root
from toolpath.expressions.tree import Aspect, Reference

Keys = tuple[str | int | None, ...]
_ASPECTS: tuple[str, ...] = get_args(Aspect)


def resolve(names: Names, name: str, keys: Keys, offset: int) -> Reference | ExpressionError:
    """The reference that `name` with these keys below it makes, or why it cannot be one."""
    match name:
        case "steps":
            return _step(names, keys, offset)
        case "secrets":
            return _secret(keys, offset)
        case "state" | "inputs":
            return _named(names, name, keys, offset)
        case _:
            return _bare(names, name, keys, offset)


def _bare(names: Names, name: str, keys: Keys, offset: int) -> Reference:
    root = names.root(name)
    if root is None and keys and isinstance(keys[0], str):
        # A tool's full key, `blog.createAuthor`, reads as a path.
        whole = names.root(f"{name}.{keys[0]}")
        if whole is not None:
            root, name, keys = whole, f"{name}.{keys[0]}", keys[1:]
    return Reference(name=name, root=root, path=keys, offset=offset)


def _named(names: Names, name: str, keys: Keys, offset: int) -> Reference:
    root = names.root(name)
    if root is None or not keys or not isinstance(keys[0], str):
        return Reference(name=name, root=root, path=keys, offset=offset)
    key = keys[0]
    known = isinstance(root, Root) and (name != "state" or key in names.variables)
    return Reference(
        name=path_text(name, (key,)),
        root=msgspec.structs.replace(root, key=key) if known else None,
        path=keys[1:],
        offset=offset,
    )


def _secret(keys: Keys, offset: int) -> Reference | ExpressionError:
    if len(keys) != 1 or not isinstance(keys[0], str):
        return ExpressionError(
            "Name one secret.",
            code="secret_here",
            offset=offset,
            hint="Write {{ secrets.NAME }}, with nothing below it.",
        )
    return Reference(name=f"secrets.{keys[0]}", root=Root("secrets", keys[0]), offset=offset)


def _step(names: Names, keys: Keys, offset: int) -> Reference | ExpressionError:
    if not keys or not isinstance(keys[0], str):
        return ExpressionError(
            "`steps` is followed by the id of a step.",
            code="forbidden_expression",
            offset=offset,
            hint="Write steps.ID.output, steps.ID.status, steps.ID.error or steps.ID.duration.",
        )
    found, name = names.step(keys[0]), path_text("steps", keys[:1])
    aspect = keys[1] if len(keys) > 1 else None
    if aspect not in _ASPECTS:
        dashed = next((key for key in sorted(names.ids) if key.startswith(f"{keys[0]}-")), None)
        if found is None and dashed is not None:
            return ExpressionError(
                f"No step is called {keys[0]}.",
                code="unknown_name",
                offset=offset,
                hint=f"A dash is read as minus; write steps['{dashed}'].output.",
            )
        written = f"{name} has no {aspect}" if isinstance(aspect, str) else f"Say what of {name}"
        return ExpressionError(
            f"{written}: a step has output, status, error and duration.",
            code="unknown_name",
            offset=offset,
            suggestions=closest(aspect, _ASPECTS) if isinstance(aspect, str) else (),
            hint=f"Write {name}.output for what it gave.",
        )
    # The output is the same whichever way it is written; the rest is known to `steps` alone.
    root = found if found is None or aspect == "output" else Root("steps", found.key, found.up)
    return Reference(name=f"{name}.{aspect}", root=root, aspect=cast(Aspect, aspect), path=keys[2:], offset=offset)


def unknown(names: Names, reference: Reference) -> Unresolved:
    """The error that a reference's name means nothing, with what may have been meant."""
    name = reference.name
    prefix, _, key = name.partition(".")
    hint = _dash_hint(names, key if prefix in ("state", "steps") else name, prefix)
    if prefix == "state" or ("." not in name and names.in_chain):
        key = key or name
        if names.has_state:
            return Unresolved(
                f"Variable not found in chain state: {key}",
                offset=reference.offset,
                suggestions=closest(key, [*names.variables, *(names.visible() if prefix != "state" else ())]),
                hint=hint,
            )
        return Unresolved("There is no state here: no step writes a variable.", offset=reference.offset)
    step = key.rpartition(".")[0] if prefix == "steps" else name
    return Unresolved(
        f"No step is called {step}." if prefix == "steps" else f"Nothing here is called {step}.",
        offset=reference.offset,
        suggestions=closest(step, names.visible()),
        hint=hint,
    )


def ambiguous(reference: Reference, root: Ambiguous) -> ExpressionError:
    """The error that a name could mean several steps."""
    return ExpressionError(
        f"{reference.name} could mean any of {', '.join(root.candidates)}.",
        code="ambiguous_name",
        offset=reference.offset,
        suggestions=root.candidates,
        hint="Use the id of the step that is meant.",
    )


def _dash_hint(names: Names, name: str, prefix: str) -> str:
    """`my-step.x` is a subtraction; whoever writes it hardly means that."""
    candidates: Sequence[str] = tuple(names.variables) if prefix == "state" else names.visible()
    for candidate in sorted(candidates):
        if candidate.startswith(f"{name.partition('.')[0]}-"):
            written = f"state['{candidate}']" if prefix == "state" else f"steps['{candidate}'].output"
            return f"A dash is read as minus; write {written}."
    return ""
