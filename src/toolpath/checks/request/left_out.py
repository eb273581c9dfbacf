"""Words and commands of a request that its plan leaves out. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from toolpath.checks.request.clauses import after_colon
from toolpath.checks.request.commanded import CONTINUING, is_said_otherwise
from toolpath.checks.request.joined_acts import joined_acts
from toolpath.checks.request.meant_items import told_of_items
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.nowadays import is_of_now
from toolpath.checks.request.openings import TOPIC
from toolpath.checks.request.other_verbs import TAKING, is_stand_in
from toolpath.checks.request.participles import done
from toolpath.checks.request.plain_schemas import plain_parameters
from toolpath.checks.request.pointers import reads_a_step
from toolpath.checks.request.provisos import carried
from toolpath.checks.request.quantifiers import asks_for_all, quantifiers
from toolpath.checks.request.remainders import remainders
from toolpath.checks.request.seen import Seen, short, text_in
from toolpath.checks.request.tools import CALLING, acts, fits, is_called
from toolpath.checks.request.uncovered import uncovered
from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.checks.request.wishes import is_needed


def _without(text: str, clauses: Sequence[Clause], seen: Seen) -> str:
    """The request, or what is plain of it, with these clauses blanked out."""
    for clause in clauses:
        at = seen.plain.find(clause.text)
        text = text if at < 0 else f"{text[:at]}{' ' * len(clause.text)}{text[at + len(clause.text) :]}"
    return text


#: Of a parameter that takes no name.
_NO_NAME: Final = frozenset(("enum", "format", "pattern"))


def may_narrow(seen: Seen) -> bool:
    """Whether a call that reads leaves a text out by which it would show less: a name may be that."""
    return any(
        name not in call.inputs and schema.get("type") == "string" and not schema.keys() & _NO_NAME
        for call, tool, _ in seen.calls
        if tool is not None
        for name, schema in plain_parameters(tool)
    )


def left_out(seen: Seen, *, strict: bool) -> Iterator[str]:
    """Words and commands of the request that no step stands for. `strict`: a step of another verb stands for none."""
    told = [clause for clause in carried(seen) if seen.acting]
    yield from (one for one in uncovered(_without(seen.request, told, seen), seen.held) if not is_of_now(one, seen))
    if not seen.acting:
        left = [short(seen, one) for one in seen.clauses if _is_act_left_out(one, seen)]
        yield from left
        yield from (one for one in joined_acts(seen) if not any(one in other for other in left))
        return
    if not seen.has_loop:
        several = len(seen.acting) > 1
        for word in quantifiers(_without(_without_reasons(seen), told, seen), seen.held):
            if not (several and folded(word) in ("both", "beide", "ambos", "ambas", "each")):
                yield word
    commands = [clause for clause in seen.clauses if clause.mood == "command"]
    yield from _left_of_commands(commands, seen)
    yield from _commands_not_done(commands, seen, strict=strict)


def _left_of_commands(commands: Sequence[Clause], seen: Seen) -> Iterator[str]:
    """Words of the commands, and of what follows a colon, that neither a value nor a link of the plan stands for."""
    for clause in commands:
        if is_reading(clause.verb) and not any(tool and fits(clause.verb, tool) for _, tool, _ in seen.acting):
            continue
        is_own = partial(_is_of, folded(clause.verb), seen)
        rest = remainders(*_left_to_tell(clause, seen), seen.held, is_own, is_command=True)
        # `… to everyone in sales`: that is the loop; `… für ihn`: that is the link.
        is_linked = any("{{" in str(value) for call, _, _ in seen.acting for value in call.inputs.values())
        yield from (
            one
            for one in rest
            if not (seen.has_loop and asks_for_all(one)) and not (is_linked and _POINTER.fullmatch(one))
        )
    if commands:
        tail = after_colon(seen.plain)
        yield from remainders(tail, seen.request[len(seen.request) - len(tail) :], seen.held, seen.is_verb)


def _left_to_tell(clause: Clause, seen: Seen) -> tuple[str, str]:
    """The clause, and as it stands in the request, without what is told by its place or by a condition of each item."""
    text = TOPIC.sub(lambda topic: topic.group().replace(":", " "), clause.text)
    if (at := text.rfind(clause.verb)) > 0 and not text[at + len(clause.verb) :].strip(" ,.!"):
        # A German verb at the end says nothing that is left over.
        text = f"{text[:at]}{' ' * len(clause.verb)}{text[at + len(clause.verb) :]}"
    said = text_in(seen, clause)
    if not clause.which:
        return text, said
    # What is not so is not so yet.
    words = "|".join((*map(re.escape, told_of_items(seen, clause.which)), "yet|still|noch|encore|aún|todavía"))
    return _blanked(rf"\b(?:{words})\b", text), _blanked(rf"\b(?:{words})\b", said)


def _blanked(words: str, text: str) -> str:
    return re.sub(words, lambda found: " " * len(found.group()), text, flags=re.IGNORECASE)


def _commands_not_done(commands: Sequence[Clause], seen: Seen, *, strict: bool) -> Iterator[str]:
    """The commands that no step carries out."""
    # A model may mean with a step what a command says in another verb; each such step stands for one command.
    spare = 0 if strict else sum(not any(fits(one.verb, tool) for one in commands) for tool in seen.tools)
    for clause in commands:
        if _is_done(clause, seen):
            continue
        if spare and _is_spoken_of(clause, seen):
            spare -= 1
            continue
        yield short(seen, clause)


def _without_reasons(seen: Seen) -> str:
    """The request without what only tells why: `5 and 6 are all done` asks for nothing."""
    text = seen.plain
    for clause in seen.clauses:
        if clause.mood == "reason" and id(clause) in seen.idle:
            text = text.replace(clause.text, " " * len(clause.text), 1)
    return text


#: A pronoun of other languages than English, with what leads to it.
_POINTER: Final = re.compile(
    r"(?:(?:für|an|mit|von|zu|bei|in|auf|pour|à|avec|chez|para|a|con|de)\s+)?"
    r"(?:ih[nmr]|ihnen|sie|es|lui|leur|elles?|eux|él|ellas?|ellos)",
    re.IGNORECASE,
)


def _is_of(verb: str, seen: Seen, word: str) -> bool:
    """Whether the word is the verb that is commanded, whole or in parts, or one of a tool."""
    return verb.endswith(word) or verb.startswith(word) or folded(word) in seen.verbs or done(word) == verb


def _is_act_left_out(clause: Clause, seen: Seen) -> bool:
    """Whether the clause commands an act, and no step of a plan that only reads does it."""
    is_act = clause.mood == "command" and bool(meanings_of(clause.verb)) and not is_reading(clause.verb)
    if is_act and _OPENS.match(clause.text) and any("#" in word for word in clause.text.split()):
        # `Open the record of PT-3`: to be seen; `Open a ticket` is another act.
        return False
    return is_act and not _is_done(clause, seen)


_OPENS: Final = re.compile(
    r"\W*(?:(?:and|please|then|bitte)\s+)*(?:open|öffne|ouvre|ouvrez|abre|abra)\s+(?:up\s+)?(?!an?\b|new\b"
    r"|ein\w{0,2}\b|une?\b|una?\b)",
    re.IGNORECASE,
)


def _is_done(clause: Clause, seen: Seen) -> bool:
    """Whether some step does what a clause commands, or is told what it says."""
    if _tells_nothing(clause, seen) and _commands_of(seen) > len(seen.acting) and not seen.has_loop:
        # Whom else to tell: a step that tells somebody does not tell another one, nor twice.
        return False
    if any(fits(clause.verb, tool) or is_said_otherwise(clause, tool) for tool in seen.tools):
        return True
    if any(is_stand_in(clause, call, tool, seen) for call, tool, _ in seen.acting):
        return True
    if clause.verb == "need" and any(is_needed(clause.text, tool) for tool in seen.tools):
        return True
    if folded(clause.verb) in TAKING and any(reads_a_step(call.inputs) for call, _, _ in seen.acting):
        # `Prends le plus récent et acquitte-le`: it is read, and then acted on.
        return not any(is_called(clause.verb, tool) for tool in seen.tools_left if acts(tool))
    if folded(clause.verb) in CALLING and any(tool.name in clause.text for tool in seen.tools):
        return True
    if folded(clause.verb) in seen.parameters and not uncovered(text_in(seen, clause), seen.held):
        # `Create an author Ann, email ann@example.org`: the word names a value.
        return True
    return is_reading(clause.verb) and not _TO_SOMEBODY.match(clause.text) and _is_spoken_of(clause, seen)


def _tells_nothing(clause: Clause, seen: Seen) -> bool:
    """Whether the clause names whom to tell and nothing else, as `tell Bob` and `let Ann know`."""
    if "send" not in meanings_of(clause.verb) or _TO_SOMEBODY_ELSE.match(clause.text) is None:
        return False
    words = re.findall(r"[\w@#'.+-]+", text_in(seen, clause).partition(clause.verb)[2])
    telling = [plain for word in words if (plain := folded(word.strip(".'"))) not in _TOLD_OF]
    if not 0 < len(telling) <= 2 or _HANDS_ON & {*telling} or any(map(seen.is_verb, telling)):
        return False
    later = seen.clauses[seen.clauses.index(clause) + 1 :]
    # `Email Bob and tell him that …`: what is told follows.
    return not (later and _SAME_PERSON.search(later[0].text) and len(later[0].text.split()) > 3)


def _commands_of(seen: Seen) -> int:
    """How many acts of the plan's tools the request commands."""
    return sum(
        clause.mood == "command" and any(fits(clause.verb, tool) for _, tool, _ in seen.acting if tool is not None)
        for clause in seen.clauses
    )


