"""Mandate of every plan made of words: it acts only as the request commands, and says what it leaves out. Pure.

What a request does not command plainly, the plan asks about; a plan with open questions is not run by anybody.
Planners, the plan cache, the router and fallbacks hand their plans out through `mandated` and through nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import filterfalse
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.amounts import misread
from toolpath.checks.request.asides import asides
from toolpath.checks.request.bases import bases, unfounded
from toolpath.checks.request.bindings import misbound
from toolpath.checks.request.blockers import Mood
from toolpath.checks.request.clauses import after_colon, narrowed
from toolpath.checks.request.concepts import phrasal
from toolpath.checks.request.contrary_acts import contrary_acts
from toolpath.checks.request.coordinated import coordinated
from toolpath.checks.request.cuts import cut_out
from toolpath.checks.request.doubled import doubled
from toolpath.checks.request.ends_of_periods import ends_of_periods
from toolpath.checks.request.grounds import Grounds
from toolpath.checks.request.joined_acts import joined_acts
from toolpath.checks.request.levels import levels
from toolpath.checks.request.marked_numbers import marked
from toolpath.checks.request.moods import Clause, says_how_it_is_to_be
from toolpath.checks.request.namings import misnamed, swallowed
from toolpath.checks.request.notes import is_note
from toolpath.checks.request.nowadays import is_of_now
from toolpath.checks.request.only_read import only_reads
from toolpath.checks.request.openings import TOPIC
from toolpath.checks.request.origins import origins
from toolpath.checks.request.other_verbs import TAKING, is_compound, is_stand_in, is_turned
from toolpath.checks.request.participles import done
from toolpath.checks.request.parts_of_things import parts_of_things
from toolpath.checks.request.places import misplaced
from toolpath.checks.request.pointed_back import pointed_back
from toolpath.checks.request.pointers import goes_on, names_one_thing, pointers, reads_a_step, torn_apart
from toolpath.checks.request.provisos import carried, uncarried
from toolpath.checks.request.quantifiers import asks_for_all, asks_for_more, quantifiers
from toolpath.checks.request.ranges import ranges
from toolpath.checks.request.remainders import remainders
from toolpath.checks.request.seen import FOR_BOTH, Seen, is_offered, is_preset, short, text_in
from toolpath.checks.request.several import several
from toolpath.checks.request.shared_names import shared_names
from toolpath.checks.request.tools import CALLING, acts, acts_of, fits, is_called, is_form, tells_of_doing, verbs_of
from toolpath.checks.request.turned import turned
from toolpath.checks.request.twofold import twofold
from toolpath.checks.request.uncalled import uncalled_for
from toolpath.checks.request.unchanged import read_back, unchanged
from toolpath.checks.request.uncovered import names_in, uncovered
from toolpath.checks.request.verbs import folded, is_counter, is_reading, meanings_of
from toolpath.checks.request.wishes import is_needed
from toolpath.checks.request.written_forms import formless
from toolpath.model.plan import Call, Plan
from toolpath.model.tool import Tool
from toolpath.values import JsonObject

#: The most that a plan which leaves a question open counts as.
ASKING: Final = 0.4
_MOST: Final = 20
_LONGEST: Final = 20_000
_SAYS: Final[dict[Mood, str]] = {
    "negation": "it says not to",
    "condition": "it depends on something",
    "hypothesis": "it only supposes it",
    "report": "it tells of something",
    "question": "it is a question",
    "asked": "it is a question",
    "choice": "it leaves a choice",
    "reason": "it tells of something",
    "other": "it is no command",
    "none": "it is no command",
    "command": "its command is another one",
}


def mandated(  # a plan, what it is held against, and how
    plan: Plan,
    request: str,
    catalog: Catalog,
    *,
    strict: bool = True,
    kept: AbstractSet[str] = frozenset(),
    known: str = "",
) -> Plan:
    """The plan with a question for all in which it does something else than the request says, and less confidence then.

    A plan that only reads does no harm where a name in the request is nowhere in it: then it is only less sure.
    `strict`: the verb of a command has to be one of the tool that acts, as for plans made by rules; a model may know
    better, but not of tools that destroy, and what its values rest on is asked. `kept`: ids of steps that were carried
    out before; `known`: what came of them.
    """
    steps = [step for step in plan.steps if step.id not in kept]
    if not steps or not request.strip():
        return plan
    whole = narrowed(request)
    told = whole[:_LONGEST]
    seen = Seen(plan, told, catalog, kept)
    questions = [] if is_note(seen) else [*_uncommanded(seen, strict=strict)]
    left = [*_left_out(seen, strict=strict)]
    joined = [
        one for one in dict.fromkeys(coordinated(seen)) if not any(one in other for other in left if other != one)
    ]
    left += [one for one in joined if one not in left]
    unasked = () if seen.acting else {*names_in(seen.request, left)} - {*joined}
    questions += [f"The plan does nothing about {one!r}: what of it?" for one in left if one not in unasked]
    cut = cut_out(seen.request, seen.own_values, shortened=not seen.acting)
    questions += [f"The plan takes {one}: what is meant?" for one in cut]
    questions += _said_once(seen)
    questions += _pointed(seen)
    if seen.acting and whole[_LONGEST:].strip():
        questions.append(
            f"Only the first {_LONGEST:,} characters of the request were held against this: what of the rest?"
        )
    questions += _of_writes(seen, strict=strict) if seen.acting else ()
    grounds = Grounds(told, catalog, known)
    if not strict:
        # Rules take values out of the request and nowhere else.
        questions += [*unfounded(seen, grounds, kept), *uncalled_for(seen, grounds, kept)]
    new = [one for one in dict.fromkeys(questions) if one not in plan.questions][:_MOST]
    sure = plan.confidence if plan.confidence is None or not (new or left) else min(plan.confidence, ASKING)
    origin = msgspec.structs.replace(
        plan.origin,
        rests_on=bases(seen, grounds),
        questions=(*plan.questions, *new),
        uncovered=tuple(dict.fromkeys((*plan.origin.uncovered, *left)))[:_MOST],
        confidence=sure,
    )
    return msgspec.structs.replace(plan, origin=origin)


_RULES_OF_WRITES: Final = (
    *(misread, marked, misnamed, several, misplaced, misbound, twofold, doubled, asides, turned, unchanged, read_back),
    *(formless, origins, parts_of_things, pointed_back, ranges, levels, ends_of_periods, shared_names, contrary_acts),
)


def _of_writes(seen: Seen, *, strict: bool) -> Iterator[str]:
    """Questions for a plan that writes: its conditions, and its values as the request says them."""
    yield from uncarried(seen, strict=strict)
    for rule in _RULES_OF_WRITES:
        yield from rule(seen)
    for clause in seen.clauses:
        if clause.mood == "command":
            yield from swallowed(seen, clause.verb, text_in(seen, clause))


def agrees_beside(plan: Plan, request: str, catalog: Catalog) -> bool:
    """Whether a plan of a part of the request's words agrees with what stands beside them: denials and reasons."""
    seen = Seen(plan, narrowed(request)[:_LONGEST], catalog, frozenset())
    beside = [clause for clause in seen.clauses if clause.mood in ("negation", "reason")]
    return not seen.acting or all(_is_in_order(clause, seen) for clause in beside)


