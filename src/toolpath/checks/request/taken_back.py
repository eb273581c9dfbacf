"""Acts that a command takes back: `Cancel my request to delete the file` deletes nothing. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.verbs import folded, is_thing, meanings_of

#: Verbs that do away with something: with a request to act, too, and that is no command to act.
_TAKING_BACK: Final = words_of("""
cancel delete remove revoke withdraw drop discard scrap erase clear reject decline dismiss abort call close archive kill
void rescind retract recall purge strike unschedule lösche storniere entferne widerrufe verwerfe annule annulez supprime
supprimez retire retirez cancela cancele elimina elimine borra borre anula anule retira
""")
#: An act inside what a command is about: `the request to …`, `the job that will …`, `a draft asking to …`.
_ACT: Final = re.compile(
    r"\b(?:to|zu|de|para|d['\u2019]|that|which|who)\s+(?:will\s+|would\s+|shall\s+)?(?P<verb>[^\W\d_]+)"
)
_DOING: Final = re.compile(
    r"^\S+\s+(?P<verb>[^\W\d_]+)ing\b(?P<article>\s+(?:the|a|an|my|our|his|her|their|all|every)\b)?"
)


def is_taking_back(verb: str) -> bool:
    """Whether the verb does away with what was asked for as well as with a thing."""
    return folded(verb) in _TAKING_BACK


def taken_back(head: str, body: str, is_verb: Callable[[str], bool]) -> str | None:
    """The act of which the clause takes back that it is to be done: `Cancel my request to delete the file`."""
    if folded(head) not in _TAKING_BACK:
        return None
    for act in _ACT.finditer(body):
        verb, following = act["verb"], "".join(body[act.end() :].split()[:1])
        if (meanings_of(verb) or is_verb(verb) or folded(verb) in _TAKING_BACK) and not is_thing(verb, following):
            return act.group()
    doing = _DOING.match(body)
    if doing is not None:
        stem = folded(doing["verb"])
        stems = {stem, f"{stem}e", stem[:-1]}
        if stems & _TAKING_BACK or (doing["article"] and any(meanings_of(one) or is_verb(one) for one in stems)):
            return doing.group()
    return None
