"""English participles and past forms, and the verbs that they are of: `cancelled` is of `cancel`. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from toolpath.checks.request.verbs import all_english_verbs, folded

#: Those that no rule gives.
_IRREGULAR: Final = {
    "paid": "pay",
    "sent": "send",
    "sold": "sell",
    "bought": "buy",
    "made": "make",
    "built": "build",
    "written": "write",
    "told": "tell",
    "done": "do",
    "taken": "take",
    "given": "give",
    "held": "hold",
    "kept": "keep",
    "lent": "lend",
    "left": "leave",
    "thrown": "throw",
    "withdrawn": "withdraw",
    "frozen": "freeze",
    "begun": "begin",
    "woken": "wake",
    "brought": "bring",
    "bound": "bind",
    "shown": "show",
    "chosen": "choose",
    "driven": "drive",
    "run": "run",
    "put": "put",
}


#: Before `ed` a verb has lost its `e` behind these: `closed`, `merged`, `archived`, `rated`.
_LOST_E: Final = re.compile(r"(?:[cgvzu]|[^aeiou]l|[aeiou]s|[ai]t|[^aeiou][aeiou][kprn]|dl)$")
_DOUBLED: Final = re.compile(r"([bdgklmnprtv])\1$")


@lru_cache(maxsize=4_096)
def bases_of(word: str) -> tuple[str, ...]:
    """The verbs that a word may be a participle of, the likeliest first; none where it has no such form."""
    plain = folded(word)
    if plain in _IRREGULAR:
        return (_IRREGULAR[plain],)
    ending = next((one for one in ("ed", "ing") if plain.endswith(one) and len(plain) > len(one) + 1), None)
    if ending is None:
        return ()
    stem = plain.removesuffix(ending)
    forms = [stem + "e", stem] if _LOST_E.search(stem) else [stem, stem + "e"]
    if _DOUBLED.search(stem):
        forms.insert(0, stem[:-1])
    if stem.endswith("i"):
        forms.insert(0, stem[:-1] + "y")
    known = [form for form in forms if form in all_english_verbs()]
    return (*dict.fromkeys((*known, *forms)),)


def done(word: str) -> str:
    """The verb that a participle is most likely of; of another word itself, folded."""
    return next(iter(bases_of(word)), folded(word))