# Whether it is commanded.


def _uncommanded(seen: Seen, *, strict: bool) -> Iterator[str]:
    if not seen.acting:
        moods = {clause.mood for clause in seen.clauses} - {"none"}
        words = re.findall(r"[^\W\d_]+", seen.clauses[0].text) if seen.clauses else []
        # `List orders without drafts` is a command all the same.
        is_asked = seen.plain.rstrip().endswith(("?", "\uff1f"))
        if moods == {"negation"} and not is_asked and not is_reading(words[0] if words else ""):
            yield f"The request says not to ({short(seen, seen.clauses[0])!r}): what is to be done?"
        return
    names = ", ".join(dict.fromkeys(call.tool for call, _, _ in seen.acting))
    doubtful = [clause for clause in seen.clauses if not _is_in_order(clause, seen)]
    for clause in doubtful:
        yield (
            f"{names} would act, and the request does not command that plainly ({_SAYS[clause.mood]}: "
            f"{short(seen, clause)!r}). Should it be done?"
        )
    commands = [clause for clause in seen.clauses if clause.mood == "command"]
    if not commands:
        # What is in order here is what the tools are there to write down.
        is_told = any(clause.mood == "reason" and id(clause) not in seen.idle for clause in seen.clauses)
        if not doubtful and not is_told and not all(is_bound for _, _, is_bound in seen.acting):
            yield f"{names} would act, and nothing in the request commands it. Should it be done?"
        return
    destroying = {tool.key: tool for _, tool, _ in seen.acting if tool is not None and tool.effect == "destructive"}
    for key, one in destroying.items():
        meant = [clause for clause in commands if _commands(clause, one, must_fit=True)]
        if any(clause.is_asked for clause in meant or commands) and not any(not clause.is_asked for clause in meant):
            yield f"{key} would destroy something, and the request does not plainly say to. Should it be done?"
    for clause in commands:
        if any(_is_about(clause, tool) for tool in seen.tools) or _ends_an_act(clause, seen):
            yield f"{names} would act, and {short(seen, clause)!r} only speaks of it. Should it be done?"
    for call, tool, _ in seen.acting:
        must_fit = strict or tool is None or tool.effect == "destructive"
        stands_in = partial(is_stand_in, call=call, tool=tool, seen=seen)
        turned_away = partial(is_turned, tool=tool, seen=seen)
        straight = filterfalse(turned_away, commands)
        if not any(stands_in(clause) or _commands(clause, tool, must_fit=must_fit) for clause in straight):
            said = ", ".join(dict.fromkeys(clause.verb for clause in commands))
            yield f"{call.tool} would act, and the request commands {said!r}. Should it be done?"


