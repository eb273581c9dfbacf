"""The gate of every plan made of words: it acts only as the request commands, and says what it leaves out. Pure.

What a request does not command plainly, the plan asks about; a plan with open questions is not run by anybody.
Planners, the plan cache, the router and fallbacks hand their plans out through `gated` and through nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.words import raw_words
from toolpath.checks.request.cuts import cut_out
from toolpath.checks.request.said import QUOTED, names_in, quantifiers, told_of, uncovered
from toolpath.checks.request.sentences import Clause, Mood, clauses_of
from toolpath.checks.request.tools import CALLING, acts, fits, is_form, verbs_of
from toolpath.checks.request.verbs import folded, is_counter, is_reading, meanings_of
from toolpath.expressions.quoted import BRACES
from toolpath.model.plan import Call, Loop, Plan, Step, blocks_of, every_step
from toolpath.model.tool import Tool
from toolpath.values import Json, walk

#: The most that a plan which leaves a question open counts as.
ASKING: Final = 0.4
_MOST: Final = 20
_LONGEST: Final = 20_000
_SHOWN: Final = 120
#: What stands before somebody's words or a text that is handed on as it is.
_MARKED: Final = re.compile(
    r"(?:\b(?:about|titled|entitled|title|called|named|saying|says?|text|message|content|contents|subject|body|note|comment|"
    r"description|name|reading|caption|topic|query|that|label(?:l?ed)?|reason|namens|dass|titel|betreff|über|que|titre|objet|"
    r"sujet|título|asunto|sobre|mensaje)\b|[:=])\s*[:=]?\s*[\"'“„«]?\s*$",
    re.IGNORECASE,
)
#: Lines of somebody else's mail, code, and what is struck out.
_BLANK: Final = re.compile(r"```.*?(?:```|$)|~~[^~]+~~|<(s|del|strike)>.*?</\1>|(?:^|(?<=\n))[ \t]*>[^\n]*", re.DOTALL)
#: Ids, addresses and places: no word in them says anything of the command, as `IS` in `IS-12`.
_CODES: Final = re.compile(
    r"[\w.+-]+@[\w.-]+\w|[a-z][a-z0-9+.-]*://\S*\w|(?<![\w/])(?:~|\.{1,2})?(?:/[\w.@~+-]+)+|(?=[\w./:+-]*\d)\w[\w./:+-]*\w",
    re.IGNORECASE,
)
_SAYS: Final[dict[Mood, str]] = {
    "negation": "it says not to",
    "condition": "it depends on something",
    "hypothesis": "it only supposes it",
    "report": "it tells of something",
    "question": "it is a question",
    "asked": "it is a question",
    "choice": "it leaves a choice",
    "other": "it is no command",
    "none": "it is no command",
    "command": "its command is another one",
}


def gated(
    plan: Plan, request: str, catalog: Catalog, *, strict: bool = True, kept: AbstractSet[str] = frozenset()
) -> Plan:
    """The plan with a question for all in which it does something else than the request says, and less confidence then.

    A plan that only reads does no harm where a name in the request is nowhere in it: then it is only less sure.
    `strict`: the verb of a command has to be one of the tool that acts, as for plans made by rules; a model may know
    better, but not of tools that destroy. `kept`: ids of steps that were carried out before.
    """
    steps = [step for step in plan.steps if step.id not in kept]
    if not steps or not request.strip():
        return plan
    seen = _Seen(plan, request[:_LONGEST], catalog, kept)
    questions = [*_uncommanded(seen, strict=strict)]
    left = [*_left_out(seen, strict=strict)]
    unasked = () if seen.acting else names_in(seen.request, left)
    questions += [f"The plan does nothing about {one!r}: what of it?" for one in left if one not in unasked]
    cut = cut_out(seen.request, seen.own_values, shortened=not seen.acting)
    questions += [f"The plan takes {one}: what is meant?" for one in cut]
    questions += _said_once(seen)
    new = [one for one in dict.fromkeys(questions) if one not in plan.questions][:_MOST]
    if not new and not left:
        return plan
    sure = None if plan.confidence is None else min(plan.confidence, ASKING)
    origin = msgspec.structs.replace(
        plan.origin,
        questions=(*plan.questions, *new),
        uncovered=tuple(dict.fromkeys((*plan.origin.uncovered, *left)))[:_MOST],
        confidence=sure,
    )
    return msgspec.structs.replace(plan, origin=origin)


class _Seen:
    """A request and its plan, looked at once."""

    def __init__(self, plan: Plan, request: str, catalog: Catalog, kept: AbstractSet[str]) -> None:
        steps = plan.steps
        done = {id(call) for call, _ in _calls([step for step in steps if step.id in kept], ())}
        self.request = request.replace("\u2019", "'")
        known = ["inputs", *(step.id for _, step in _every(steps)), *_items(steps)]
        self.calls = [(call, catalog.get(call.tool), is_bound) for call, is_bound in _calls(steps, known)]
        self.tools = [tool for _, tool, _ in self.calls if tool is not None]
        self.acting = [one for one in self.calls if acts(one[1]) and id(one[0]) not in done]
        self.values: list[Json] = [_plain(value) for call, _, _ in self.calls for value in call.inputs.values()]
        self.values += [step.over for step in steps if isinstance(step, Loop)]
        self.values += [str(step.when) for _, step in _every(steps) if step.when is not None]
        self.own_values = [
            _plain(value)
            for call, tool, _ in self.calls
            for name, value in call.inputs.items()
            if not _is_offered(value, tool, name)
        ]
        self.told = told_of([*self.values, *_presets(self.calls)], _vocabulary(self.tools))
        self.parameters = frozenset(
            word for tool in self.tools for name in _parameters(tool) for word in raw_words(name)
        )
        self.has_loop = any(isinstance(step, Loop) for _, step in _every(steps))
        self.plain = _without_contents(self.request, list(_long_texts(self.values)))
        self.verbs = frozenset(verb for tool in self.tools for verb in verbs_of(tool))
        for tool in self.tools:
            # A tool that is called by its full name is called by its verb.
            self.plain = self.plain.replace(tool.key, " " * (len(tool.key) - len(tool.name)) + tool.name)
        self.clauses = clauses_of(self.plain, lambda word: folded(word) in self.verbs or folded(word) in CALLING)


def _plain(value: Json) -> Json:
    """The value with braces that are its own as the request wrote them."""
    match value:
        case str():
            return value.replace(BRACES, "{{")
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case _:
            return value


def _every(steps: Sequence[Step]) -> Iterator[tuple[str, Step]]:
    for step in steps:
        yield "", step
        for block in blocks_of(step):
            yield from every_step(block)


def _items(steps: Sequence[Step]) -> Iterator[str]:
    return (step.item for _, step in _every(steps) if isinstance(step, Loop))


def _calls(steps: Iterable[Step], known: Sequence[str], *, is_bound: bool = False) -> Iterator[tuple[Call, bool]]:
    """Every call, and whether it depends on something that only the run will know."""
    for step in steps:
        bound = is_bound or (
            step.when is not None
            and ".status" not in str(step.when)
            and any(re.search(rf"\b{re.escape(one)}\b", str(step.when)) for one in known)
        )
        if isinstance(step, Call):
            yield step, bound
        for block in blocks_of(step):
            yield from _calls(block.steps, known, is_bound=bound)


def _is_offered(value: Json, tool: Tool | None, name: str) -> bool:
    """Whether the tool's own schema offers the value."""
    properties = tool.input_schema.get("properties") if tool is not None else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    if not isinstance(schema, dict):
        return False
    options = schema.get("enum")
    return value == schema.get("default") or (isinstance(options, list) and value in options)


