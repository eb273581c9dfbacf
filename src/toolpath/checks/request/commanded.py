"""Commands of a request for a plan that acts: whether they are given plainly, and in which words. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import filterfalse
from typing import Final

from toolpath.checks.request.blockers import Mood
from toolpath.checks.request.concepts import phrasal
from toolpath.checks.request.moods import Clause, says_how_it_is_to_be
from toolpath.checks.request.only_read import only_reads
from toolpath.checks.request.other_verbs import is_compound, is_stand_in, is_turned
from toolpath.checks.request.remainders import remainders
from toolpath.checks.request.seen import Seen, short, text_in
from toolpath.checks.request.tools import CALLING, acts_of, fits, is_form, tells_of_doing, verbs_of
from toolpath.checks.request.uncovered import uncovered
from toolpath.checks.request.verbs import folded, is_counter, is_reading
from toolpath.checks.request.wishes import is_needed
from toolpath.model.tool import Tool

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


def uncommanded(seen: Seen, *, strict: bool) -> Iterator[str]:
    """A question for all that a plan does and its request does not plainly command; `strict`: by a verb of its tool."""
    if not seen.acting:
        yield from _only_denied(seen)
        return
    names = ", ".join(dict.fromkeys(call.tool for call, _, _ in seen.acting))
    doubtful = [clause for clause in seen.clauses if not is_in_order(clause, seen)]
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
    yield from _destroyed_on_a_question(seen, commands)
    for clause in commands:
        if any(_is_about(clause, tool) for tool in seen.tools) or _ends_an_act(clause, seen):
            yield f"{names} would act, and {short(seen, clause)!r} only speaks of it. Should it be done?"
    yield from _commanded_otherwise(seen, commands, strict=strict)


def _only_denied(seen: Seen) -> Iterator[str]:
    """A question where a plan only reads, and all that the request says is what not to do."""
    moods = {clause.mood for clause in seen.clauses} - {"none"}
    words = re.findall(r"[^\W\d_]+", seen.clauses[0].text) if seen.clauses else []
    # `List orders without drafts` is a command all the same.
    is_asked = seen.plain.rstrip().endswith(("?", "\uff1f"))
    if moods == {"negation"} and not is_asked and not is_reading(words[0] if words else ""):
        yield f"The request says not to ({short(seen, seen.clauses[0])!r}): what is to be done?"


def _destroyed_on_a_question(seen: Seen, commands: Sequence[Clause]) -> Iterator[str]:
    """A question for each tool that destroys something, where the request only asks whether somebody can."""
    destroying = {tool.key: tool for _, tool, _ in seen.acting if tool is not None and tool.effect == "destructive"}
    for key, one in destroying.items():
        meant = [clause for clause in commands if _commands(clause, one, must_fit=True)]
        if any(clause.is_asked for clause in meant or commands) and all(clause.is_asked for clause in meant):
            yield f"{key} would destroy something, and the request does not plainly say to. Should it be done?"


def _commanded_otherwise(seen: Seen, commands: Sequence[Clause], *, strict: bool) -> Iterator[str]:
    """A question for each act of which no command has the verb."""
    for call, tool, _ in seen.acting:
        must_fit = strict or tool is None or tool.effect == "destructive"
        stands_in = partial(is_stand_in, call=call, tool=tool, seen=seen)
        turned_away = partial(is_turned, tool=tool, seen=seen)
        straight = filterfalse(turned_away, commands)
        if not any(stands_in(clause) or _commands(clause, tool, must_fit=must_fit) for clause in straight):
            said = ", ".join(dict.fromkeys(clause.verb for clause in commands))
            yield f"{call.tool} would act, and the request commands {said!r}. Should it be done?"


def is_in_order(clause: Clause, seen: Seen) -> bool:
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
    is_more = is_named or words[0] in CONTINUING
    if is_more and has_command and folded(said.partition(" ")[2].strip(" :,.")) in seen.held.texts:
        # `On acme/api: …`: where all of it is to be done.
        return True
    if not is_more or any(remainders(clause.text, said, seen.held, seen.is_verb)):
        return False
    return has_command and not uncovered(said, seen.held)


_ONLY: Final = frozenset(("only", "just", "nur", "bloss", "seulement", "juste", "solo"))
CONTINUING: Final = frozenset(
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
    if (tool is not None and is_said_otherwise(clause, tool)) or (
        tool is not None and verb == "need" and is_needed(clause.text, tool)
    ):
        return True
    if must_fit or is_reading(verb) or is_counter(verb):
        return False
    # `Remind me to archive it`: the verb of the tool is there, and is not what is commanded.
    words = re.findall(r"[^\W\d_]+", clause.text)
    return tool is not None and not any(is_form(word, tool) for word in words if word != verb)


def is_said_otherwise(clause: Clause, tool: Tool) -> bool:
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