def _is_in_order(clause: Clause, seen: Seen) -> bool:
    """Whether an acting plan may come from a request with this clause in it."""
    if id(clause) in seen.idle:
        return True
    match clause.mood:
        case "command" | "none":
            return True
        case "asked":
            # A question beside a command, which a step of the plan answers.
            return len(seen.acting) < len(seen.calls)
        case "condition":
            if clause.text.rstrip().endswith("?"):
                # `If we closed it now, would …?`
                return False
            bound = sum(is_bound for _, _, is_bound in seen.acting)
            commands = sum(one.mood == "command" for one in seen.clauses)
            return bound == len(seen.acting) or (bound > 0 and len(seen.acting) - bound < commands)
        case "other":
            is_told = any(tool is not None and tells_of_doing(clause.text, tool) for _, tool, _ in seen.acting)
            return not is_told and _says_a_value(clause, seen)
        case _:
            return False


def _says_a_value(clause: Clause, seen: Seen) -> bool:
    """Whether the clause only says more of what a command before it needs: `The title is …`, `email a@b.org`."""
    words = [folded(word) for word in re.findall(r"[^\W\d_]+", clause.text)]
    # `…, but only to them`: the value says with what it is done, and it is done with nothing else.
    words = words[1:] if words[:1] and words[0] in _ONLY else words
    if not words:
        return True
    if says_how_it_is_to_be(clause.text):
        # `…, has to be express`: the words before the value say nothing of it.
        words = ["as", *words]
    has_command = any(one.mood == "command" for one in seen.clauses)
    # A verb of a tool is an act, whatever stands before it.
    is_named = any(word in seen.parameters for word in words[:5]) and not any(map(seen.is_verb, words))
    said = text_in(seen, clause)
    is_more = is_named or words[0] in _CONTINUING
    if is_more and has_command and folded(said.partition(" ")[2].strip(" :,.")) in seen.held.texts:
        # `On acme/api: …`: where all of it is to be done.
        return True
    if not is_more or any(remainders(clause.text, said, seen.held, seen.is_verb)):
        return False
    return has_command and not uncovered(said, seen.held)


_ONLY: Final = frozenset(("only", "just", "nur", "bloss", "seulement", "juste", "solo"))
_CONTINUING: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """with to for at on in by from using and as its his her their the of into via per subject title
    mit an für auf in am um von zu avec pour à de par con para a de por en""",
    )
)


def _commands(clause: Clause, tool: Tool | None, *, must_fit: bool) -> bool:
    verb = clause.verb
    if tool is not None and only_reads(clause.text, verb, tool):
        return False
    if tool is not None and (fits(verb, tool) or (folded(verb) in CALLING and tool.name in clause.text)):
        return True
    if (tool is not None and _is_said_otherwise(clause, tool)) or (
        tool is not None and verb == "need" and is_needed(clause.text, tool)
    ):
        return True
    if must_fit or is_reading(verb) or is_counter(verb):
        return False
    # `Remind me to archive it`: the verb of the tool is there, and is not what is commanded.
    words = re.findall(r"[^\W\d_]+", clause.text)
    return tool is not None and not any(is_form(word, tool) for word in words if word != verb)


