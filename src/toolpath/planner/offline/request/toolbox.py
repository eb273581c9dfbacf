"""Tools as a request is read for them: what they are for, the kinds of their fields, what their outputs hold. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.concepts import STOPS, concepts_of, listed_concepts
from toolpath.checks.request.plain_schemas import plain_inputs, plain_outputs
from toolpath.checks.request.tools import acts, acts_of, fits, makes_of, verbs_of
from toolpath.checks.request.verbs import folded, meanings_of
from toolpath.model.tool import Tool
from toolpath.planner.offline.match import words_of
from toolpath.planner.offline.request.field_kinds import (
    LONGEST_PATTERN,
    PLAIN_PATTERN,
    FieldKind,
    kind_of_field,
    matches,
)
from toolpath.values import Json, JsonObject

_PREFIX: Final = re.compile(
    r"(?:\b(?:such as|like|for example|as in)|e\.g\.,?|z\.\s?B\.|p\.\s?ex\.) ([A-Za-z]{1,8}[-_])[\w-]*\d"
    r"|(?<![\w-])([A-Z]{1,8}-) (?:and|then|followed by)\b[^.]{0,30}\b(?:digits|number)",
    re.IGNORECASE,
)
#: Examples as a description gives them: `Class, e.g. 7b`.
_EXAMPLE: Final = re.compile(
    r"(?:\b(?:such as|like|for example|as in)|e\.g\.,?|z\.\s?B\.|p\.\s?ex\.|\bAs(?= \d))\s+[`'\"]?"
    r"([\w#.:/+-]{1,40}(?: \d{1,6})?)",
    re.IGNORECASE,
)
#: How a description says that a number is a thing's name: `Number of the pupil`, `Episode number`.
_GOES_BY: Final = re.compile(r"^(?:the )?(?:number|no\.?|id) of (?:the|an?) |^\w+ (?:number|no\.?|id)\b")


class ToolField(msgspec.Struct, frozen=True):
    """One parameter of a tool, or one value of its output."""

    name: str
    kind: FieldKind
    required: bool = False
    is_list: bool = False
    concepts: frozenset[str] = frozenset()
    """Of its name."""
    described: frozenset[str] = frozenset()
    options: tuple[Json, ...] = ()
    prefix: str = ""
    """How its ids begin, as its description shows it."""
    unit: str = ""
    """Of a duration."""
    description: str = ""
    is_whole: bool = False
    """Numbers without a fraction alone."""
    path: tuple[str, ...] = ()
    """Of an output: where it is."""
    pattern: str = ""
    """What its values have to match."""
    examples: tuple[str, ...] = ()
    """Values that its description shows."""

    def admits(self, text: str) -> bool:
        """Whether a text matches the pattern of the parameter, where it has one."""
        return not self.pattern or not PLAIN_PATTERN.fullmatch(self.pattern) or matches(self.pattern, text)

    @property
    def is_name(self) -> bool:
        """Whether it is a number by which a thing goes, and nothing is counted: `ticket_id`."""
        words = raw_words(self.name)
        if self.kind != "number" or {"of", "count"} & {*words}:
            return False
        opening = self.description.casefold()
        is_counted = opening.startswith(("how ", "number of people", "number of replicas"))
        return not is_counted and (words[-1:] in (["id"], ["no"], ["number"]) or _GOES_BY.search(opening) is not None)


class Listed(msgspec.Struct, frozen=True):
    """A list that a tool gives, and what its items hold; none: plain values."""

    path: tuple[str, ...]
    fields: tuple[ToolField, ...]


class Kit(msgspec.Struct, frozen=True):
    """A tool with all that is read of it."""

    tool: Tool
    fields: tuple[ToolField, ...]
    outputs: tuple[ToolField, ...]
    lists: tuple[Listed, ...]
    verbs: frozenset[str]
    named: tuple[frozenset[str], ...]
    """The concepts of each word of its name."""
    described: frozenset[str]
    opening: frozenset[str]
    """The concepts of how its description begins: `Move or rename a file.`"""
    extra: frozenset[str]
    """Concepts of its fields and their options."""
    given: frozenset[str]
    """Concepts of the names of what it gives."""
    is_acting: bool
    words: frozenset[str] = frozenset()
    """Of its name and description, as they are compared."""

    @property
    def key(self) -> str:
        """Of the tool."""
        return self.tool.key

    @property
    def required(self) -> tuple[ToolField, ...]:
        """The parameters that a call needs."""
        return tuple(field for field in self.fields if field.required)


#: Without groups, which a stranger's pattern may take for ever with.
class Toolbox:
    """The tools of a catalogue, read once; how much a concept tells depends on how many of them have it."""

    def __init__(
        self, tools: Iterable[Tool], today: date | None = None, near: Mapping[str, float] | None = None
    ) -> None:
        """`near`: how near each tool is to the request by what both mean, where that is known."""
        self.today = today
        """What `this month` is counted from."""
        self.kits = tuple(kit_of(tool) for tool in tools)
        self._near = near or {}
        known = [self._near[kit.key] for kit in self.kits if kit.key in self._near]
        self._usual = sum(known) / len(known) if known else 0.0
        self.prefixes = _prefixes(self.kits)
        self.examples: dict[str, tuple[str, ...]] = {}
        """By name of parameters: what the tools show as examples."""
        for field in (one for kit in self.kits for one in kit.fields if one.examples):
            self.examples[field.name] = (*self.examples.get(field.name, ()), *field.examples)
        self.kits = tuple(_with_ids(kit, self.prefixes) for kit in self.kits)
        self.forms = example_forms(tuple(one for kit in self.kits for field in kit.fields for one in field.examples))
        """How the ids look that the tools show as examples."""
        self.acts = frozenset[str]().union(*(acts_of(kit.tool) for kit in self.kits if kit.is_acting))
        self.told = _told(self.kits)
        """Parameter and its options → what the tools say of it, all together."""
        self.verbs = frozenset[str]().union(*(kit.verbs - _written_as_one(kit) for kit in self.kits if kit.is_acting))
        self._options = Counter(key for kit in self.kits for key in {_of_options(one) for one in kit.fields})
        self._states = _states(self.kits)
        self._having = Counter(concept for kit in self.kits for concept in frozenset().union(*kit.named, kit.described))

    def weight(self, concepts: frozenset[str]) -> float:
        """How much it tells that a request says one of these."""
        fewest = min((self._having.get(one, 0) for one in concepts if one in self._having), default=0)
        return math.log(1 + (len(self.kits) + 1) / (fewest + 0.5))

    def nearness(self, kit: Kit) -> float:
        """How much nearer the tool is to the request by its meaning than they all are on average."""
        return self._near.get(kit.key, self._usual) - self._usual

    def having(self, field: ToolField) -> int:
        """How many tools have a parameter with such options."""
        return self._options[_of_options(field)]

    def given(self, kit: Kit) -> frozenset[str]:
        """Concepts of what a tool gives, and of what a value of that name may be as other tools tell: `solved`."""
        outputs = [*kit.outputs, *(one for listed in kit.lists for one in listed.fields)]
        return kit.given.union(*(self._states[one.name] for one in outputs if one.name in self._states))

    def prefix_of(self, field: ToolField) -> str:
        """How the ids of a field begin: as it says itself, else as some field of its name does."""
        one = field.name[:-1] if field.is_list and field.name.endswith("s") else field.name
        return field.prefix or self.prefixes.get(field.name) or self.prefixes.get(one, "")

    def is_found(self, field: ToolField) -> bool:
        """Whether a tool that reads gives an id of its name, found by something else: a name is no such id then."""
        return any(
            one.name == field.name and all(need.name != field.name for need in kit.required)
            for kit in self.kits
            if not kit.is_acting and kit.required
            for one in kit.outputs
        )

    def told_of(self, field: ToolField) -> str:
        """Words that the tools say of a parameter of this name with these options."""
        return self.told.get((field.name, str(field.options)), "")

    def knows_prefix(self, text: str) -> bool:
        """Whether some field's ids begin as the text does."""
        return any(text.casefold().startswith(one.casefold()) for one in self.prefixes.values())


