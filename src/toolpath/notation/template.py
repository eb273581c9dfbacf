"""Documents of plan templates: plans with parameters `<<name>>`, which a run is given as its inputs. Pure.

Where a template `{{ }}` may stand, a parameter becomes a reference to the run's input of its name: what is given is
data and never read as a template. Everywhere else its value is put into the tree when a run starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, get_args

import msgspec

from toolpath.errors import ExpressionError, Finding, PlanInvalid
from toolpath.expressions.scan import Placeholder, scan
from toolpath.model.plan import Plan, Source, Step
from toolpath.notation.nodes import MAX_STEPS, DocumentNode, tree_of_values
from toolpath.notation.plan import plan_of
from toolpath.notation.tables import INPUT_ALIASES
from toolpath.notation.template_config import is_config, tree_of_config
from toolpath.notation.tree import read_tree
from toolpath.values import Json, JsonObject, encode, pointer

_PARAMETER: Final = re.compile(r"<<[ \t]{0,9}([^<>\s](?:[^<>\n]{0,98}[^<>\s])?)[ \t]{0,9}>>")
#: In an expression: a parameter, or a string, which may hold some.
_IN_EXPRESSION: Final = re.compile(
    _PARAMETER.pattern + r"|'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"", re.DOTALL
)
#: `<<` as text: what stands behind it is no parameter.
_ESCAPE: Final = re.compile(r"\{\{[ \t]{0,9}(?:'<<'|\"<<\")[ \t]{0,9}\}\}")
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Fields of steps below which texts are templates.
_TEMPLATES: Final = frozenset(
    (
        *INPUT_ALIASES,
        *(path.rpartition("/")[2] for kind in get_args(Step) for _, path, _ in kind.shape.templates),
        *("transform", "key", "outputs"),
    )
) - {"ask"}
#: Fields of a form whose text is none; all others are.
_OF_FORMS: Final = frozenset(("name", "type", "required", "timeout"))
#: Fields whose text is an expression, with braces or without.
_EXPRESSIONS: Final = frozenset(("when", "requires_approval"))


class ParameterUse(msgspec.Struct, frozen=True):
    """One place where a parameter stands."""

    name: str
    path: str
    """JSON pointer into the document."""
    is_value: bool
    """It stands alone, or as a value in an expression: it may be of any type. Else it is a part of a text."""
    is_fixed: bool
    """The text is no template: the value is put in when a run starts."""


class TemplateDocument(msgspec.Struct, frozen=True):
    """A template's document, read."""

    tree: DocumentNode
    uses: tuple[ParameterUse, ...]
    """Every place of every parameter, in the order of the document."""
    unfilled: Plan
    """The plan with its parameters as inputs; in places that are no templates `<<name>>` stays."""
    file: str = ""
    is_config: bool = False
    """It came as the plan execution service writes it."""

    @property
    def fixed(self) -> tuple[ParameterUse, ...]:
        """Places that are filled when a run starts: without values the plan cannot be checked whole."""
        return tuple(use for use in self.uses if use.is_fixed)

    def plan_for(self, values: JsonObject) -> Plan:
        """The plan to be run with these values as its inputs. Raises `PlanInvalid` where one is missing to make it."""
        if not self.fixed:
            return self.unfilled
        declared = self.unfilled.inputs["properties"]
        defaults = {name: each["default"] for name, each in declared.items() if "default" in each}
        filled = {**defaults, **{name: value for name, value in values.items() if value is not None}}
        missing = dict.fromkeys(use.name for use in self.fixed if use.name not in filled)
        if missing:
            raise PlanInvalid(tuple(_missing(name) for name in missing))
        return _plan(self.tree, self.uses, self.file, filled)

    def plan(self, values: JsonObject | None = None) -> Plan:
        """The plan of the document, with its parameters as inputs; what is wrong is in `plan.source.findings`.

        `values` stand in the places that are no templates.
        """
        return self.unfilled if values is None else _plan(self.tree, self.uses, self.file, values)


def is_template_name(name: str) -> bool:
    """Whether a file of that name holds a template: `report.template.yaml`. In other plans `<<` is text."""
    return name.lower().endswith((".template.yaml", ".template.yml", ".template.json"))


def read_template(
    source: str | bytes | dict[str, Any], *, file: str = "", most_steps: int = MAX_STEPS
) -> TemplateDocument:
    """The document, ours or the plan execution service's JSON. Raises `ReadError` where there is neither."""
    return template_of(read_tree(source, file=file, most_steps=most_steps), file)


def template_of(given: DocumentNode, file: str = "") -> TemplateDocument:
    """The template of a document's tree. Raises `ReadError` for JSON of the plan execution service that is wrong."""
    is_other = is_config(given)
    tree = tree_of_config(given) if is_other else given
    uses = tuple(_uses(tree, "", TextPlace()))
    unfilled = _told(_plan(tree, uses, file, None), tuple(use for use in uses if use.is_fixed))
    return TemplateDocument(tree, uses, unfilled, file, is_other)