def _is_said_otherwise(clause: Clause, tool: Tool) -> bool:
    """Whether the act is said by a noun after a verb that says nothing, or in two words."""
    return _is_said_by_noun(clause, tool) or _is_said_in_two(clause, tool)


def _is_said_in_two(clause: Clause, tool: Tool) -> bool:
    """Whether the verb means the act together with another word: `Get rid of m-7`, `Check 978 out`."""
    acts = acts_of(tool)
    if any(clause.text[at:to] == clause.verb and concept in acts for at, to, concept in phrasal(clause.text)):
        return True
    return is_compound(clause.text, clause.verb, tool)


def _is_said_by_noun(clause: Clause, tool: Tool) -> bool:
    """Whether the verb says nothing and the noun after it is the act: `Mets la musique en pause`, `Make a refund`."""
    if folded(clause.verb) not in _LIGHT:
        return False
    rest = clause.text.partition(clause.verb)[2]
    if folded(clause.verb) == "make" and (made := _MADE_TO.match(rest)) is not None and fits(made["act"], tool):
        # `Make Lou pay $300`: somebody else is to do it.
        return False
    following = re.findall(r"[^\W\d_]+", rest)[:6]
    return any(fits(word, tool) and not is_reading(word) for word in following)


_MADE_TO: Final = re.compile(r"\s+(?:[A-Z][\w-]*|him|her|them|us|everyone|everybody)\s+(?P<act>[a-z]+)\b")
#: Verbs that say nothing of what is done.
_LIGHT: Final = frozenset(
    re.findall(
        r"\S+",
        """make do mach mache macht machen mets mettez mettre fais faites faire prends prenez prendre pon ponga
        poner haz haga hacer toma tome""",
    )
)


def _is_about(clause: Clause, tool: Tool) -> bool:
    """Whether the tool's act is only what the clause is about: `Draft a plan to open a ticket`."""
    if folded(clause.verb) in verbs_of(tool):
        return False
    acts_in_it = re.findall(r"\bto\s+([^\W\d_]+)", clause.text.partition(clause.verb)[2])
    return any(fits(word, tool) for word in acts_in_it)


def _ends_an_act(clause: Clause, seen: Seen) -> bool:
    """Whether it is an act that is to end, not a thing: `Stop charging R-5`, where no tool stops the charging."""
    found = _ENDING.match(clause.text.partition(clause.verb)[2]) if folded(clause.verb) in _ENDS else None
    return found is not None and folded(found["act"]) not in seen.held.vocabulary


_ENDS: Final = frozenset(("stop", "quit", "cease", "cancel", "pause", "abort"))
_ENDING: Final = re.compile(r"\s+(?P<act>[a-z]{2,}ing)\s+\S", re.IGNORECASE)


# What is left out.


def _without(text: str, clauses: Sequence[Clause], seen: Seen) -> str:
    """The request, or what is plain of it, with these clauses blanked out."""
    for clause in clauses:
        at = seen.plain.find(clause.text)
        text = text if at < 0 else f"{text[:at]}{' ' * len(clause.text)}{text[at + len(clause.text) :]}"
    return text


