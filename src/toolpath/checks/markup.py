"""Text that is written like an expression of another notation, and would reach the tool as it stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.checks.context import Context
from toolpath.checks.remarks import warning
from toolpath.checks.views import TemplatePlace
from toolpath.errors import Finding

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_BLOCK = re.compile(r"\{%-?\s*(?:if|for|set|else|endif|endfor)\b")
_DOLLAR = re.compile(r"\$\{\{")
#: What is told of as an expression is no text.
_EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
#: Without one of these nothing below matches.
_SIGN = re.compile(r"[{$<%@]|\[\[")
_KEYS = rf"(?:\.{_NAME}|\[[0-9]+\])"
#: One pair of braces around a path; without a sign before it a bare name is too little to go by, as in `{name}`.
_BRACES = re.compile(rf"(?<!\{{)(?P<sign>[$#@]?)\{{\s*(?P<path>(?P<root>{_NAME})(?P<rest>{_KEYS}*))\s*\}}(?!\}})")
#: Other marks around or before a path, which has to have a key: a name alone between them may be anything.
_MARKED = tuple(
    re.compile(pattern.replace("PATH", rf"(?P<path>(?P<root>{_NAME}){_KEYS}+)"))
    for pattern in (
        r"(?<![\w$])\$\.PATH(?![\w(])",
        r"(?<![\w$])\$PATH(?![\w(])",
        r"(?<!\[)\[\[\s*PATH\s*\]\](?!\])",
        r"<%=?\s*PATH\s*%>",
        r"<<?\s*PATH\s*>>?",
        r"(?<![\w%])%PATH%(?!\w)",
        r"\$\(\s*PATH\s*\)",
    )
)
#: A mark that stands before many a name: only what is all of a text, or begins with a word of ours, is meant.
_AT = re.compile(rf"(?<![\w.@+-])@(?P<path>(?P<root>{_NAME}){_KEYS}+)(?![\w@-])")
_OURS = frozenset(("inputs", "steps", "state", "secrets"))
#: Characters of a text that are looked at; what comes after is data.
_MOST = 10_000


def texts_are_meant(context: Context) -> Iterator[Finding]:
    """other_notation: a text holds what another notation would fill in, and nobody fills in here."""
    names = {*_OURS, *context.views.hidden}
    for template in context.views.templates:
        if template.use in ("text", "input", "fallback", "outputs", "collect", "transform"):
            yield from _of_template(template, names)


def _of_template(template: TemplatePlace, names: set[str]) -> Iterator[Finding]:
    for at, text in template.marked:
        if (found := _found(text[:_MOST], names)) is not None:
            written, hint = found
            message = f"{written!r} stays as it is written: it is text here, no expression."
            yield warning("other_notation", template.path + at, message, hint=hint)


def _found(text: str, names: set[str]) -> tuple[str, str] | None:
    """The piece that is written in another notation, and the form to write instead; None where there is none."""
    block = _BLOCK.search(text)
    if block is not None:
        return block[0], "Write {{ a if condition else b }}, a filter, or `when` at the step."
    if _DOLLAR.search(text):
        return "$", "Write {{ … }} without the dollar."
    plain = _EXPRESSION.sub("", text)
    if _SIGN.search(plain) is None:
        return None
    for braces in _BRACES.finditer(plain):
        if braces["root"] in names and (braces["rest"] or braces["sign"]):
            return braces[0], f"Write {{{{ {braces['path']} }}}}."
    for marked in (found for pattern in _MARKED for found in pattern.finditer(plain)):
        if marked["root"] in names:
            return marked[0], f"Write {{{{ {marked['path']} }}}}."
    for at in _AT.finditer(plain):
        if at["root"] in _OURS or (at["root"] in names and at[0] == text.strip()):
            return at[0], f"Write {{{{ {at['path']} }}}}."
    return None
