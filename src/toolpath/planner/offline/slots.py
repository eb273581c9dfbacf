"""A tool's parameters as the planner sees them: type, words that name it, values that its description shows. Pure."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from toolpath.catalog.words import STOP, raw_words, stem
from toolpath.values import Json, JsonObject

Type = Literal["string", "integer", "number", "boolean", "array", "object", "any"]
_TYPES = ("string", "integer", "number", "boolean", "array", "object")
#: Words of names that say nothing of the value.
_EMPTY = frozenset(
    [
        "name",
        "value",
        "type",
        "string",
        "number",
        "the",
        "of",
        "in",
        "is",
        "param",
        "parameter",
        "input",
        "text",
        "data",
        "info",
        "details",
    ]
)
_EXAMPLES = re.compile(
    r"(?:e\.?g\.?|such as|for example|for instance|like|i\.e\.|options?:|can be|one of|either)[,:]?\s*"
    r"([^.;()\n]{2,160})",
    re.IGNORECASE,
)
_SHOWN = re.compile(r"['\"]([^'\"\n]{1,40})['\"]")
_DEFAULT = re.compile(r"default(?:s|ed)?(?: value)?(?: is| to|=|:)*\s*['\"]?([\w.-]+)", re.IGNORECASE)
_DEPTH = 4

#: What kind of thing a parameter names → words that say so.
CLASSES: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "place": "location city place country region area state address destination origin venue town continent county "
        "province where site neighborhood zone territory landmark park",
        "person": "author artist actor director person player composer user customer employee patient student "
        "scientist painter writer musician singer recipient sender attendee owner creator president historical "
        "figure assignee agent",
        "date": "date day deadline birthday birthdate",
        "time": "time hour",
        "id": "id identifier code number isbn sku uuid hash key symbol ticker zip zipcode postal phone asin token ip",
        "text": "title message body content text description subject note comment caption query topic keyword name "
        "summary prompt question sentence",
        "email": "email mail",
        "url": "url link uri website endpoint",
        "money": "amount price cost budget salary income money investment payment principal value revenue fee balance "
        "loan sum deposit wage rent expense contribution cash",
        "rate": "rate percent percentage probability yield interest ratio chance discount tax return growth",
        "expression": "function equation expression formula polynomial",
        "organization": "company organization team club brand stock institution school university league store bank "
        "airline agency corporation",
    }.items()
}


class Slot(msgspec.Struct, frozen=True):
    """One parameter."""

    name: str
    type: Type
    required: bool
    words: tuple[str, ...]
    """The words of its name, stemmed, telling ones only."""
    described: frozenset[str]
    """The telling words of its description, stemmed."""
    description: str = ""
    options: tuple[Json, ...] = ()
    """The values it may take, where the schema says."""
    shown: tuple[str, ...] = ()
    """Values that its description gives as examples."""
    classes: frozenset[str] = frozenset()
    preset: Json = None
    """The default of the schema."""
    default: Json = None
    """The same, or what the description says it is."""
    item: Slot | None = None
    """Of an array: what it holds."""
    fields: tuple[Slot, ...] = ()
    """Of an object: its own parameters."""
    format: str = ""


def slots_of(schema: JsonObject, depth: int = 0) -> tuple[Slot, ...]:
    """The parameters of an object schema; none for what is no such schema."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth > _DEPTH:
        return ()
    required = schema.get("required")
    needed = (
        frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
    )
    return tuple(_slot(str(name), value, str(name) in needed, depth) for name, value in properties.items())


def _slot(name: str, schema: Json, required: bool, depth: int) -> Slot:
    schema = schema if isinstance(schema, dict) else {}
    text = schema.get("description")
    description = text[:1_000] if isinstance(text, str) else ""
    kind = _type(schema)
    options = schema.get("enum")
    items = schema.get("items")
    raw = raw_words(name)
    telling = tuple(stem(word) for word in raw if word not in STOP and word not in _EMPTY)
    described = frozenset(stem(word) for word in raw_words(description) if word not in STOP)
    default = schema.get("default")
    if default is None and (match := _DEFAULT.search(description)):
        default = match.group(1)
    return Slot(
        name=name,
        type=kind,
        required=required,
        words=telling or tuple(stem(word) for word in raw),
        described=described,
        description=description,
        options=tuple(options) if isinstance(options, list) else (),
        shown=_shown(description),
        classes=_classes(raw, description),
        preset=schema.get("default"),
        default=default,
        item=_slot(
            name, {"description": description, **(items if isinstance(items, dict) else {})}, required, depth + 1
        )
        if kind == "array" and depth < _DEPTH
        else None,
        fields=slots_of(schema, depth + 1) if kind == "object" else (),
        format=str(schema.get("format") or ""),
    )


def _type(schema: JsonObject) -> Type:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), None)
    if kind is None:
        for key in ("anyOf", "oneOf"):
            branches = schema.get(key)
            if isinstance(branches, list):
                kinds = [one.get("type") for one in branches if isinstance(one, dict) and one.get("type") != "null"]
                kind = kinds[0] if kinds else None
        if "properties" in schema:
            kind = "object"
    kind = {
        "float": "number",
        "int": "integer",
        "dict": "object",
        "list": "array",
        "str": "string",
        "bool": "boolean",
    }.get(str(kind), kind)
    return kind if kind in _TYPES else "any"  # type: ignore[return-value]


def _shown(description: str) -> tuple[str, ...]:
    """Values given as examples: quoted ones, and lists after `e.g.` and the like."""
    found = dict.fromkeys(value.strip() for value in _SHOWN.findall(description))
    for part in _EXAMPLES.findall(description):
        for value in re.split(r",|\bor\b|\band\b|/", part):
            plain = value.strip(" '\"`.")
            if 1 < len(plain) < 40 and not plain.lower().startswith(("etc", "default")):
                found[plain] = None
    return tuple(found)


def _classes(raw: list[str], description: str) -> frozenset[str]:
    own = {stem(word) for word in raw}
    found = {name for name, words in CLASSES.items() if own & words}
    if not found - {"text"}:
        opening = {stem(word) for word in raw_words(description)[:8]}
        found |= {name for name, words in CLASSES.items() if name != "text" and opening & words}
    return frozenset(found)
