"""Mending of a model's plan where it is clear what is meant: names, ids, fields of other systems, references. Pure.

What is mended here costs no round. Nothing is guessed: a name is taken for another one only where both are the same but
for case and signs between words, and only one is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool
from toolpath.notation.reading.ids import FORBIDDEN, is_id
from toolpath.values import Json, JsonObject, decode

_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "inputs": ("input", "args", "arguments", "parameters", "params", "with"),
    "when": ("if", "condition", "only_if", "onlyIf", "run_if", "runIf", "conditional"),
    "depends_on": ("dependsOn", "dependencies", "needs", "after", "requires"),
    "tool": ("name", "tool_name", "toolName", "function", "action", "tool_key"),
}
#: What models say of a step that has no bearing on what it does.
_REMARKS: Final = frozenset(
    re.findall(
        r"\S+",
        """description reason reasoning rationale thought why output expected_output expectedOutput type kind comment
        note title step_number order priority output_variable save_as""",
    )
)
#: What models say of a plan beside its steps.
_REMARKS_OF_PLANS: Final = frozenset(
    re.findall(r"\S+", "thought thoughts thinking analysis explanation rationale goal objective summary comment notes")
)
_LOOPS: Final = ("loop", "for_each", "foreach", "forEach", "for", "each", "iterate", "map")
_OVER: Final = ("over", "items", "in", "list", "collection", "array", "source", "for_each", "foreach")
_ITEM: Final = ("as", "item", "var", "variable", "item_name", "iterator", "itemName")
_BODY: Final = ("steps", "do", "body", "tasks", "step")
_PREFIXES: Final = re.compile(r"^(?:functions?|default_api|tools?|api|mcp)[.:/]+", re.IGNORECASE)
_SIGNS: Final = re.compile(r"[^a-z0-9]+")
_PATH: Final = r"[A-Za-z_$][\w-]*(?:\.[\w-]+|\[[^\]\n]{1,60}\])*"
#: `${{ a }}`, `${a}`, `$a` and `$.a`, `{a}`, `<a>`.
_OTHER: Final = re.compile(
    rf"\$\{{\{{\s*({_PATH})\s*\}}\}}|\$\{{\s*({_PATH})\s*\}}|(?<![\w$])\$\.?({_PATH})"
    rf"|(?<!\{{)\{{\s*({_PATH})\s*\}}(?!\}})|<({_PATH})>"
)
#: A condition that is one of JavaScript's templates.
_SCRIPT: Final = re.compile(r"\s*\$\{(?!\{)([^{}]{1,2000})\}\s*")
#: A loop's list that is the number of a step.
_NUMBERED: Final = re.compile(r"\s*\{\{\s*(\d{1,4})\s*\}\}\s*")
_TEMPLATE: Final = re.compile(r"\{\{(.{0,2000}?)\}\}", re.DOTALL)
_QUOTED: Final = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
_NAME: Final = re.compile(rf"(?<![\w.$\]])({_PATH})")
_OPERATORS: Final = (
    # From the first blank of several: from each of them, a thousand blanks would be looked through a thousand times.
    (re.compile(r"(?<!\s)\s*&&\s*"), " and "),
    (re.compile(r"(?<!\s)\s*\|\|\s*"), " or "),
    (re.compile(r"!=="), "!="),
    (re.compile(r"==="), "=="),
    (re.compile(r"!(?![=])\s*"), "not "),
    (re.compile(r"\bnull\b|\bundefined\b|\bnil\b"), "none"),
)
#: As databases write conditions; a call in brackets names its arguments with one sign of equality.
_OF_QUERIES: Final = (
    (re.compile(r"\bAND\b"), "and"),
    (re.compile(r"\bOR\b"), "or"),
    (re.compile(r"\bNOT\b"), "not"),
    (re.compile(r"<>"), "!="),
)
_EQUALS: Final = re.compile(r"(?<![=!<>~])=(?![=~])")
#: Characters of a condition, and braces of a text, up to which they are looked into.
_LONGEST_CONDITION: Final = 2_000
_MOST_BRACES: Final = 500
_OUTPUTS: Final = ("output", "outputs", "result", "results", "response", "data")
_STEP_SAYS: Final = ("output", "status", "error", "duration")


def mended_text(text: str, catalog: Catalog, request: str) -> JsonObject | None:
    """The plan in an answer with what is clear of it mended; None where it is no object with steps."""
    try:
        value = decode(text[text.find("{") : text.rfind("}") + 1])
    except (ValueError, RecursionError):
        value = _listed(text)
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        return None
    return mended(value, catalog, request)


def mended(plan: JsonObject, catalog: Catalog, request: str) -> JsonObject:
    """The plan with its steps as our notation writes them. `request`: braces that stand in it are its own."""
    return _Mender(catalog, request).plan(plan)


class _Mender:
    """One plan."""

    def __init__(self, catalog: Catalog, request: str) -> None:
        self._catalog = catalog
        self._request = request
        self._tools = _by_signs(catalog.tools)
        self._ids: dict[str, str] = {}
        """What models call a step, as it is written and in small letters → its id."""
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        """Id that several steps would have → the number of the last of them."""
        self._outputs: dict[str, Tool] = {}
        self._items: set[str] = set()

    def plan(self, plan: JsonObject) -> JsonObject:
        steps = [self._shaped(step, index) for index, step in enumerate(plan["steps"])]
        said = {key for key in plan.keys() & _REMARKS_OF_PLANS if isinstance(plan[key], str | list)}
        kept = {key: item for key, item in plan.items() if key not in said}
        changed = {**kept, "steps": [self._referring(step) for step in steps]}
        if isinstance(plan.get("outputs"), dict):
            changed["outputs"] = self._value(plan["outputs"])
        return changed

    # Fields, ids, tools.

    def _shaped(self, given: Any, index: int) -> Any:
        if not isinstance(given, dict):
            return given
        step = {key: item for key, item in given.items() if item is not None}
        self._loop(step, index)
        for field, others in _FIELDS.items():
            for other in others:
                if other in step and field not in step and (field != "tool" or "loop" not in step):
                    step[field] = step.pop(other)
        self._id(step, index)
        if isinstance(step.get("inputs"), str):
            step["inputs"] = _object(step["inputs"])
        if isinstance(step.get("depends_on"), int):
            step["depends_on"] = [str(step["depends_on"])]
        for field in step.keys() & _REMARKS:
            del step[field]
        self._tool(step)
        return step

    def _loop(self, step: JsonObject, index: int) -> None:
        """A loop of any other notation as ours has it."""
        name = next((one for one in _LOOPS if one in step), "")
        if not name and step.get("type") in ("loop", "for_each", "foreach", "forEach"):
            name = next((one for one in _OVER if one in step), "")
        if not name:
            return
        given = step.pop(name)
        loop = given if isinstance(given, dict) else {"over": given}
        taken = {**{key: step[key] for key in (*_OVER, *_ITEM, *_BODY, "collect") if key in step}, **loop}
        found: JsonObject = {"over": _first(taken, _OVER)}
        if (item := _first(taken, _ITEM)) is not None:
            found["as"] = item
        body = _body(step, taken, f"{step.get('id', f'each_{index + 1}')}_one")
        for key in (*_OVER, *_ITEM, *_BODY, "collect", "type"):
            step.pop(key, None)
        found.setdefault("as", "item")
        if isinstance(found["as"], str):
            self._items.add(found["as"])
        found["steps"] = [self._shaped(one, number) for number, one in enumerate(body)]
        if "collect" in taken:
            found["collect"] = taken["collect"]
        step["loop"] = found

    def _id(self, step: JsonObject, index: int) -> None:
        given = step.get("id", step.get("step_id", step.get("step")))
        step.pop("step_id", None)
        if isinstance(given, int | str) and "id" not in step:
            step.pop("step", None)
        if not isinstance(given, int | str) or isinstance(given, bool):
            return
        name = str(given)
        new = name
        if not is_id(new) or new in FORBIDDEN or "-" in new:
            new = re.sub(r"\W+", "_", name).strip("_")
            new = new if is_id(new) and new not in FORBIDDEN else f"step_{new}" if new else f"step_{index + 1}"
            base = new
            while new in self._taken:
                self._numbers[base] = self._numbers.get(base, 1) + 1
                new = f"{base}_{self._numbers[base]}"
        step["id"] = new
        self._taken.add(new)
        self._ids[name] = new
        self._ids.setdefault(name.casefold(), new)

    def _tool(self, step: JsonObject) -> None:
        name = step.get("tool")
        if not isinstance(name, str):
            return
        tool = self._catalog.get(name)
        if tool is None:
            key = self._tools.get(_signless(_PREFIXES.sub("", name))) or self._tools.get(_signless(name))
            tool = self._catalog.get(key) if key else None
            if tool is None:
                return
            step["tool"] = tool.key
        if isinstance(step.get("id"), str):
            self._outputs[step["id"]] = tool
        inputs, properties = step.get("inputs"), tool.input_schema.get("properties")
        if isinstance(inputs, dict) and isinstance(properties, dict):
            known = _by_signs(properties)
            step["inputs"] = {
                name
                if name in properties or known.get(_signless(name), name) in inputs
                else known.get(_signless(name), name): item
                for name, item in inputs.items()
            }
            for name, item in step["inputs"].items():
                step["inputs"][name] = _option(item, properties.get(name))

    # References.

    def _referring(self, step: Any) -> Any:
        if not isinstance(step, dict):
            return step
        changed = dict(step)
        if "inputs" in step:
            changed["inputs"] = self._value(step["inputs"])
        if isinstance(step.get("when"), str):
            changed["when"] = self._condition(step["when"])
        if isinstance(step.get("depends_on"), list):
            changed["depends_on"] = [
                self._ids.get(str(one), self._ids.get(str(one).casefold(), one)) for one in step["depends_on"]
            ]
        elif isinstance(step.get("depends_on"), str):
            changed["depends_on"] = self._ids.get(step["depends_on"], step["depends_on"])
        loop = step.get("loop")
        if isinstance(loop, dict):
            over = loop.get("over")
            inner = {**loop, "over": self._list(over) if isinstance(over, str) else over}
            inner["steps"] = [self._referring(one) for one in loop.get("steps") or ()]
            if "collect" in loop:
                inner["collect"] = self._value(loop["collect"])
            changed["loop"] = inner
        return changed

    def _value(self, value: Json) -> Json:
        match value:
            case str():
                return self._text(value)
            case list():
                return [self._value(item) for item in value]
            case dict():
                return {key: self._value(item) for key, item in value.items()}
            case _:
                return value

    def _text(self, text: str) -> str:
        if text in self._request or text.count("{{") > _MOST_BRACES:
            return text

        def other(match: re.Match[str]) -> str:
            path = next(group for group in match.groups() if group)
            path = re.sub(r"^\$?\.?", "", path)
            return f"{{{{ {path} }}}}" if self._is_reference(path) else match.group()

        # What is written as ours already is not looked into for the notations of others.
        pieces = re.split(r"((?<!\$)\{\{.{0,2000}?\}\})", text, flags=re.DOTALL)
        text = "".join(piece if index % 2 else _OTHER.sub(other, piece) for index, piece in enumerate(pieces))
        return _TEMPLATE.sub(lambda match: f"{{{{{self._expression(match.group(1))}}}}}", text)

    def _list(self, text: str) -> str:
        number = _NUMBERED.fullmatch(text)
        if number is not None and number[1] in self._ids:
            return f"{{{{ {self._ids[number[1]]} }}}}"
        path = text.strip()
        if re.fullmatch(_PATH, path) and self._is_reference(path):
            return self._text(f"{{{{ {path} }}}}")
        return self._text(text)

    def _condition(self, text: str) -> str:
        if len(text) > _LONGEST_CONDITION:
            return text
        script = _SCRIPT.fullmatch(text)
        if script is not None:
            return self._condition(script[1])
        changed = self._text(text)
        whole = _TEMPLATE.fullmatch(changed.strip())
        if "{{" in changed and (whole is None or "{{" in whole.group(1)):
            # An expression in which only the references are in braces.
            changed = _TEMPLATE.sub(lambda match: match.group(1).strip(), changed)
        pieces = _QUOTED.split(changed if "{{" in changed else self._expression(changed))
        return "".join(piece if index % 2 else _of_query(piece) for index, piece in enumerate(pieces))

    def _is_reference(self, path: str) -> bool:
        root = re.split(r"[.\[]", path, maxsplit=1)[0]
        return root in self._items or root in ("inputs", "steps") or self._known(root) is not None

    def _known(self, root: str) -> str | None:
        return self._ids.get(root) or self._ids.get(root.casefold())

    def _expression(self, source: str) -> str:
        pieces = _QUOTED.split(source)
        return "".join(piece if index % 2 else self._bare(piece) for index, piece in enumerate(pieces))

    def _bare(self, source: str) -> str:
        for name, step in self._ids.items():
            # A name of several words is none in an expression.
            if " " in name and name in source:
                source = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w)", step, source)
        for pattern, ours in _OPERATORS:
            source = pattern.sub(ours, source)
        # An id that is a number is no name in an expression.
        source = re.sub(r"(?<![\w.])(\d+)(?=\.[A-Za-z_])", lambda match: self._ids.get(match[1], match[1]), source)
        return _NAME.sub(lambda match: self._path(match.group(1)), source)

    def _path(self, path: str) -> str:
        head, rest = re.split(r"(?![\w$-])", path, maxsplit=1)
        if head == "steps":
            named = re.match(r"\.([\w-]+)(\.[A-Za-z_]\w*)?(.*)", rest, re.DOTALL)
            step = self._known(named[1]) if named else None
            if named is None or step is None:
                return path
            if (named[2] or ".output")[1:] in _STEP_SAYS:
                return f"steps.{step}{named[2] or ''}{named[3]}"
            return self._read(step, (named[2] or "") + named[3])
        step = self._known(head)
        return path if step is None or head in self._items else self._read(step, rest)

    def _read(self, step: str, rest: str) -> str:
        """A reference to a part of a step's output, as its schema writes the names."""
        tool = self._outputs.get(step)
        schema: Any = tool.output_schema if tool is not None else None
        properties = schema.get("properties") if isinstance(schema, dict) else None
        first = re.match(r"\.(\w+)(.*)", rest, re.DOTALL)
        if first is not None and isinstance(schema, dict) and schema.get("type") == "array" and first[1] in _OUTPUTS:
            # A list has no parts by name.
            return self._read(step, first[2])
        if first is None or not isinstance(properties, dict):
            return step + rest
        name, more = first[1], first[2]
        if name in properties:
            return step + rest
        if name in _OUTPUTS:
            return self._read(step, more)
        known = _by_signs(properties).get(_signless(name))
        return f"{step}.{known}{more}" if known else step + rest