#: A pointer to what was said is no person: `send it`, `and share this`.
_TO_SOMEBODY_ELSE: Final = re.compile(
    r"\W*(?:\w+\s+){1,4}?(?!(?:it|this|that|those|these|the|a|an)\b)\S", re.IGNORECASE
)
_SAME_PERSON: Final = re.compile(r"\b(?:him|her|them)\b", re.IGNORECASE)
#: After these words stands what is told.
_HANDS_ON: Final = frozenset(("saying", "says", "say", "titled", "with", "subject", "text", "reading", "message"))
_TOLD_OF: Final = frozenset(
    re.findall(r"\S+", "and then please also too as well know it that this to about of now so the same both via by on")
)
#: `tell Bob` is a message; `tell me` is a question.
_TO_SOMEBODY: Final = re.compile(r"\W*(?:(?:and|then|please)\s+)*(?i:tell|inform)\s+(?:[A-Z#]|him\b|her\b|them\b)")


def _is_spoken_of(clause: Clause, seen: Seen) -> bool:
    words = [folded(word) for word in re.findall(r"[^\W\d_]{3,}", text_in(seen, clause))]
    telling = [word for word in words if word not in CONTINUING and word != folded(clause.verb)]
    return not telling or any(word in seen.held.vocabulary or seen.held.has(word) for word in telling)
