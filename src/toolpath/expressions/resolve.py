"""A path of an expression → the reference it makes: what its first names mean, and whether it is covered. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from toolpath.errors import ExpressionError, Unresolved, closest
from toolpath.expressions.look import path_text
from toolpath.expressions.names import Ambiguous, Names, Root
from toolpath.expressions.tree import Aspect, Reference

Keys = tuple[str | int | None, ...]
#: As it is written, what that means, and the keys below it.
Meaning = tuple[str, Root | Ambiguous | None, Keys]
#: Names that others stand below.
SPACES = frozenset({"steps", "secrets", "state", "inputs"})
_ASPECTS: tuple[str, ...] = get_args(Aspect)


def resolve(
    names: Names, name: str, keys: Keys, offset: int, *, pointer: str = "", guarded: bool = False
) -> Reference | ExpressionError:
    """The reference that `name` with these keys below it makes, or why it cannot be one."""
    aspect: Aspect = "output"
    if name not in SPACES:
        name, root, keys = _bare(names, name, keys)
        return Reference(name=name, root=root, path=keys, offset=offset, pointer=pointer, guarded=guarded)
    match name:
        case "steps":
            step = _step(names, keys, offset)
            if isinstance(step, ExpressionError):
                return step
            (name, root, keys), aspect = step
        case "secrets":
            if len(keys) != 1 or not isinstance(keys[0], str):
                return _no_secret(offset)
            name, root, keys = f"secrets.{keys[0]}", Root("secrets", keys[0]), ()
        case _:
            name, root, keys = _named(names, name, keys)
    return Reference(name=name, root=root, aspect=aspect, path=keys, offset=offset, pointer=pointer, guarded=guarded)


def _bare(names: Names, name: str, keys: Keys) -> Meaning:
    root = names.root(name)
    if root is None and keys and isinstance(keys[0], str):
        # A tool's full key, `blog.createAuthor`, reads as a path.
        whole = names.root(f"{name}.{keys[0]}")
        if whole is not None:
            root, name, keys = whole, f"{name}.{keys[0]}", keys[1:]
    return name, root, keys


def _named(names: Names, name: str, keys: Keys) -> Meaning:
    root = names.root(name)
    if root is None or not keys or not isinstance(keys[0], str):
        return name, root, keys
    key = keys[0]
    is_known = isinstance(root, Root) and (name != "state" or key in names.variables)
    meant = Root(root.kind, key, root.up) if is_known and isinstance(root, Root) else None
    return path_text(name, (key,)), meant, keys[1:]


def _no_secret(offset: int) -> ExpressionError:
    return ExpressionError(
        "Name one secret.",
        code="secret_here",
        offset=offset,
        hint="Write {{ secrets.NAME }}, with nothing below it.",
    )


def _step(names: Names, keys: Keys, offset: int) -> tuple[Meaning, Aspect] | ExpressionError:
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
    return (f"{name}.{aspect}", root, keys[2:]), cast(Aspect, aspect)


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
    """`my-step.x` is a subtraction, which its author hardly means."""
    candidates: Sequence[str] = tuple(names.variables) if prefix == "state" else names.visible()
    for candidate in sorted(candidates):
        if candidate.startswith(f"{name.partition('.')[0]}-"):
            written = f"state['{candidate}']" if prefix == "state" else f"steps['{candidate}'].output"
            return f"A dash is read as minus; write {written}."
    return ""