def _written_as_one(kit: Kit) -> frozenset[str]:
    """The name of several words that is written as one: of `rentLocker` the verb is `rent` alone."""
    name = kit.tool.name
    return frozenset((folded(name),)) if len(raw_words(name)) > 1 and name.isalpha() else frozenset()


def _told(kits: Sequence[Kit]) -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], list[str]] = {}
    for kit in kits:
        for field in kit.fields:
            if field.options and field.description:
                found.setdefault((field.name, str(field.options)), []).append(field.description)
    return {of: "; ".join(dict.fromkeys(texts))[:1_000] for of, texts in found.items()}


def _of_options(field: ToolField) -> object:
    return field.options or (field.name, field.kind)


def _states(kits: Sequence[Kit]) -> dict[str, frozenset[str]]:
    """Name of a value → concepts of what it may be, as any tool tells."""
    found: dict[str, frozenset[str]] = {}
    for kit in kits:
        for field in (*kit.fields, *kit.outputs):
            if field.kind == "enum":
                said = frozenset[str]().union(*(concepts_in(str(one).replace("_", " ")) for one in field.options))
                found[field.name] = found.get(field.name, frozenset()) | said
    return found


def _with_ids(kit: Kit, prefixes: Mapping[str, str]) -> Kit:
    """The tool with ids where it says no form, and a field called alike of another tool shows one: `sku`."""
    if not any(field.kind == "text" and field.name in prefixes for field in kit.fields):
        return kit
    fields = [
        msgspec.structs.replace(field, kind="id") if field.kind == "text" and field.name in prefixes else field
        for field in kit.fields
    ]
    return msgspec.structs.replace(kit, fields=tuple(fields))