def _plan(tree: DocumentNode, uses: tuple[ParameterUse, ...], file: str, values: JsonObject | None) -> Plan:
    plan = plan_of(_with_references(tree, values), file)
    plan = msgspec.structs.replace(plan, inputs=_inputs(plan.inputs, uses))
    faults = tuple(_keys(tree, ""))
    if not faults:
        return plan
    known = plan.source
    return msgspec.structs.replace(plan, source=Source(known.file, known.positions, (*known.findings, *faults)))


def _keys(node: DocumentNode, path: str) -> Iterator[Finding]:
    """A fault for each key with a parameter in it: fields have the names that the document gives them."""
    match node.value:
        case dict() as members:
            for key, item in members.items():
                if "<<" in key and (found := _PARAMETER.search(key)) is not None:
                    yield Finding(
                        code="parameter_in_key",
                        severity="error",
                        message=f"<<{found[1]}>> stands in the name of a field, which no run changes.",
                        path=path + pointer(key),
                        hint="Put it in a value.",
                    )
                yield from _keys(item, path + pointer(key))
        case list() as items:
            for number, item in enumerate(items):
                yield from _keys(item, f"{path}/{number}")


def escaped(document: Json) -> Json:
    """The document of a plan in which `<<name>>` is text, as a template's in which it is."""

    def put(value: Json, place: TextPlace) -> Json:
        match value:
            case str() as text if not place.is_template and (_PARAMETER.search(text) or _ESCAPE.search(text)):
                return text.replace("<<", "{{ '<<' }}")
            case str() as text if place.is_template and _PARAMETER.search(text):
                return "".join(
                    _escaped_in_expression(part) if is_expression else _escaped_text(part)
                    for is_expression, part in _parts(text, place)
                )
            case dict() as members:
                return {key: put(item, place.below(key)) for key, item in members.items()}
            case list() as items:
                return [put(item, place) for item in items]
            case _:
                return value

    return put(document, TextPlace())


def _escaped_text(text: str) -> str:
    return _PARAMETER.sub(lambda match: "{{ '<<' }}" + match[0].removeprefix("<<"), text)


def _escaped_in_expression(text: str) -> str:
    """In a string the two signs are written apart; elsewhere in an expression no parameter can stand as text."""

    def apart(match: re.Match[str]) -> str:
        quote = match[0][0]
        return _PARAMETER.sub(lambda inner: f"<{quote} ~ {quote}{inner[0][1:]}", match[0])

    return _IN_EXPRESSION.sub(lambda match: match[0] if match[1] is not None else f"({apart(match)})", text)


class TextPlace(msgspec.Struct, frozen=True):
    """Kind of texts that stand at one place of the document."""

    field: str = ""
    """The key of a mapping that they stand under; empty at the top."""
    is_template: bool = False
    in_form: bool = False

    def below(self, key: str) -> TextPlace:
        """The place below this key of a mapping."""
        if self.in_form:
            return TextPlace(key, is_template=key not in _OF_FORMS, in_form=True)
        if self.is_template:
            return self
        if not self.field:
            # A plan's own `inputs` are a schema.
            return TextPlace(key, is_template=key == "outputs")
        return TextPlace(key, is_template=key in _TEMPLATES or key in _EXPRESSIONS, in_form=key == "ask")


def _uses(node: DocumentNode, path: str, place: TextPlace) -> Iterator[ParameterUse]:
    match node.value:
        case str() as text if "<<" in text:
            alone = _PARAMETER.fullmatch(text.strip()) is not None
            for is_value, name in _parameters(text, place):
                yield ParameterUse(name, path, is_value=alone or is_value, is_fixed=not place.is_template)
        case dict() as members:
            for key, item in members.items():
                yield from _uses(item, path + pointer(key), place.below(key))
        case list() as items:
            for number, item in enumerate(items):
                yield from _uses(item, f"{path}/{number}", place)


def _parameters(text: str, place: TextPlace) -> Iterator[tuple[bool, str]]:
    """Each parameter of the text, and whether it stands as a value in an expression."""
    for is_expression, part in _parts(text, place):
        for match in (_IN_EXPRESSION if is_expression else _PARAMETER).finditer(part):
            if match[1] is not None:
                yield is_expression, match[1]
            else:
                yield from ((False, inner[1]) for inner in _PARAMETER.finditer(match[0]))


def _parts(text: str, place: TextPlace) -> Iterator[tuple[bool, str]]:
    """The text in parts, each an expression or not; those with braces around them have these, too."""
    if not place.is_template:
        yield from ((False, part) for part in _ESCAPE.split(text))
        return
    try:
        pieces = scan(text)
    except ExpressionError:
        # The check says what is wrong with it.
        yield False, text
        return
    bare = place.field in _EXPRESSIONS and not any(isinstance(piece, Placeholder) for piece in pieces)
    for piece in pieces:
        yield (True, piece.text) if isinstance(piece, Placeholder) else (bare, piece)