def _signless(name: str) -> str:
    return _SIGNS.sub("", name.casefold())


def _by_signs(names: Iterable[str]) -> dict[str, str]:
    """The names by their letters and digits alone; those that are several are left out."""
    found: dict[str, str] = {}
    twice: set[str] = set()
    for name in names:
        plain = _signless(name)
        if plain in found:
            twice.add(plain)
        found[plain] = name
    return {plain: name for plain, name in found.items() if plain and plain not in twice}


def _body(step: JsonObject, taken: JsonObject, name: str) -> list[Any]:
    """The steps of a loop; where it has none, the step itself, which `name` is for, with what it says of an item."""
    steps = _first(taken, _BODY)
    body = steps if isinstance(steps, list) else [steps] if isinstance(steps, dict) else []
    if body or not any(key in step for key in ("tool", *_FIELDS["tool"])):
        return body
    keys = ["tool", *_FIELDS["tool"], "inputs", *_FIELDS["inputs"]]
    item = _first(taken, _ITEM) or "item"
    # What is said of an item holds for each, and not for all of the loop.
    keys += [key for key in ("when", *_FIELDS["when"]) if isinstance(step.get(key), str) and _reads(step[key], item)]
    return [{"id": name, **{key: step.pop(key) for key in keys if key in step}}]