def _prefixes(kits: Sequence[Kit]) -> dict[str, str]:
    found: dict[str, str] = {}
    for kit in kits:
        for field in kit.fields:
            if field.prefix:
                found.setdefault(field.name, field.prefix)
    for kit in kits:
        for field in kit.fields:
            # `into`, `source_id`: the other id of the same tool begins alike.
            if field.kind == "id" and field.name not in found and not field.examples:
                last = field.name.rpartition("_")[2]
                if last != "id" and last in found:
                    # `from_account` is an `account`.
                    found[field.name] = found[last]
                    continue
                own = [other for other in kit.fields if other.kind == "id" and other.name in found]
                if own and (field.described & own[0].described - {"id", "such", "new"}):
                    found[field.name] = found[own[0].name]
    return found


def kit_of(tool: Tool) -> Kit:
    """The tool read; kept with it, since tools are frozen."""
    known = tool.__dict__.get("_kit")
    if isinstance(known, Kit):
        return known
    fields = tuple(_fields(plain_inputs(tool), tool.description[:400]))
    words = raw_words(tool.name)
    extra = frozenset[str]().union(
        *(field.concepts for field in fields),
        *(concepts_of(str(option)) for field in fields for option in field.options if isinstance(option, str)),
    )
    outputs, lists = _outputs(plain_outputs(tool))
    given = [*outputs, *(one for listed in lists for one in listed.fields)]
    paths = [word for listed in lists for name in listed.path for word in raw_words(name)]
    kit = Kit(
        tool=tool,
        fields=fields,
        outputs=tuple(outputs),
        lists=tuple(lists),
        verbs=verbs_of(tool),
        named=tuple(concepts_of(word) for word in words if folded(word) not in STOPS or word in ("on", "off")),
        described=concepts_in(tool.description[:400]),
        opening=frozenset[str]().union(*(listed_concepts(word) for word in raw_words(tool.description[:60])[:3])),
        extra=extra,
        given=frozenset[str]().union(*(one.concepts for one in given), *map(concepts_of, paths)),
        is_acting=acts(tool),
        words=frozenset(words_of(f"{tool.name} {tool.description[:400]}")),
    )
    tool.__dict__["_kit"] = kit
    return kit