def _with_references(tree: DocumentNode, values: JsonObject | None) -> DocumentNode:
    def put(node: DocumentNode, place: TextPlace) -> DocumentNode:
        match node.value:
            case str() as text if "<<" in text:
                made = _referring(text, place) if place.is_template else _filled(text, values)
                return node if made == text else _at(node, made)
            case dict() as members:
                below = {key: put(item, place.below(key)) for key, item in members.items()}
                return msgspec.structs.replace(node, value=below)
            case list() as items:
                return msgspec.structs.replace(node, value=[put(item, place) for item in items])
            case _:
                return node

    return put(tree, TextPlace())


def _at(node: DocumentNode, value: Json) -> DocumentNode:
    made = tree_of_values(value)
    place = {name: getattr(node, name) for name in ("line", "column", "key_line", "key_column")}
    return msgspec.structs.replace(made, **place)


def _referring(text: str, place: TextPlace) -> str:
    """The text with references to inputs in place of its parameters: in braces where it has none around them."""
    if place.field not in _EXPRESSIONS and (alone := _PARAMETER.fullmatch(text.strip())) is not None:
        return f"{{{{ {reference(alone[1])} }}}}"
    return "".join(
        _IN_EXPRESSION.sub(_in_expression, part)
        if is_expression
        else _PARAMETER.sub(lambda match: f"{{{{ {reference(match[1])} }}}}", part)
        for is_expression, part in _parts(text, place)
    )


def _in_expression(match: re.Match[str]) -> str:
    """A parameter as a reference; a string that holds some, put together of its pieces."""
    if match[1] is not None:
        return reference(match[1])
    string, quote = match[0], match[0][0]
    if _PARAMETER.search(string) is None:
        return string
    return f"({_PARAMETER.sub(lambda inner: f'{quote} ~ {reference(inner[1])} ~ {quote}', string)})"


def reference(name: str) -> str:
    """The expression that reads the input of that name."""
    if _PLAIN.fullmatch(name):
        return f"inputs.{name}"
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"inputs['{escaped}']"


def _filled(text: str, values: JsonObject | None) -> Json:
    if values is None:
        return _ESCAPE.sub("<<", text)
    whole = _PARAMETER.fullmatch(text.strip())
    if whole is not None and whole[1] in values:
        return _harmless(whole[1], values[whole[1]])

    def put(match: re.Match[str]) -> str:
        return _text(match[1], values[match[1]]) if match[1] in values else match[0]

    # Apart, so that no value is taken for an escape, nor what stands around one for a parameter.
    return "<<".join(_PARAMETER.sub(put, part) for part in _ESCAPE.split(text))


def _text(name: str, value: Json) -> str:
    _harmless(name, value)
    return value if isinstance(value, str) else encode(value).decode()


def _harmless(name: str, value: Json) -> Json:
    """The value, which becomes part of the plan itself. Raises `PlanInvalid` where it holds a template."""
    if "{{" in encode(value).decode():
        fault = Finding(
            code="template_in_value",
            severity="error",
            message=f"The value of <<{name}>> holds a template, and stands where the plan itself is written.",
            path=pointer("inputs", name),
            hint="Give a value without '{{'.",
        )
        raise PlanInvalid((fault,))
    return value


def _inputs(declared: JsonObject, uses: tuple[ParameterUse, ...]) -> JsonObject:
    """The declared schema with the parameters that it does not name: they have to be given, too."""
    known = declared.get("properties") or {}
    missing: dict[str, bool] = {}
    for use in uses:
        if use.name not in known:
            missing[use.name] = missing.get(use.name, True) and not use.is_value
    if not missing:
        return declared
    derived = {name: _derived(name, is_text=is_text) for name, is_text in missing.items()}
    return {
        **declared,
        "type": "object",
        "properties": {**known, **derived},
        "required": list(dict.fromkeys([*(declared.get("required") or ()), *missing])),
    }


def _derived(name: str, *, is_text: bool) -> JsonObject:
    described: JsonObject = {"description": f"Parameter: {name}"}
    return {"type": "string", **described} if is_text else described


def _missing(name: str) -> Finding:
    return Finding(
        code="missing_input",
        severity="error",
        message=f"The plan needs the input '{name}'.",
        path="/inputs",
        hint=f"Give {name}=….",
    )


def _told(plan: Plan, fixed: tuple[ParameterUse, ...]) -> Plan:
    """The plan with a finding for each place that a run fills; what is wrong with it until then is no fault."""
    if not fixed:
        return plan
    places = {use.path for use in fixed}
    known = [finding for finding in plan.source.findings if finding.severity != "error" or finding.path not in places]
    told = [
        Finding(
            code="filled_at_start",
            severity="information",
            message=f"<<{use.name}>> stands where no template can: it is put in when a run starts.",
            path=use.path,
        )
        for use in fixed
    ]
    return msgspec.structs.replace(plan, source=Source(plan.source.file, plan.source.positions, (*known, *told)))