def _left_out(seen: Seen, *, strict: bool) -> Iterator[str]:
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
    for clause in commands:
        if is_reading(clause.verb) and not any(tool and fits(clause.verb, tool) for _, tool, _ in seen.acting):
            continue
        is_own = partial(_is_of, folded(clause.verb), seen)
        text = TOPIC.sub(lambda topic: topic.group().replace(":", " "), clause.text)
        if (at := text.rfind(clause.verb)) > 0 and not text[at + len(clause.verb) :].strip(" ,.!"):
            # A German verb at the end says nothing that is left over.
            text = f"{text[:at]}{' ' * len(clause.verb)}{text[at + len(clause.verb) :]}"
        rest = remainders(text, text_in(seen, clause), seen.held, is_own, is_command=True)
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
    if any(fits(clause.verb, tool) or _is_said_otherwise(clause, tool) for tool in seen.tools):
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
    telling = [word for word in words if word not in _CONTINUING and word != folded(clause.verb)]
    return not telling or any(word in seen.held.vocabulary or seen.held.has(word) for word in telling)


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def _said_once(seen: Seen) -> Iterator[str]:
    """A question for each value that one call takes for two parameters although the request says it once."""
    for call, tool, _ in seen.calls:
        names: dict[str, list[str]] = {}
        for name, value in call.inputs.items():
            is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
            if is_plain and not (isinstance(value, str) and "{{" in value) and not is_preset(value, tool, name):
                names.setdefault(folded(str(value)), []).append(name)
        for value, alike in names.items():
            # What is found between two days is of one where they are the same.
            is_period = tool is not None and tool.is_read and _DAY.fullmatch(value) is not None
            if len(alike) > 1 + is_period and value:
                offered = all(is_offered(call.inputs[name], tool, name) for name in alike)
                count = len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", folded(seen.request)))
                # One of a few may be said in other words, and for both.
                is_free = offered and (not count or FOR_BOTH.search(seen.request) is not None)
                if count < len(alike) and not is_free:
                    often = "once" if count < 2 else f"{count} times"
                    yield f"{call.id}: {value!r} is said {often}; is it {' and '.join(alike)}?"


def _pointed(seen: Seen) -> Iterator[str]:
    """A question for each word that points to something which no argument is."""
    yield from (
        f"Is {one!r} one place? The plan takes it for two." for one in torn_apart(seen.request, _inputs(seen.calls))
    )
    reads = any(reads_a_step(call.inputs) for call, _, _ in seen.calls) or seen.has_loop
    is_again = len({call.tool for call, _, _ in seen.calls}) < len(seen.calls)
    if (on := goes_on(seen.request, is_again=is_again)) is not None and not reads:
        yield f"{on!r}: with what came of the step before? The plan takes what was said first."
    for value in seen.own_values if seen.acting else ():
        words = value.split() if isinstance(value, str) else []
        when = [word for word in words if asks_for_more(word) or (word is words[-1] and _HOW.fullmatch(word))]
        if when and len(words) > 1 and _stands_open(str(value), seen):
            yield f"The plan takes {when[0]!r} as a part of {value!r}: is it when, how or to what it is to be done?"
    for clause in seen.clauses if seen.acting else ():
        said = pointers(clause.text) if clause.mood == "command" else []
        meant = [call for call, tool, _ in seen.acting if said and tool is not None and fits(clause.verb, tool)]
        topic = TOPIC.match(clause.text)
        at = seen.plain.find(clause.text) + (topic.end() if topic is not None else 0)
        if any(reads_a_step(call.inputs) for call in meant):
            # `Add a task and comment on it`: one of them takes what the other one made.
            continue
        for call in meant:
            if not call.inputs and not seen.parameters:
                # `Skip this track`: there is one.
                continue
            if _is_about_a_statement(clause, seen):
                continue
            if _is_what_it_depends_on(call, seen):
                continue
            if not reads_a_step(call.inputs) and not names_one_thing(call.inputs, seen.whole[: max(0, at)], said[0]):
                yield f"{call.id}: what is {said[0]!r} in {short(seen, clause)!r}?"


def _is_what_it_depends_on(call: Call, seen: Seen) -> bool:
    """Whether it is the one thing that its condition is read of: `If checkout is degraded, restart it`."""
    read = [one for one, _, _ in seen.calls if any(re.search(rf"\b{one.id}\b", when) for when in seen.whens[id(call)])]
    given = {folded(str(value)) for one in read for value in one.inputs.values()}
    return len(read) == 1 and bool(given) and given <= {folded(str(value)) for value in call.inputs.values()}


def _is_about_a_statement(clause: Clause, seen: Seen) -> bool:
    """Whether what is pointed to is what was told right before, which the plan holds: `T-88 paid 940, book that`."""
    before = seen.clauses[: seen.clauses.index(clause)]
    told = before[-1] if before else None
    return told is not None and told.mood == "reason" and not uncovered(text_in(seen, told), seen.held)


_HOW: Final = re.compile(r"[a-z]{3,}ly", re.IGNORECASE)


def _stands_open(value: str, seen: Seen) -> bool:
    """Whether the value is neither quoted nor marked as somebody's words."""
    return folded(value) in folded(seen.plain)


def _inputs(calls: Sequence[tuple[Call, Tool | None, bool]]) -> list[JsonObject]:
    return [call.inputs for call, _, _ in calls]