def concepts_in(text: str) -> frozenset[str]:
    """Concepts of the words of a text."""
    words = [word for word in raw_words(text) if folded(word) not in STOPS]
    return frozenset[str]().union(*(concepts_of(word) for word in words)) if words else frozenset()


def _fields(schema: JsonObject, told: str = "") -> Iterable[ToolField]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return
    needed = {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()
    silent = [name for name, value in properties.items() if isinstance(value, dict) and _says_nothing(value)]
    is_measured = any(is_unit_name(str(name)) for name in properties)
    for name, value in properties.items():
        if not isinstance(value, dict):
            continue
        # `Show an article by its id, such as PT-40.` is said of the tool, and meant of the one text that it takes.
        shown = {"description": _ids_shown(told)} if silent == [name] else {}
        field = _field(str(name), {**value, **shown}, required=name in needed)
        # An `amount` beside a `unit` is no money.
        is_amount = is_measured and field.kind == "money"
        yield msgspec.structs.replace(field, kind="number") if is_amount else field


def is_unit_name(name: str) -> bool:
    """Whether a parameter of this name takes the unit of an amount."""
    return raw_words(name)[-1:] in (["unit"], ["units"], ["uom"])


def _says_nothing(schema: JsonObject) -> bool:
    """Whether a parameter is a text of which its schema says nothing more."""
    return schema.get("type") == "string" and not any(schema.get(key) for key in ("description", "enum", "format"))


def _ids_shown(text: str) -> str:
    """Examples that a text shows and that look like ids, as it introduces them: `such as PT-40`."""
    shown = [found for found in _EXAMPLE.finditer(text) if any(forms_of((found[1].rstrip(".:,"),)))]
    return " ".join(found.group() for found in shown)


def _field(name: str, schema: JsonObject, *, required: bool = False, path: tuple[str, ...] = ()) -> ToolField:
    items = schema.get("items")
    is_list = schema.get("type") == "array"
    inner = items if is_list and isinstance(items, dict) else schema
    text = schema.get("description")
    description = text[:400] if isinstance(text, str) else ""
    options = inner.get("enum")
    prefix = _PREFIX.search(description)
    pattern = str(inner.get("pattern") or "")
    kind, unit = kind_of_field(name, inner, description)
    examples = tuple(found[1].rstrip(".:,") for found in _EXAMPLE.finditer(description))
    if kind in ("text", "place") and (prefix or any(forms_of(examples))):
        kind = "id"
    return ToolField(
        name=name,
        kind=kind,
        required=required,
        is_list=is_list,
        concepts=concepts_in(name) or frozenset(raw_words(name)),
        described=concepts_in(description),
        options=tuple(options) if isinstance(options, list) else (),
        prefix=(prefix[1] or prefix[2]) if prefix else "",
        unit=unit,
        description=description,
        is_whole=inner.get("type") == "integer",
        path=path,
        pattern=pattern if len(pattern) <= LONGEST_PATTERN else "",
        examples=examples,
    )


#: Letters of which the first ones say of which kind an id is: `T-ECO`.
_OF_LETTERS: Final = re.compile(r"([A-Z]{1,5}[-_])[A-Z]{2,12}")


def forms_of(examples: Iterable[str]) -> Iterator[re.Pattern[str]]:
    """How values look that are like the examples: the same letters and marks, with other digits."""
    seen: set[str] = set()
    for example in examples:
        letters = _OF_LETTERS.fullmatch(example)
        if letters is not None and letters[1] not in seen:
            seen.add(letters[1])
            yield re.compile(rf"(?<![\w.-]){re.escape(letters[1])}[A-Z]{{2,12}}(?![\w-])")
        if not re.search(r"\d", example) or not re.search(r"[A-Za-z]", example) or "/" in example or "@" in example:
            continue
        # What stands before a hyphen says of which kind an id is.
        prefix = re.match(r"[A-Za-z]+[-_]|", example)
        start = prefix[0] if prefix is not None else ""
        rest = "".join(_like(part) for part in re.findall(r"[A-Za-z]+|\d+|.", example[len(start) :]))
        form = (f"(?i:{re.escape(start)})" if start else "") + rest
        if form not in seen:
            seen.add(form)
            yield re.compile(rf"(?<![\w.-]){form}(?![\w-])")


def is_like_examples(text: str, field: ToolField) -> bool:
    """Whether a value is of the form of the parameter's examples: `8a` is of `e.g. 7b`, `#ops` of `e.g. #oncall`."""
    if any(text[:1] == one[:1] and text[:1] in ("#", "@") for one in field.examples):
        return True
    if text.isupper() and any(one.isalpha() and one.isupper() and len(one) == len(text) for one in field.examples):
        # `MUC` is of `e.g. BER`.
        return True
    return any(form.fullmatch(text) for form in example_forms(field.examples))


#: Words of parameters that take codes of goods, whose letters say what kind of thing it is: `CR-01`, `RY-03`.
_CODES: Final = frozenset(("sku", "product", "article", "part", "model", "item", "code", "material", "variety"))


def is_other_code(text: str, field: ToolField, box: Toolbox) -> bool:
    """Whether a value is a code of goods as the parameter takes them, beginning with other letters than its examples.

    Those of a parameter of its name are its own, too.
    """
    if not _CODES & {*raw_words(field.name)} or box.knows_prefix(text):
        return False
    return any(_shape(text) == _shape(one) for one in box.examples.get(field.name, ()))


def _shape(text: str) -> str:
    return re.sub(r"[A-Z]", "A", re.sub(r"\d+", "0", text))


@lru_cache(maxsize=1_024)
def example_forms(examples: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    """The forms of these examples."""
    return tuple(forms_of(examples))


def _like(part: str) -> str:
    if part.isdigit():
        return rf"\d{{1,{len(part) + 2}}}"
    if part.isalpha():
        return (
            rf"[A-Z]{{1,{max(3, len(part))}}}"
            if part.isupper()
            else rf"[a-z]{{1,{len(part)}}}"
            if part.islower()
            else part
        )
    return re.escape(part)


def _outputs(schema: Json, path: tuple[str, ...] = ()) -> tuple[list[ToolField], list[Listed]]:
    """The plain values of an output, and its lists."""
    fields: list[ToolField] = []
    lists: list[Listed] = []
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(schema, dict) and schema.get("type") == "array" and not path:
        return [], [Listed((), tuple(_item_fields(schema)))]
    if not isinstance(properties, dict):
        return fields, lists
    for name, value in properties.items():
        if not isinstance(value, dict) or not str(name).isidentifier():
            continue
        here = (*path, str(name))
        if value.get("type") == "array":
            lists.append(Listed(here, tuple(_item_fields(value))))
        elif value.get("type") == "object" and len(here) < 3:
            inner, deeper = _outputs(value, here)
            fields += inner
            lists += deeper
        else:
            fields.append(_field(str(name), value, path=here))
    return fields, lists


def _item_fields(schema: JsonObject) -> list[ToolField]:
    return _outputs(schema.get("items"))[0]


#: What belongs to a verb: `turn_off`.
PARTICLES: Final = frozenset(("on", "off", "up", "down", "in", "out", "back"))


def things_of(kit: Kit) -> tuple[str, ...]:
    """The words of a tool's name but for its verb: what it is for; none of `turn_on`."""
    words = raw_words(kit.tool.name)
    at = next((at for at, word in enumerate(words) if fits(word, kit.tool)), 0)
    rest = (folded(word) for place, word in enumerate(words) if place != at and word not in PARTICLES)
    return tuple(word for word in rest if word not in STOPS)


def means(verb: str, kit: Kit) -> bool:
    """Whether a verb may command the tool."""
    plain = folded(verb)
    if plain in kit.verbs or makes_of(verb, kit.tool):
        # `Reserve a suite`, of `create_reservation`.
        return True
    meant = meanings_of(verb)
    return any(meant & meanings_of(own) for own in kit.verbs)