def _presets(calls: Iterable[tuple[Call, Tool | None, bool]]) -> Iterator[Json]:
    """What the tools take by themselves where they are told nothing."""
    for call, tool, _ in calls:
        properties = tool.input_schema.get("properties") if tool is not None else None
        for name, schema in (properties if isinstance(properties, dict) else {}).items():
            if name not in call.inputs and isinstance(schema, dict) and "default" in schema:
                yield schema["default"]


def _vocabulary(tools: Iterable[Tool]) -> set[str]:
    found: set[str] = set()
    for tool in tools:
        texts = [tool.key, tool.description[:2_000], *tool.aliases, *tool.capabilities]
        for path, value in walk(tool.input_schema, ""):
            texts += [part for part in path.split("/") if part]
            if isinstance(value, str):
                texts.append(value[:500])
        found.update(word for text in texts for word in raw_words(text))
        found.update(folded(word) for text in texts for word in re.findall(r"[^\W_]+", text))
    return found


def _long_texts(values: Sequence[Json]) -> Iterator[str]:
    for value in values:
        for _, text in walk(value, ""):
            if isinstance(text, str) and " " in text.strip():
                yield text.strip()


def _without_contents(request: str, texts: Sequence[str]) -> str:
    """The request with what is quoted, and what the plan hands on word for word as a text, blanked out."""
    plain = _BLANK.sub(lambda match: "#" * len(match.group()), request)
    plain = QUOTED.sub(lambda match: "#" * len(match.group()), plain)
    for text in sorted(texts, key=len, reverse=True)[:100]:
        at = plain.casefold().find(text.casefold())
        if at >= 0 and len(plain.casefold()) == len(plain) and _MARKED.search(plain[max(0, at - 40) : at]):
            plain = plain[:at] + "#" * len(text) + plain[at + len(text) :]
    return _CODES.sub(lambda match: "#" * len(match.group()), plain)


