"""Text that is written like an expression of another notation, and would reach the tool as it stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import warning
from toolpath.checks.views import Template
from toolpath.errors import Finding
from toolpath.expressions.structure import texts

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_BLOCK = re.compile(r"\{%-?\s*(?:if|for|set|else|endif|endfor)\b")
_DOLLAR = re.compile(r"\$\{\{")
#: What is told of as an expression is no text.
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
#: One pair of braces around a path; without a dollar a bare name is too little to go by, as in texts with `{name}`.
_BRACES = re.compile(
    rf"(?<!\{{)(?P<dollar>\$?)\{{\s*(?P<path>(?P<root>{_NAME})(?P<rest>(?:\.{_NAME}|\[[0-9]+\])*))\s*\}}(?!\}})"
)
#: Characters of a text that are looked at; what comes after is data.
_MOST = 10_000


def texts_are_meant(context: Context) -> Iterator[Finding]:
    """other_notation: a text holds what another notation would fill in, and nobody fills in here."""
    names = {"inputs", "steps", "state", "secrets", *context.views.hidden}
    for template in context.views.templates:
        if template.use in ("text", "input", "fallback", "outputs", "collect", "transform"):
            yield from _of_template(template, names)


def _of_template(template: Template, names: set[str]) -> Iterator[Finding]:
    for at, text in texts(template.value, "{"):
        if text is not None and (found := _found(text[:_MOST], names)) is not None:
            written, hint = found
            message = f"{written!r} stays as it is written: it is text here, no expression."
            yield warning("other_notation", template.path + at, message, hint=hint)


def _found(text: str, names: set[str]) -> tuple[str, str] | None:
    """What is written in another notation, and what to write; None where nothing is."""
    block = _BLOCK.search(text)
    if block is not None:
        return block[0], "Write {{ a if condition else b }}, a filter, or `when` at the step."
    if _DOLLAR.search(text):
        return "$", "Write {{ … }} without the dollar."
    for braces in _BRACES.finditer(_EXPRESSION.sub("", text)):
        if braces["root"] in names and (braces["rest"] or braces["dollar"]):
            return braces[0], f"Write {{{{ {braces['path']} }}}}."
    return None
