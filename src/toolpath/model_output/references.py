"""References between calls in the notations of models, and the same as templates of our expression language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from toolpath.values import Json

#: `$1`, `${1}`, not `$1.50` and not `$1,000`.
_DOLLAR = re.compile(r"\$\{(\d{1,4})\}|\$(\d{1,4})(?![\d\w]|[.,]\d)")
_EVIDENCE = re.compile(r"#E(\d{1,4})(?!\w)")
#: `$var1.field$`, `$var_1.field$.more`, `$var1$`: a call's label, and a path into its result.
_LABEL = re.compile(r"\$([A-Za-z_]\w{0,60})((?:\.[A-Za-z_]\w*|\[\d{1,9}\])*)\$((?:\.[A-Za-z_]\w*|\[\d{1,9}\])*)")
_TEMPLATE = re.compile(r"\{\{")
_NAMES = re.compile(
    # A text in quotes, a filter or test with its name, the member of something; else a path from its root on.
    r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\|\s*\w+|\bis\s+(?:not\s+)?\w+|\.\s*\w+"""
    r"""|(?<!\w)(?P<path>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*){0,50})"""
)
_MOST_DASHES = 20
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LITERAL = "{{ '{{' }}"


def texts_in(value: Json) -> list[str]:
    """Every text inside a JSON value, keys left out."""
    found: list[str] = []
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                found.append(text)
            case dict() as members:
                pending.extend(members.values())
            case list() as items:
                pending.extend(items)
            case _:
                pass
    return found


def numbers_in(value: Json, below: int, *, sign: str = "$") -> tuple[str, ...]:
    """The numbers of earlier calls that a value names, in rising order, as text."""
    pattern = _DOLLAR if sign == "$" else _EVIDENCE
    found: set[int] = set()
    for text in texts_in(value):
        for match in pattern.finditer(text):
            number = int(next(group for group in match.groups() if group))
            if 0 < number < below:
                found.add(number)
    return tuple(str(number) for number in sorted(found))


def label_names(value: Json) -> list[str]:
    """The labels that a value names, each once, without their signs."""
    return list(dict.fromkeys(match.group(1) for text in texts_in(value) for match in _LABEL.finditer(text)))


def labels_in(value: Json, known: Mapping[str, str]) -> tuple[str, ...]:
    """The labels among `known` that a value names, in the order of `known`."""
    named = set(label_names(value))
    return tuple(label for label in known if label.lstrip("$") in named)


def root(step_id: str) -> str:
    """How an expression names the output of a step."""
    return step_id if _PLAIN.fullmatch(step_id) else f"steps[{step_id!r}].output"


def as_templates(value: Json, ids: Mapping[str, str]) -> Json:
    """The value with its references to calls as templates; `ids` maps number, `E1` or label to a step's id.

    The notations that name calls like this know no `{{ }}`: what stands there in braces is text, and stays text.
    """
    return _mapped(value, lambda text: _text_as_template(text, ids))


def escaped(value: Json) -> Json:
    """The value as plain data: braces in its texts are no templates."""
    return _mapped(value, _escaped)


def _escaped(text: str) -> str:
    return _TEMPLATE.sub(_LITERAL, text)


def _text_as_template(text: str, ids: Mapping[str, str]) -> str:
    def named(key: str, path: str, written: str) -> str:
        step_id = ids.get(key)
        return f"{{{{ {root(step_id)}{path} }}}}" if step_id is not None else written

    def dollar(match: re.Match[str]) -> str:
        return named(match.group(1) or match.group(2), "", match.group())

    text = _escaped(text)
    text = _LABEL.sub(lambda match: named(match.group(1), match.group(2) + match.group(3), match.group()), text)
    text = _EVIDENCE.sub(lambda match: named(f"E{match.group(1)}", "", match.group()), text)
    return _DOLLAR.sub(dollar, text)


def _mapped(value: Json, change: Callable[[str], str]) -> Json:
    match value:
        case str() as text:
            return change(text)
        case dict() as members:
            return {key: _mapped(item, change) for key, item in members.items()}
        case list() as items:
            return [_mapped(item, change) for item in items]
        case _:
            return value


def renamed(text: str, roots: Mapping[str, str]) -> str:
    """The text with names of tools and variables in its templates replaced: `{{ blog.create.id }}` → `{{ post.id }}`.

    Texts in quotes, members and names of filters stay as they are.
    """
    if "{{" not in text or not roots:
        return text
    pieces: list[str] = []
    at = 0
    while (start := text.find("{{", at)) >= 0 and (end := text.find("}}", start)) >= 0:
        pieces += [text[at:start], _NAMES.sub(lambda name: _meant(name, roots), text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


def _meant(match: re.Match[str], roots: Mapping[str, str]) -> str:
    path = match.group("path")
    if path is None:
        return match.group()
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        root_name = roots.get(".".join(parts[:length]))
        if root_name is not None:
            return ".".join([root_name, *parts[length:]])
    # `a-b` is a name where there is one, else a difference.
    if not 0 < path.count("-") <= _MOST_DASHES:
        return path
    head, _, rest = path.partition("-")
    return "-".join(_NAMES.sub(lambda name: _meant(name, roots), part) for part in (head, rest))