def _listed(text: str) -> Any:
    """The plan that an answer is which is nothing but its steps, a loop among them; else an empty object."""
    try:
        value = decode(text[text.find("[") : text.rfind("]") + 1])
    except (ValueError, RecursionError):
        return {}
    is_plan = isinstance(value, list) and any(isinstance(one, dict) and one.keys() & {*_LOOPS} for one in value)
    return {"steps": value} if is_plan else {}


def _reads(condition: str, item: object) -> bool:
    return isinstance(item, str) and re.search(rf"(?<![\w.]){re.escape(item)}\b", condition) is not None


def _option(value: Json, schema: Any) -> Json:
    """The option of a schema that a text is but for case and signs; else the text."""
    options = schema.get("enum") if isinstance(schema, dict) else None
    if not isinstance(value, str) or not isinstance(options, list) or value in options:
        return value
    return _by_signs(one for one in options if isinstance(one, str)).get(_signless(value), value)


def _of_query(source: str) -> str:
    """Words and signs of a query's condition as ours."""
    for pattern, ours in _OF_QUERIES:
        source = pattern.sub(ours, source)
    return source if "(" in source else _EQUALS.sub("==", source)


def _first(members: JsonObject, names: Iterable[str]) -> Any:
    return next((members[name] for name in names if name in members), None)


def _object(text: str) -> Any:
    try:
        value = decode(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
