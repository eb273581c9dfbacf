"""Requests that are taken apart: reads a decomposition as other systems write it, and makes one by rules. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, cast, get_args

import msgspec

from toolpath.errors import ReadError
from toolpath.values import Json, JsonObject

QueryType = Literal["simple_lookup", "procedural", "comparative", "multi_hop", "list_building", "conversational"]
QUERY_TYPES: Final = get_args(QueryType)
_MAX_PARTS: Final = 10
_LONGEST: Final = 20_000
_FORM: Final = 'It holds {"sub_queries": [{"id": "a", "query": "…"}]}.'

#: Words between two things that are to be done one after the other.
_THEN: Final = re.compile(
    r"\s*(?:;|(?<=\w)\.(?=\s+[A-Z])|,?\s+(?:and\s+)?(?:then|afterwards|after that|finally)\b,?|,\s+and(?=\s+\w+\s))\s*",
    re.IGNORECASE,
)
_AND: Final = re.compile(r",?\s+(?:and|as well as|plus)\s+|,\s+", re.IGNORECASE)
_COMPARE: Final = re.compile(r"\b(?:vs\.?|versus|compared?(?: to| with)?|difference between)\b", re.IGNORECASE)
_BACK: Final = re.compile(r"\b(?:it|its|this|that|these|those|them|their|the (?:result|output|first|former))\b", re.I)
_LIST: Final = re.compile(r"^\s*(?:list|build|collect|compile|enumerate|gather)\b", re.IGNORECASE)
_TALK: Final = re.compile(r"^\s*(?:hi|hello|hey|thanks|thank you|how are you)\b", re.IGNORECASE)
#: Verbs with which a clause of its own begins; 'and' between two nouns takes nothing apart.
_VERB: Final = re.compile(
    r"^(?:add|book|build|calculate|call|check|comment|compare|compute|convert|copy|create|delete|download|extract|fetch|"
    r"filter|find|get|give|list|look|make|move|notify|open|post|publish|query|read|remove|rename|save|schedule|search|"
    r"send|show|sort|store|sum|summari[sz]e|tell|translate|update|upload|validate|verify|write)\b",
    re.IGNORECASE,
)


class SubQuery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One part of a request."""

    id: str
    query: str
    suggested_tool: str = ""
    dependencies: tuple[str, ...] = ()
    """Ids of parts whose results it needs."""
    priority: int = 1