# Whether it is commanded.


def _uncommanded(seen: _Seen, *, strict: bool) -> Iterator[str]:
    if not seen.acting:
        moods = {clause.mood for clause in seen.clauses} - {"none"}
        words = re.findall(r"[^\W\d_]+", seen.clauses[0].text) if seen.clauses else []
        # `List orders without drafts` is a command all the same.
        if moods == {"negation"} and not is_reading(words[0] if words else ""):
            yield f"The request says not to ({_short(seen, seen.clauses[0])!r}): what is to be done?"
        return
    names = ", ".join(dict.fromkeys(call.tool for call, _, _ in seen.acting))
    doubtful = [clause for clause in seen.clauses if not _is_in_order(clause, seen)]
    for clause in doubtful:
        yield (
            f"{names} would act, and the request does not command that plainly ({_SAYS[clause.mood]}: "
            f"{_short(seen, clause)!r}). Should it be done?"
        )
    commands = [clause for clause in seen.clauses if clause.mood == "command"]
    if not commands:
        if not doubtful and not all(is_bound for _, _, is_bound in seen.acting):
            yield f"{names} would act, and nothing in the request commands it. Should it be done?"
        return
    for call, tool, _ in seen.acting:
        must_fit = strict or tool is None or tool.effect == "destructive"
        if not any(_commands(clause, tool, must_fit=must_fit) for clause in commands):
            said = ", ".join(dict.fromkeys(clause.verb for clause in commands))
            yield f"{call.tool} would act, and the request commands {said!r}. Should it be done?"


def _is_in_order(clause: Clause, seen: _Seen) -> bool:
    """Whether an acting plan may come from a request with this clause in it."""
    match clause.mood:
        case "command" | "none":
            return True
        case "asked":
            # A question beside a command, which a step of the plan answers.
            return len(seen.acting) < len(seen.calls)
        case "condition":
            bound = sum(is_bound for _, _, is_bound in seen.acting)
            commands = sum(one.mood == "command" for one in seen.clauses)
            return bound == len(seen.acting) or (bound > 0 and len(seen.acting) - bound < commands)
        case "other":
            return _says_a_value(clause, seen)
        case _:
            return False


def _says_a_value(clause: Clause, seen: _Seen) -> bool:
    """Whether the clause only says more of what a command before it needs: `The title is …`, `email a@b.org`."""
    words = [folded(word) for word in re.findall(r"[^\W\d_]+", clause.text)]
    if not words:
        return True
    has_command = any(one.mood == "command" for one in seen.clauses)
    is_named = any(word in seen.parameters for word in words[:5])
    begins = words[0] in _CONTINUING or is_named
    return has_command and begins and not uncovered(_text(seen, clause), seen.told)


