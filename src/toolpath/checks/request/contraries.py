"""Contraries: words that say of a thing that it is not so, as `offline` and `unpaid`. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.checks.request.concepts import concepts_of
from toolpath.checks.request.verbs import folded

#: Words that say that it is not so → the word for it.
_PAIRS: Final = {
    other: word
    for word, others in (
        ("online", "offline"),
        ("on", "off"),
        ("open", "closed shut geschlossen zu fermé fermée fermés cerrado cerrada"),
        ("closed", "open offen ouvert ouverte abierto abierta"),
        ("locked", "unlocked"),
        ("public", "private privat privé privée privado privada"),
        ("enabled", "disabled"),
        ("available", "unavailable"),
        ("present", "absent"),
    )
    for other in map(folded, others.split())
}
_PREFIXED: Final = re.compile(r"(?:un|in|im|ir|il|dis|non|off)-?(?P<word>[^\W\d_]{3,})")


def contrary(word: str) -> frozenset[str]:
    """Concepts of what a word says is not so; none where it says nothing of the kind."""
    plain = folded(word)
    own = _PAIRS.get(plain)
    found = _PREFIXED.fullmatch(plain)
    said = [one for one in (own, found["word"] if found is not None else None) if one]
    return frozenset[str]().union(*(concepts_of(one) for one in said)) if said else frozenset()
