"""Loose values: words for somebody, or for an id, that nothing but their place binds to their parameter. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS, concepts_of, is_known
from toolpath.checks.request.statements import is_statement
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import folded
from toolpath.model.plan import Call
from toolpath.planner.offline.request.spelling import ordinary_words
from toolpath.planner.offline.request.toolbox import Kit, ToolField, things_of

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_OWNED: Final = re.compile(r"\w['\u2019]s\s")
_OWNER: Final = r"\b(?:my|our|your|his|her|their|\w+['\u2019]s)\s+"


def loose(call: Call, kit: Kit, request: str, quoted: str) -> str | None:
    """Words for somebody, for an id or a text that only stand where the thing of the verb does: `Assign the photo`."""
    for field in kit.fields:
        value = call.inputs.get(field.name)
        if not isinstance(value, str) or "{{" in value or is_statement(value):
            continue
        if value in field.options:
            continue
        if field.kind == "email" and "@" not in value:
            return value
        if field.kind in ("text", "place") and things_of(kit) and _is_owned(value, field, kit, request, quoted):
            return value
        if field.kind == "text" and kit.is_acting and _is_own_thing(value, kit, quoted):
            return value
        if "room" in raw_words(field.name) and _is_no_room(value, request, quoted):
            return value
        if field.kind not in ("person", "id") and raw_words(field.description)[:1] != ["number"]:
            continue
        if any(letter.isdigit() or letter.isupper() for letter in value) or value.casefold() in quoted:
            continue
        if _is_somebody(value, field, request):
            continue
        return value
    return None


def _is_own_thing(value: str, kit: Kit, quoted: str) -> bool:
    """Whether a text is nothing but the word for what the tool makes: the `job` of `Log a locksmith job`."""
    is_word = re.fullmatch(r"[a-zà-ÿ]{3,}", value) is not None and value not in quoted
    own = frozenset(stem(word) for word in raw_words(f"{kit.tool.name} {kit.tool.description[:200]}"))
    return is_word and stem(folded(value)) in own


#: Ordinary words for places in and around a house, or the ends of such words.
_ROOMS: Final = words_of("""
room kitchen study lounge living bedroom bathroom bath hall hallway corridor landing office attic loft basement cellar
garage garden nursery library den conservatory sunroom playroom pantry laundry toilet restroom dining porch terrace
balcony patio studio workshop shed house home flat apartment upstairs downstairs floor parlour foyer lobby gym
sauna wohnung haus zimmer raum kuche bad flur diele buro dachboden keller garten terrasse balkon werkstatt waschkuche
cuisine salon chambre salle bureau couloir entree grenier cave jardin sejour toilettes balcon veranda maison
cocina dormitorio habitacion cuarto sala bano pasillo despacho atico sotano garaje comedor terraza estudio oficina casa
""")


def _is_no_room(value: str, request: str, quoted: str) -> bool:
    """Whether a word that is no name stands where a room does, and no room goes by it: `Set the soup to 20 degrees`."""
    words = [folded(word) for word in _WORD.findall(value)]
    if value.casefold() in quoted or not words or any(map(str.isdigit, value)):
        return False
    if any(word in _ROOMS or word.endswith(("zimmer", "raum", "room", "kuche")) for word in words):
        return False
    # A name may be any word; of German, nouns are written like names.
    return value == value.lower() or "de" in tongues_of(request)


def _is_owned(value: str, field: ToolField, kit: Kit, request: str, quoted: str) -> bool:
    """Whether it is somebody's, and nothing that the tool speaks of: `of my childhood`, `the dog's bowl`."""
    known = frozenset[str]().union(field.concepts, field.described, *kit.named)
    if value.casefold() in quoted or any(concepts_of(word) & known for word in map(folded, _WORD.findall(value))):
        return False
    return _OWNED.search(value) is not None or re.search(_OWNER + re.escape(value), request, re.I) is not None


#: Before somebody to whom something is given.
_TO: Final = r"(?<!\w)(?:to|for|an|für|à|pour|a|para)\s+"


def _is_somebody(value: str, field: ToolField, request: str) -> bool:
    """Whether one word that is no ordinary one stands where somebody does: `give it to mara`, `an lena`."""
    is_one = field.kind == "person" and field.required and re.fullmatch(r"[^\W\d_]{3,}", value) is not None
    if not is_one or folded(value) in ordinary_words() or folded(value) in STOPS or is_known(value):
        return False
    return re.search(rf"{_TO}{re.escape(value)}(?![\w'\u2019-])", request, re.IGNORECASE) is not None