class Decomposition(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A request taken apart."""

    original_query: str
    query_type: QueryType = "simple_lookup"
    sub_queries: tuple[SubQuery, ...] = ()
    synthesis_required: bool = False
    synthesis_prompt: str = ""
    extracted_entities: tuple[Json, ...] = ()
    confidence: float | None = None
    """0 to 1; None: its maker did not say."""

    @property
    def stages(self) -> tuple[tuple[str, ...], ...]:
        """Ids in the order in which they can be done: each stage needs only what is in the stages before it."""
        done: set[str] = set()
        left = list(self.sub_queries)
        found: list[tuple[str, ...]] = []
        while left:
            ready = [part for part in left if done.issuperset(part.dependencies)] or left[:1]
            found.append(tuple(part.id for part in ready))
            done.update(part.id for part in ready)
            left = [part for part in left if part.id not in done]
        return tuple(found)


def read_decomposition(value: Decomposition | Mapping[str, Any], request: str = "") -> Decomposition:
    """The decomposition that an object holds, with names in camelCase or snake_case.

    `request`: what it is of, where it does not say. Dependencies on parts that are not there are left out. Raises
    `ReadError` where it is none.
    """
    if isinstance(value, Decomposition):
        return value
    if not isinstance(value, Mapping):
        raise ReadError("A decomposition is an object.", hint=_FORM)
    _check_unicode(value)
    fields = {_snake(str(key)): item for key, item in value.items()}
    original = fields.get("original_query") or fields.get("query") or request
    if not isinstance(original, str) or not original:
        raise ReadError("A decomposition needs the text of the request.", hint="Give 'originalQuery'.")
    if "sub_queries" not in fields:
        raise ReadError("The decomposition has no 'sub_queries'.", hint=_FORM)
    parts = _parts(fields["sub_queries"] or ())
    kind = _snake(str(fields.get("query_type", "")))
    confidence = fields.get("confidence")
    known = isinstance(confidence, int | float) and not isinstance(confidence, bool) and 0 <= confidence <= 1
    return Decomposition(
        original_query=original,
        query_type=cast("QueryType", kind)
        if kind in QUERY_TYPES
        else "procedural"
        if len(parts) > 1
        else "simple_lookup",
        sub_queries=parts,
        synthesis_required=fields.get("synthesis_required") is True,
        synthesis_prompt=str(fields.get("synthesis_prompt") or ""),
        extracted_entities=_entities(fields.get("extracted_entities")),
        confidence=float(cast("float", confidence)) if known else None,
    )


def _check_unicode(value: Mapping[str, Any]) -> None:
    """Raise `ReadError` for text with half a character in it, which nothing can keep or send."""
    try:
        msgspec.json.encode(dict(value))
    except UnicodeEncodeError:
        raise ReadError("The decomposition has text that is no Unicode: a surrogate stands alone.") from None
    except (TypeError, ValueError, OverflowError, RecursionError):
        return  # What is no JSON is told of where it stands.


def _parts(items: Any) -> tuple[SubQuery, ...]:
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise ReadError("'subQueries' is a list of {id, query, suggestedTool, dependencies}.")
    found: list[SubQuery] = []
    for number, item in enumerate(items[: _MAX_PARTS * 10], 1):
        fields: JsonObject = (
            {_snake(str(k)): v for k, v in item.items()} if isinstance(item, Mapping) else {"query": item}
        )
        if not isinstance(fields.get("query"), str):
            raise ReadError(f"Part {number} of the decomposition has no text.", hint="Give 'query'.")
        priority = fields.get("priority")
        found.append(
            SubQuery(
                id=str(fields.get("id") or f"q{number}"),
                query=fields["query"],
                suggested_tool=str(fields.get("suggested_tool") or ""),
                dependencies=_texts(fields.get("dependencies")),
                priority=priority if isinstance(priority, int) else 1,
            )
        )
    ids = {part.id for part in found}
    return tuple(
        msgspec.structs.replace(part, dependencies=tuple(one for one in part.dependencies if one in ids - {part.id}))
        for part in found
    )


def _entities(value: Any) -> tuple[Json, ...]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(value)
    # Other systems write one alone, or an object of them.
    return () if value is None else (value,)


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value) if isinstance(value, Sequence) else ()


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).replace("-", "_").lower()


def decompose(text: str) -> Decomposition:
    """The request taken apart by rules: at 'then', at 'and' before a verb, at comparisons.

    Its confidence is high for one plain clause and falls with every cut that could have been wrong.
    """
    text = text[:_LONGEST].strip()
    if _TALK.match(text) or not text:
        return Decomposition(original_query=text, query_type="conversational", confidence=0.6)
    compared = _compared(text)
    if compared:
        parts = tuple(SubQuery(id=f"q{number}", query=part) for number, part in enumerate(compared, 1))
        return Decomposition(
            original_query=text, query_type="comparative", sub_queries=parts, synthesis_required=True, confidence=0.7
        )
    stages = [_clauses(stage) for stage in _THEN.split(text) if stage.strip()]
    parts = _linked(stages)
    if len(parts) == 1:
        kind: QueryType = "list_building" if _LIST.match(text) else "simple_lookup"
        return Decomposition(original_query=text, query_type=kind, sub_queries=parts, confidence=0.9)
    is_chained = any(part.dependencies for part in parts)
    return Decomposition(
        original_query=text,
        query_type="multi_hop" if is_chained else "procedural",
        sub_queries=parts,
        confidence=max(0.4, 0.85 - 0.07 * (len(parts) - 2)),
    )


def _compared(text: str) -> list[str]:
    """The two sides of a comparison."""
    found = [side.strip(" ?.!,") for side in _COMPARE.split(text, maxsplit=1)]
    if len(found) != 2:
        return []
    left, right = found
    if not left:
        sides = re.split(r"\s+(?:and|with|to|or)\s+", right, maxsplit=1)
        left, right = sides if len(sides) == 2 else ("", "")
    return [left, right] if left and right else []


def _clauses(stage: str) -> list[str]:
    """The parts of a stage: cut at 'and' where a verb follows."""
    found: list[str] = []
    for piece in _AND.split(stage):
        if found and not _VERB.match(piece):
            at = stage.find(piece, stage.find(found[-1]) + len(found[-1]))
            found[-1] = stage[stage.find(found[-1]) : at + len(piece)]
        elif piece.strip():
            found.append(piece)
    return [piece.strip(" .") for piece in found]


def _linked(stages: Sequence[Sequence[str]]) -> tuple[SubQuery, ...]:
    """Parts of a later stage need those of the one before; a part that says 'it' needs the one before it."""
    found: list[SubQuery] = []
    before: tuple[str, ...] = ()
    for stage in stages:
        now: list[str] = []
        for clause in stage:
            if len(found) == _MAX_PARTS:
                last = found[-1]
                found[-1] = msgspec.structs.replace(last, query=f"{last.query}; {clause}")
                continue
            name = f"q{len(found) + 1}"
            needs = set(before)
            if found and _BACK.search(clause):
                needs.add(found[-1].id)
            found.append(SubQuery(id=name, query=clause, dependencies=tuple(sorted(needs))))
            now.append(name)
        before = tuple(now) or before
    return tuple(found)