_CONTINUING: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """with to for at on in by from using and as its his her their the of into via per subject title
    mit an für auf in am um von zu avec pour à de par con para a de por en""",
    )
)


def _parameters(tool: Tool) -> Iterable[str]:
    properties = tool.input_schema.get("properties")
    return properties if isinstance(properties, dict) else ()


def _commands(clause: Clause, tool: Tool | None, *, must_fit: bool) -> bool:
    verb = clause.verb
    if tool is not None and (fits(verb, tool) or (folded(verb) in CALLING and tool.name in clause.text)):
        return True
    if must_fit or is_reading(verb) or is_counter(verb):
        return False
    # `Remind me to archive it`: the verb of the tool is there, and is not what is commanded.
    words = re.findall(r"[^\W\d_]+", clause.text)
    return tool is not None and not any(is_form(word, tool) for word in words if word != verb)


# What is left out.


def _left_out(seen: _Seen, *, strict: bool) -> Iterator[str]:
    yield from uncovered(seen.request, seen.told)
    if not seen.acting:
        yield from (_short(seen, one) for one in seen.clauses if _is_act_left_out(one, seen))
        return
    if not seen.has_loop:
        several = len(seen.acting) > 1
        for word in quantifiers(seen.plain, seen.told):
            if not (several and folded(word) in ("both", "beide", "ambos", "ambas", "each")):
                yield word
    commands = [clause for clause in seen.clauses if clause.mood == "command"]
    # A model may mean with a step what a command says in another verb; each such step stands for one command.
    spare = 0 if strict else sum(not any(fits(one.verb, tool) for one in commands) for tool in seen.tools)
    for clause in commands:
        if _is_done(clause, seen):
            continue
        if spare and _is_spoken_of(clause, seen):
            spare -= 1
            continue
        yield _short(seen, clause)


def _is_act_left_out(clause: Clause, seen: _Seen) -> bool:
    """Whether the clause commands an act, and no step of a plan that only reads does it."""
    is_act = clause.mood == "command" and bool(meanings_of(clause.verb)) and not is_reading(clause.verb)
    return is_act and not _is_done(clause, seen)


def _is_done(clause: Clause, seen: _Seen) -> bool:
    """Whether some step does what a clause commands, or is told what it says."""
    if any(fits(clause.verb, tool) for tool in seen.tools):
        return True
    if folded(clause.verb) in seen.parameters and not uncovered(_text(seen, clause), seen.told):
        # `Create an author Ann, email ann@example.org`: the word names a value.
        return True
    return is_reading(clause.verb) and _is_spoken_of(clause, seen)


def _is_spoken_of(clause: Clause, seen: _Seen) -> bool:
    words = [folded(word) for word in re.findall(r"[^\W\d_]{3,}", _text(seen, clause))]
    telling = [word for word in words if word not in _CONTINUING and word != folded(clause.verb)]
    return not telling or any(word in seen.told.vocabulary or seen.told.has(word) for word in telling)


def _said_once(seen: _Seen) -> Iterator[str]:
    """A question for each value that one call takes for two parameters although the request says it once."""
    for call, tool, _ in seen.calls:
        names: dict[str, list[str]] = {}
        for name, value in call.inputs.items():
            is_plain = isinstance(value, str | int | float) and not isinstance(value, bool)
            if is_plain and not (isinstance(value, str) and "{{" in value) and not _is_offered(value, tool, name):
                names.setdefault(folded(str(value)), []).append(name)
        for value, several in names.items():
            if len(several) > 1 and value:
                count = len(re.findall(rf"(?<!\w){re.escape(value)}(?!\w)", folded(seen.request)))
                if count < len(several):
                    often = "once" if count < 2 else f"{count} times"
                    yield f"{call.id}: {value!r} is said {often}; is it {' and '.join(several)}?"


def _text(seen: _Seen, clause: Clause) -> str:
    """The clause as it stands in the request."""
    at = seen.plain.find(clause.text)
    return seen.request[at : at + len(clause.text)] if at >= 0 else clause.text


def _short(seen: _Seen, clause: Clause) -> str:
    """What the clause is in the request, not too long."""
    text = " ".join(_text(seen, clause).split()).rstrip(" ,;")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
