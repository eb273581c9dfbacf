"""Moods of clauses: a command, a question, or what keeps a clause from being a command. Pure.

A command is known by its form and by nothing else: it begins with a verb of commands, after what politeness puts before
it, and holds no word that takes it back, makes it depend on something, or tells of it instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from toolpath.checks.request.blockers import PLEASE, WORD, Mood, blocked_by, denied_which, hands_on, kept_from, words_of
from toolpath.checks.request.headings import LEAVES, heading, says_an_order
from toolpath.checks.request.infinitives import ends_in_infinitive
from toolpath.checks.request.openings import ASKED_POLITELY, POLITE, TOPIC, WISHES
from toolpath.checks.request.statements import tells_how_it_is
from toolpath.checks.request.taken_back import taken_back
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.verbs import (
    TOWARDS,
    folded,
    is_counter,
    is_reading,
    is_thing,
    may_be_thing,
    meanings_of,
    parted,
)
from toolpath.checks.request.wishes import wish_in


class Clause(msgspec.Struct, frozen=True):
    """One part of a request."""

    text: str
    """As it stands in the request."""
    mood: Mood
    verb: str = ""
    """Of a command: the verb that it begins with."""
    because: str = ""
    """The word by which the mood is known."""
    is_asked: bool = False
    """Of a command: it asks whether somebody can, as people say what they want done: `Can you close T-7?`"""
    which: str = ""
    """Of a command: what says by a denial which of a list are meant: `that is not paid`."""


_QUESTIONS: Final = words_of("""
what which who whom whose why how where does did is are am was were do should shall can could will would may
might has have had
was wer wen wem wessen warum wieso weshalb wie wo wohin welche welcher welches welchen kann kannst können
könnt soll sollen sollte
darf dürfen wird werden ist sind hat haben habe gibt
que quoi qui quel quelle quels quelles pourquoi comment où combien est-ce peux peut puis-je dois-je faut
qué quién quiénes cuál cuáles cómo dónde adónde cuánto cuánta cuántos cuántas puedo puedes debo hay
""")
_TELLING: Final = words_of("""
what who which when where how why whose was wer wann wie wo welche welcher welches wieviel
quel quelle quels quelles qui où quand comment combien qué cuál cuáles quién cómo dónde cuándo cuánto
cuántos cuánta cuántas
""")
_THANKS: Final = re.compile(
    r"^(?:(?:many\s+)?thanks?(?:\s+(?:you|a lot|so much|in advance|again))*|thank you.{0,30}|hi|hello|hey"
    r"|dear [\w .]{1,40}|good (?:morning|evening|afternoon|day)|"
    r"please|pl[sz]|plss|th(?:x|anx)|t[kn][sx]|tysm|s[tv]p|porfa(?:vor)?|xfa|ok(?:ay)?"
    r"|sure|great|alright|all right|right|yes|hm+|"
    r"s['\u2019]il (?:te|vous) pla[iî]t|cheers|regards|danke.{0,20}|vielen dank|hallo|guten \w+"
    r"|merci.{0,20}|bonjour|gracias.{0,20}|hola|por favor|bitte|(?:and |und |et |y )?(?:then|after (?:that"
    r"|this)|afterwards|next|finally|also|dann|danach|puis|ensuite|luego|después)|that(?:['\u2019]s"
    r"| is) all|ta|(?:just |only |nur |juste |s[oó]lo )?(?:for (?:me|us|now)|für (?:mich|uns)|pour (?:moi|nous)"
    r"|para m[ií])|whatever (?:you do|happens)|as soon as (?:you can|possible)|when you (?:can|get a (?:minute"
    r"|moment|chance))"
    r"|so schnell wie möglich|wenn du kannst|dès que possible|cuanto antes|lo antes posible)[\s.!,]*$",
    re.IGNORECASE,
)
#: `…, has to be express` says more of what was commanded.
_DEMANDS: Final = re.compile(
    r"(?:(?:it|this|that|they)\s+)?(?:(?:has|have|needs?|ought)\s+to|must|should)\s+(?:all\s+"
    r"|both\s+)?be\s+(?!\w+ed\b|done\b)[\w#]"
    r"|(?:es\s+|das\s+)?(?:muss|soll)\s+(?:aber\s+)?\w+\s+sein\W*$",
    re.IGNORECASE,
)


def says_how_it_is_to_be(text: str) -> bool:
    """Whether a clause says more of what a command before it is to do: `has to be express`."""
    return _DEMANDS.match(text) is not None


def clause_of(part: str, is_verb: Callable[[str], bool], *, kindly: bool = False) -> Clause:
    """The clause with its mood. `kindly`: the sentence that it is of asks with a `please`."""
    said = part.strip().lstrip("\u00bf\u00a1")
    if _THANKS.match(said):
        return Clause(said, "none")
    blocked = blocked_by(said)
    body = POLITE.sub("", TOPIC.sub("", said))
    wished = WISHES.match(body)
    polite = ASKED_POLITELY.match(body)
    if wished is not None:
        body = POLITE.sub("", body[wished.end() :])
        return _command(said, body, blocked_by(body), is_verb, is_last=bool(wished["wunsch"]))
    if polite is None:
        body = body.rstrip().rstrip("?") if kindly else body
        is_last = not kindly and PLEASE.match(said) is not None
        return _command(said, body, blocked, is_verb, is_last=is_last)
    body = POLITE.sub("", body[polite.end() :]).rstrip().rstrip("?").rstrip()
    is_last = polite.group().casefold().startswith(("k", "w\xfc"))
    found = _command(said, body, blocked_by(body), is_verb, is_last=is_last)
    if kindly or PLEASE.search(said):
        return found
    is_stated = polite.group()[:3].casefold() in ("pue", "pod") and not said.endswith("?")
    if found.mood == "command" and not is_stated and is_asked_of_one(polite.group(), body):
        return msgspec.structs.replace(found, is_asked=True)
    return _command(said, POLITE.sub("", said), blocked, is_verb, is_last=False)


def is_asked_of_one(opening: str, said: str) -> bool:
    """Whether `Can you …?` is said of one thing, and so asks for it."""
    return _ASKED_OF_ONE.match(opening) is not None and _MEANT.search(_ALIKE.sub(" ", said)) is not None


#: `Can you close tickets like T-31?` asks what can be done.
_ALIKE: Final = re.compile(r"\b(?:like|such\s+as|wie|comme|como)\s+\S+", re.IGNORECASE)
#: `Can you …?` asks for it; `Would you …?` may ask what one thinks of it.
_ASKED_OF_ONE: Final = re.compile(r"(?:can|could)\b|k[aöo]nn|peux|pourr|pouv|pued|podr", re.IGNORECASE)
#: It is one thing that is spoken of, and not what can be done at all: `Can you cancel a booking?`
_MEANT: Final = re.compile(
    r"#|\d|\b(?:it|them|him|her|me|us|the|my|our|his|their|this|that|these|those|every|each|all|der|die|das|den|dem"
    r"|mein\w*|unser\w*|ihn|sie|es|mir"
    r"|le|la|les|mon|ma|mes|notre|moi|el|los|las|mi|mis|lo)\b|(?<=\s)(?-i:[A-Z])\w|-(?:moi|le|la|les|lui)\b"
    r"|\b\w{3,40}(?:me|lo|los|las|nos)\b",
    re.IGNORECASE,
)


def _command(
    said: str, body: str, blocked: tuple[Mood, str] | None, is_verb: Callable[[str], bool], *, is_last: bool
) -> Clause:
    """One question after the other, in this order. `is_last`: its verb may stand at its end."""
    found = [match.group() for match in WORD.finditer(body)]
    head = _head(body, found)
    last = ends_in_infinitive(body, is_verb) if blocked is None else None
    is_headed = last is None and _is_verb(head, "".join(body.split()[1:2]), is_verb)
    if is_headed and blocked is not None and not is_counter(head):
        blocked = kept_from(body, head)
    stating = _stating(said, body, blocked) if last is None and not is_headed else None
    uncommanded = stating or _uncommanded(said, body, head, blocked)
    if uncommanded is not None:
        return uncommanded
    if LEAVES.match(body):
        return Clause(said, "command", verb="add")
    if is_counter(head) and not is_verb(head):
        return Clause(said, "negation", because=head)
    if is_headed:
        return _headed(said, body, head, is_verb)
    if last is None and is_last and len(found) > 1 and (meanings_of(found[-1]) or is_verb(found[-1])):
        last = found[-1]
    if last is not None:
        # `Bitte den Termin absagen`: in German the verb may stand at the end.
        return Clause(said, "command", verb=last)
    if IMPERATIVE.match(body) and not head[1:].isupper() and not may_be_thing(head):
        # Whatever verb it is: whether a tool bears it is asked elsewhere.
        return Clause(said, "command", verb=head)
    return Clause(said, "other", because=" ".join(found[:3]))


#: A word, and what it does something to: `Roll back the cart`, `throw out T-7`.
IMPERATIVE: Final = re.compile(
    r"(?!(?:with|for|on|at|in|to|from|about|of|by|as|via|per|the|this|that|these|those|mit|für|auf|an|in|zu|von|aus"
    r"|bei|nach|avec|pour|sur|dans|de"
    r"|con|para|por|en|a|and|or|but|und|oder|et|ou|y|o|please|bitte)\b)[^\W\d_]{3,}\s+"
    r"(?:(?:back|out|off|away|up|down|over|through|along)\s+)(?!(?:is|are|was|were|has|have|of|by)\b)[\w#]",
    re.IGNORECASE,
)


def _is_verb(head: str, following: str, is_verb: Callable[[str], bool]) -> bool:
    return bool(meanings_of(head) or is_reading(head) or is_verb(head)) and not is_thing(head, following)


def _stating(said: str, body: str, blocked: tuple[Mood, str] | None) -> Clause | None:
    """The clause where it says what is wished, how things stand or are to be; None where it does none of it."""
    if blocked is None and _VERB_FIRST.match(body):
        return Clause(said, "question", because=body[:40])
    wish = wish_in(body)
    if wish is not None and blocked_by(body.replace(wish.modal, " ", 1)) is None:
        if wish.is_need:
            return Clause(said, "command", verb="need", is_asked=True)
        # `D-22 should cost 18.50`, `T-31 can be closed`: who says so may only think so.
        return Clause(said, "hypothesis", because=wish.modal)
    if tells_how_it_is(body, blocked):
        return Clause(said, "reason")
    return Clause(said, "other", because=body[:40]) if says_how_it_is_to_be(body) and not said.endswith("?") else None


#: `do we have a spare one` asks, with a mark or without one.
_VERB_FIRST: Final = re.compile(
    r"(?:do|does|did|have|has)\s+(?:we|they|he|she|i|there|any(?:one|body)?)\s+(?!(?:and|or|please)\b)[a-z]",
    re.IGNORECASE,
)


def _headed(said: str, body: str, head: str, is_verb: Callable[[str], bool]) -> Clause:
    """The clause that begins with a verb: a command, where it does not tell of it or take it back."""
    telling = (None if hands_on(body, head) else _tells(body)) or heading(body, head) or says_an_order(body, is_verb)
    if telling is not None:
        return Clause(said, "report", because=telling)
    if (act := taken_back(head, body, is_verb)) is not None:
        return Clause(said, "negation", because=act)
    return Clause(said, "command", verb=head, which=denied_which(body))


def _head(body: str, found: Sequence[str]) -> str:
    """The word that says what is to be done, where one does: the first, with what belongs to it at the end."""
    if not found or re.match(r"\s*[^\w\s]*[#\d]", body):
        return ""
    # `Heiz den Ofen vor und`: what joins it to the next clause is none of it.
    own = found[:-1] if folded(found[-1]) in ("und", "and", "et", "y") else found
    return _whole(found[0], own) if own and _ends_with(body, found, own) else found[0]


def _uncommanded(said: str, body: str, head: str, blocked: tuple[Mood, str] | None) -> Clause | None:
    """The clause where it is a question, asks to be told something, or has a word against acting; else None."""
    is_question = said.rstrip(" \"'”»)").endswith(("?", "\uff1f")) and body.rstrip().endswith(("?", "\uff1f"))
    if blocked is None and is_question:
        return Clause(said, "asked" if _IS_SHORT.sub("", folded(head)) in _TELLING else "question", because="?")
    # `where's T-7` asks, with a mark or without one.
    first = "" if _COMMENTS.match(body) else _IS_SHORT.sub("", folded(head))
    if first in _TELLING and (blocked is None or (blocked[0] == "report" and blocked[1] in _COPULAS)):
        return Clause(said, "asked", because=head)
    if blocked is not None:
        return Clause(said, blocked[0], because=blocked[1])
    return Clause(said, "question", because=head) if first in _QUESTIONS else None


_IS_SHORT: Final = re.compile(r"['\u2019](?:s|re)$")


def _ends_with(body: str, found: Sequence[str], own: Sequence[str]) -> bool:
    """Whether the words are the last of the clause, besides what joins it to the next one."""
    text = body.rstrip(" .!,;:")
    if len(own) < len(found):
        text = text.removesuffix(found[-1]).rstrip(" ,")
    return text.endswith(own[-1])


#: Words of a statement; in a command they stand only where something is described, as in `whose name is …`.
_STATES: Final = re.compile(
    r"\b(?P<which>(?:whose|which|what|that|who|where|titled|called|named|subject|body|text|message|says"
    r"|saying|qui|dont)\b[^.!?]{0,80}?\s)?"
    r"(?P<word>is|are|(?<=\bi )am|will|gonna|ist|sind|est|sont|es|son)\b"
)
#: Which things are meant, with the verb at the end: `alle Rechnungen, die noch offen sind, …`. `…, die sind zu teuer`
#: tells of them.
_WHICH_ARE: Final = re.compile(
    r",\s*(?:der|die|das|den|dem|deren|dessen|bei\s+denen)\s(?:[^.!?,]{0,80}?\s)?(?:ist|sind)(?=\s*(?:$|[,.!;]))"
    r"|\bque\s+(?:son|es)\b"
)
#: Without its accent it is Spanish for `this`; behind `que` it says which things are meant.
_IS: Final = re.compile(r"(?<!\bque )(?<!\bque ya )(?<!\bque no )\bestán?\b", re.IGNORECASE)
#: French for `his` behind a command, and Spanish for `are` behind several things: `passe son prix à 18`.
_ITS_OWN: Final = re.compile(r"^(\s*[^\W\d_]\S*[^s\W])\s+son(?=\s+[^\W\d_])", re.IGNORECASE)
#: German for `it` behind a command, and Spanish for `is` behind a thing: `starte es neu`.
_ITS_OBJECT: Final = re.compile(
    r"^(\s*[^\W\d_]\S*)\s+es(?=[\s.,!;]*$|\s+(?:bitte|an|ab|auf|aus|ein|um|zu|zurück|neu|wieder|weg|sofort|jetzt|gleich"
    r"|mir|ihm|ihr|dem|der|den|in|nach|für|von|vor|mit|unter|über|im|am|zum|zur|dann|danach|anschließend|auch|frei|fertig)\b)",
    re.IGNORECASE,
)
#: A German question without its mark, `Lösche ich …`, and no command as `Lösche es`.
_ASKS: Final = re.compile(r"^\s*(?:\S+\s+(?:ich|er|wir|du|man)|\S+t\s+(?:ihr|es))\b")


def _tells(body: str) -> str | None:
    """The word by which what begins like a command is a statement after all."""
    body = _ITS_OWN.sub(r"\g<1>", _ITS_OBJECT.sub(r"\g<1>", body))
    plain = folded(body)
    if "de" in tongues_of(body) and (asked := _ASKS.search(plain)) is not None:
        return asked.group().strip()
    if (state := _IS.search(body)) is not None:
        return state.group()
    plain = _WHICH_ARE.sub(lambda found: " " * len(found[0]), plain)
    return next((found["word"] for found in _STATES.finditer(plain) if not found["which"]), None)


#: The English verb, which is French for `how`.
_COMMENTS: Final = re.compile(r"comment\s+(?:\W*#|(?:on|saying|with|that|about|under)\b)", re.IGNORECASE)
_COPULAS: Final = words_of("was were had has did does")


def _whole(head: str, found: Sequence[str]) -> str:
    """A German verb with what stands apart from it at the end: `Sage … ab` is `absagen`."""
    if len(found) < 2 or folded(found[-2]) in TOWARDS:
        return head
    return parted(head, found[-1]) or head
