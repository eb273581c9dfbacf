"""Names that a thing is found by: what has to stand before one for it to be whom or what a command is for. Pure.

`Send Ann Brook the card`, `the card to Ann Brook`, `the member Ann Brook` name her; `the member who knows Ann Brook`,
`the one after Ann Brook`, `Ann Brook's trainer` name somebody else.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import concepts_of
from toolpath.checks.request.verbs import folded, meanings_of
from toolpath.planner.offline.request.parts import PARTICLES, ClausePart
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, ToolField

_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_ARTICLES: Final = words_of(
    "the my our der die das den dem le la les l' el los las mon ma nos notre mi mis nuestro nuestra"
)
_TITLES: Final = words_of(
    "mr mrs ms miss dr prof herr herrn frau mme mlle madame monsieur sr sra señor señora don doña"
)
#: Before whom or what something is done for.
_FOR: Final = words_of("to for an für bei à pour chez a para al")
#: Before whose something is.
_OF: Final = words_of("of from von vom de du des d' del")
_CALLED: Final = words_of(
    "called named titled entitled title name namens genannt nommé nommée appelé appelée intitulé titre llamado llamada"
    " titulado titulada título"
)
#: Before `to` they say how another thing stands to it, as participles do.
_BESIDE: Final = words_of(
    "next close near nearest similar opposite prior akin relative due sent given known sold lent left owed superior"
)
_PARTICIPLE: Final = re.compile(r"\w{2,}(?:ed|ing)$")
#: What begins a clause that says which of several is meant.
_WHICH: Final = re.compile(
    r"\b(?:who|whom|whose|which|that|where|when|than|qui|que|dont|lequel|laquelle|quien|cuy[oa]s?|welche[rsnm]?)\b"
    r"|,\s*(?:der|die|das|dem|den|deren|dessen)\b",
    re.IGNORECASE,
)


def is_named_by(span: Span, part: ClausePart, text: str, acting: Kit, finder: Kit) -> bool:
    """Whether a name in a command says whom or what it is done for, and not what that stands beside."""
    if text[span.end : span.end + 2] in ("'s", "\u2019s"):
        return _is_of_tool(text[span.end + 2 : part.end], acting)
    said = text[part.start : span.start]
    if _WHICH.search(said) is not None:
        return False
    words = [folded(word) for word in _WORD.findall(said)]
    while words and words[-1] in _ARTICLES | _TITLES:
        words.pop()
    if len(words) == 2 and words[1] in PARTICLES:
        # `Check out Ann Brook`
        words.pop()
    if not words:
        return False
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last == folded(part.verb) or last in _CALLED:
        return True
    if last in _FOR:
        return before not in _BESIDE and _PARTICIPLE.fullmatch(before) is None
    if last in _OF:
        # What is sent of somebody goes to another one; `to the parents of Ann Brook` says to whom.
        whom = [one for one in words[:-2] if one not in _ARTICLES][-1:]
        return "send" not in meanings_of(part.verb) or (whom != [] and whom[0] in _FOR and _is_of_tool(before, acting))
    # `the member Ann Brook`
    named = {folded(one) for kit in (acting, finder) for one in re.findall(r"[A-Za-z][a-z]*", kit.tool.name)[1:]}
    return bool({last, last.removesuffix("s")} & named)


def _is_of_tool(behind: str, kit: Kit) -> bool:
    """Whether what somebody has is what a tool is for: `Ann Brook's open tickets`, and not `Ann Brook's trainer`."""
    words = _WORD.findall(behind)[:_NOUN]
    own = frozenset[str]().union(*kit.named[1:], *(concepts_of(one) for of in kit.lists for one in of.path))
    return any(concepts_of(word) & own - _PALE for word in words)


#: So many words at most are its noun and what stands before that.
_NOUN: Final = 3
_PALE: Final = frozenset(("id", "name", "number", "of", "for", "to", "in"))


def untitled(name: str) -> str:
    """The name of somebody without a title before it."""
    first, _, rest = name.partition(" ")
    return rest.strip() if rest and folded(first.rstrip(".")) in _TITLES else name


#: Words of parameters that take what somebody or something is called.
_BY_NAME: Final = frozenset(("name", "title", "query", "q", "search", "text", "email", "customer", "person", "label"))
_KINDS: Final = frozenset(("text", "person", "company", "email"))


def finding(kit: Kit, *, is_address: bool = False) -> Kit | None:
    """The tool as one that finds a thing by what it is called, and needs that alone; None where it is none.

    `is_address`: it is called by an address, where the tool takes one beside a name.
    """
    own = [one for one in kit.fields if one.kind in _KINDS and not one.options and takes_a_name(one)]
    if not kit.required and len({one.kind == "email" for one in own}) > 1:
        own = [one for one in own if (one.kind == "email") is is_address]
    needed = [one for one in own if one.required] or own
    if len(kit.required) > 1 or len(needed) != 1 or any(one != needed[0] for one in kit.required):
        return None
    # A second name narrows the first one down, and stands for it nowhere.
    fields = [
        msgspec.structs.replace(one, required=True) if one == needed[0] else one
        for one in kit.fields
        if one == needed[0] or one not in own
    ]
    return msgspec.structs.replace(kit, fields=tuple(fields))


def takes_a_name(field: ToolField) -> bool:
    """Whether a parameter takes what a thing is called, by its name or as its description says: `payee`."""
    return bool(_BY_NAME & {*raw_words(field.name)}) or _A_NAME.search(field.description) is not None


_A_NAME: Final = re.compile(r"\bname\b(?!\s+or\s+(?:number|id))", re.IGNORECASE)
