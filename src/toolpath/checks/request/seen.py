"""A request and the plan that was made of it, looked at once: clauses, calls, values. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, TypeGuard

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.catalog.words import raw_words
from toolpath.checks.request.calendar_words import WEEKDAY_NAMES
from toolpath.checks.request.clauses import clauses_of
from toolpath.checks.request.concepts import STOPS, commanded, listed_concepts
from toolpath.checks.request.courtesy import closed_up, without_courtesies
from toolpath.checks.request.denials import denial_in, leaves_be
from toolpath.checks.request.held_values import held_values
from toolpath.checks.request.moods import Clause
from toolpath.checks.request.plain_schemas import plain_inputs, plain_outputs
from toolpath.checks.request.settings import says_an_open_option
from toolpath.checks.request.statements import is_needless, is_needless_act
from toolpath.checks.request.tokens import QUOTED
from toolpath.checks.request.tools import CALLING, acts, acts_of, does_away, has_been_done, verbs_of
from toolpath.checks.request.verbs import folded
from toolpath.checks.request.whens import list_of
from toolpath.expressions.quoted import BRACES
from toolpath.model.plan import Call, Loop, Plan, Step, blocks_of, every_step
from toolpath.model.tool import Tool
from toolpath.values import Json, walk

_SHOWN: Final = 120
#: What stands before somebody's words or a text that is handed on as it is.
_MARKED: Final = re.compile(
    r"(?:\b(?:about|titled|entitled|title|called|named|saying|says?|text|message|content|contents|subject|body|note"
    r"|comment|"
    r"description|name|reading|caption|topic|query|that|label(?:l?ed)?|reason|namens|dass|titel|betreff|über|que"
    r"|titre|objet|"
    r"sujet|título|asunto|sobre|mensaje)\b|[:=])\s*[:=]?\s*[\"'“„«]?\s*$",
    re.IGNORECASE,
)
STRUCK_OUT: Final = re.compile(
    r"```.*?(?:```|$)|~~[^~]+~~|<(s|del|strike)>.{0,1000}?</\1>|(?:^|(?<=\n))[ \t]*>[^\n]*", re.DOTALL
)
"""Lines of somebody else's mail, code, and what is struck out."""
#: Ids, addresses and places: no word in them says anything of the command, as `IS` in `IS-12`.
_CODES: Final = re.compile(
    # Bounded, since they are tried at each letter of a word that has none of it.
    r"[\w.+-]{1,100}@[\w.-]+\w|[a-z][a-z0-9+.-]{0,40}://\S*\w|(?<![\w/])(?:~|\.{1,2})?(?:/[\w.@~+-]+)+"
    r"|(?=[\w./:+-]{0,100}\d)\w[\w./:+-]*\w",
    re.IGNORECASE,
)
#: What is told before a command and may say whose words that is.
_HANDED_ON: Final = re.compile(
    r"\b(?:this(?!\s+(?:morning|afternoon|evening|week|month|year)\b)|these|here|below|message|mail|e-?mail|text|letter|request|memo|posted?|sent|forwarded|received"
    r"|came\s+in|dies\w*(?!\s+(?:woche|monat|jahr)\b)|hier|unten|folgend\w*"
    r"|nachricht|anfrage|brief|ceci|voici|ci-dessous|message|courriel|lettre|demande|esto|aquí|mensaje|correo|carta"
    r"|solicitud)\b|\b(?:was|were|is|are|am|be|['\u2019](?:s|m|re))\s+(?:all\s+)?like\W*$|\b(?:goes|went)\W*$",
    re.IGNORECASE,
)
#: Something of what is commanded about.
_ITS: Final = re.compile(
    r"\b(?:keep|leave|save|spare|behalt\w*|lass\w*|garde\w*|laisse\w*|guarda\w*|deja\w*)\s+(?:its|their|dessen|deren|seine?\w?"
    r"|ihre?\w?|son|sa|ses|leurs?|sus?)\s+[^\W\d_]",
    re.IGNORECASE,
)
#: A day to come in a statement is one that may be meant.
_COMING: Final = re.compile(
    rf"\b(?:until|till|by|next|bis|jusqu\w*|hasta)\b|(?<!\blast )\b(?:tomorrow|tonight|later|weekend|demain|mañana"
    rf"|{WEEKDAY_NAMES})\b",
    re.IGNORECASE,
)
#: When something was that is told.
_WAS: Final = re.compile(
    r"\b(?:(?:earlier\s+)?this\s+(?:morning|afternoon|evening|week)|last\s+(?:night|week|weekend|month)|yesterday(?:\s+(?:morning"
    r"|afternoon|evening))?|earlier\s+today|today|just\s+now|heute(?:\s+(?:morgen|früh|vormittag|nachmittag|abend))?"
    r"|gestern(?:\s+abend)?|letzte\s+(?:nacht|woche)|ce\s+matin|cet\s+après-midi|hier(?:\s+soir)?|aujourd['\u2019]hui"
    r"|esta\s+(?:mañana|tarde|noche)|ayer|anoche|hoy)\b",
    re.IGNORECASE,
)
#: Words of parameters that say when.
_WHENS: Final = frozenset(
    ("date", "day", "time", "when", "at", "on", "from", "until", "since", "start", "end", "month", "year")
)
_VALUED: Final = re.compile(r"[\d@\"“„«`]")
#: A figure, with a sign for money perhaps.
_FIGURE: Final = re.compile(r"^[^\w\s-]?(\d+(?:\.\d+)?)[^\w\s]?$")
#: Words that say that one value is for two things.
FOR_BOTH: Final = re.compile(
    r"\b(?:both|each|same|alike|beiden?|jeweils|gleich\w*|selbe\w*|les\s+deux|chaque|m[eê]mes?|ambos|ambas|cada"
    r"|mism[oa]s?)\b",
    re.IGNORECASE,
)


def _is_figure(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


class Seen:
    """A request and its plan, looked at once."""

    def __init__(self, plan: Plan, request: str, catalog: Catalog, kept: AbstractSet[str]) -> None:
        steps = plan.steps
        done = {id(call) for call, _ in _calls([step for step in steps if step.id in kept], ())}
        called = {call.tool for call, _ in _calls(steps, ())}
        self.request = self.whole = request.replace("\u2019", "'")
        """The request; in `request` without what a plan need not do: reasons, and what is denied and not done."""
        self.tools_left = [tool for key, tool in catalog.tools.items() if key not in called]
        self.calls = _called_with(steps, catalog)
        self.loops = [*_loops(steps, catalog)]
        """Each loop, with the tools that are called in it."""
        self.has_loop = bool(self.loops)
        self.whens = {id(call): whens for call, whens in _whens(steps)}
        """By call: what it waits for to hold, with the blocks that it is in; none is left out."""
        self.items = _lists(steps)
        """By name of a loop's item: where its list is."""
        self.tools = [tool for _, tool, _ in self.calls if tool is not None]
        self.acting = [one for one in self.calls if acts(one[1]) and id(one[0]) not in done]
        self.values: list[Json] = [_plain(value) for call, _, _ in self.calls for value in call.inputs.values()]
        self.values += [step.over for step in steps if isinstance(step, Loop)]
        self.values += [str(step.when) for _, step in _every(steps) if step.when is not None]
        self.own_values = [
            _plain(value)
            for call, tool, _ in self.calls
            for name, value in call.inputs.items()
            if not is_offered(value, tool, name)
        ]
        counts = Counter(call.tool for call, _, _ in self.calls).values()
        self.held = held_values(
            [*self.values, *_presets(self.calls)], _vocabulary(self.tools) | self._alike(), tuple(counts)
        )
        self.parameters = frozenset(
            word for tool in self.tools for name in _parameters(tool) for word in raw_words(name)
        )
        self.verbs = frozenset(verb for tool in self.tools for verb in verbs_of(tool))
        self.plain = without_contents(self.request, list(_long_texts(self.values)))
        # What is destroyed for now is destroyed.
        binds = any(tool is None or tool.effect == "destructive" for _, tool, _ in self.acting)
        self.request = without_courtesies(self.request, self.plain, for_now=not binds)
        self.request, self.plain = closed_up(self.request, without_courtesies(self.plain, for_now=not binds))
        self.plain = _named_by_verbs(self.plain, self.tools)
        self.clauses = [self._called(clause) for clause in clauses_of(self.plain, self.is_verb)]
        self.idle = frozenset(id(clause) for clause in self.clauses if self._is_idle(clause))
        for clause in self.clauses:
            if id(clause) in self.idle:
                self._blank(clause)

    def _is_idle(self, clause: Clause) -> bool:
        """Whether the clause asks for nothing: it tells why, or denies what the plan does not do."""
        if not any(one.mood in ("command", "asked") for one in self.clauses):
            return False
        if clause.mood == "reason":
            said = text_in(self, clause)
            if any(tool is not None and says_an_open_option(said, tool, call.inputs) for call, tool, _ in self.acting):
                # `They would rather have a voucher`: it says how, and not why.
                return False
            if any(tool is not None and has_been_done(clause.text, tool) for _, tool, _ in self.acting):
                return False
            if self._is_done_twice(said) or (
                is_needless(said) and (is_needless_act(said) or not all(does_away(one) for _, one, _ in self.acting))
            ):
                return False
            is_told_first = not any(one.mood == "command" for one in self.clauses[: self.clauses.index(clause)])
            if is_told_first and _HANDED_ON.search(clause.text):
                # `This came in from Ann. Close T-7`: perhaps the words are hers.
                return not self.acting
            return not self.acting or self._is_taken(text_in(self, clause))
        if clause.mood != "negation":
            return False
        if _ITS.search(clause.text) and any(does_away(tool) for _, tool, _ in self.acting):
            # `…, but keep its title`: nothing of it is left.
            return False
        denial = denial_in(text_in(self, clause), self._is_any_verb)
        calls = [(tool, call.inputs) for call, tool, _ in self.acting]
        return all(tool is not None and leaves_be(denial, tool, inputs, self.tools_left) for tool, inputs in calls)

    def _is_done_twice(self, said: str) -> bool:
        """Whether one act is done with a value of a reason and with one of a command: `6 broke, scrap 4 of them`."""
        told = {word.strip(".,;:!?()'\"") for word in said.split()}
        others = {word.strip(".,;:!?()'\"") for word in self.request.replace(said, " ", 1).split()}
        kinds: dict[tuple[str, str], set[bool]] = {}
        for call, _, _ in self.acting:
            for name, value in call.inputs.items():
                if str(value) in told ^ others:
                    kinds.setdefault((call.tool, name), set()).add(str(value) in told)
        return any(len(one) > 1 for one in kinds.values())

    def _is_taken(self, said: str) -> bool:
        """Whether what a statement names, an act takes as it is, and not what is read of it: `T-29 paid, book it`."""
        named = [word.strip(".,;:!?()'\"") for word in said.split() if _VALUED.search(word)]
        # `Jonas is ill, cancel his interviews`: of a loop it is what the list is read by.
        taking = self.calls if self.has_loop else self.acting
        texts = [folded(str(value)) for call, _, _ in taking for _, value in walk(call.inputs, "")]
        if not named or any(folded(word).removesuffix("'s") in text for word in named for text in texts):
            return True
        # `The bill came to €240`: the act takes 240.
        figures = {f"{value:g}" for call, _, _ in taking for value in call.inputs.values() if _is_figure(value)}
        return all((found := _FIGURE.search(word)) is not None and f"{float(found[1]):g}" in figures for word in named)

    def _is_any_verb(self, word: str) -> bool:
        return self.is_verb(word) or any(folded(word) in verbs_of(tool) for tool in self.tools_left)

    def _blank(self, clause: Clause) -> None:
        """Take a clause out of what the plan is held against; what is a value by its form is held against it still."""
        at = self.plain.find(clause.text)
        said = text_in(self, clause)
        if at < 0:
            return
        if clause.mood == "reason" and (
            _COMING.search(said) or _VALUED.search(said) or self.held.has_text(said.strip(" ,.!"))
        ):
            # When it was is nothing to a tool that takes no day.
            past = () if self._takes_days() else _WAS.finditer(said)
            gaps = [(at + one.start(), at + one.end()) for one in past]
        else:
            gaps = [(at, at + len(clause.text))]
        for start, end in gaps:
            gap = " " * (end - start)
            self.request, self.plain = (f"{text[:start]}{gap}{text[end:]}" for text in (self.request, self.plain))

    def _takes_days(self) -> bool:
        """Whether an act is done for some day or at some time."""
        named = {
            word
            for _, tool, _ in self.acting
            if tool is not None
            for one in _parameters(tool)
            for word in raw_words(one)
        }
        formed = [
            value
            for _, tool, _ in self.acting
            if tool is not None
            for path, value in walk(plain_inputs(tool), "")
            if path.endswith("/format") and isinstance(value, str)
        ]
        return bool(_WHENS & named) or any("date" in one or "time" in one for one in formed)

    def _alike(self) -> set[str]:
        """The words of the request that stand for what a tool, a parameter or an option is called."""
        # A verb is no thing: `in dry run` says nothing of a `start`.
        known = {one for tool in self.tools for one in _things(tool) if not one.startswith("to-")}
        return {
            folded(word)
            for word in set(re.findall(r"[^\W\d_]{2,}", self.request))
            if folded(word) not in STOPS and listed_concepts(word) & known
        }

    def is_verb(self, word: str) -> bool:
        """Whether the word is a verb of one of the plan's tools, or calls one."""
        if folded(word) in self.verbs or folded(word) in CALLING:
            return True
        return folded(word) not in STOPS and any(commanded(word) & acts_of(tool) for tool in self.tools)

    def _called(self, clause: Clause) -> Clause:
        """A clause that begins with the name of a tool, which is as good as a verb."""
        if clause.mood != "other":
            return clause
        at = self.plain.find(clause.text)
        before = self.request[: at + 1].casefold()
        tool = next(
            (
                tool
                for tool in self.tools
                if tool.key != tool.name
                and clause.text.startswith(tool.name)
                and before.endswith(tool.key.casefold()[: len(tool.key) - len(tool.name) + 1])
            ),
            None,
        )
        return clause if tool is None else msgspec.structs.replace(clause, mood="command", verb=tool.name)


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


def _calls(
    steps: Iterable[Step], known: Sequence[str], told: frozenset[str] = frozenset(), *, is_bound: bool = False
) -> Iterator[tuple[Call, bool]]:
    """Every call, and whether it depends on something that only the run will know.

    `told`: ids of the steps whose output has a status of its own.
    """
    for step in steps:
        bound = is_bound or (
            step.when is not None
            and all((name[1] or name[2]) in told for name in _STATUS.finditer(str(step.when)))
            and any(re.search(rf"\b{re.escape(one)}\b", str(step.when)) for one in known)
        )
        if isinstance(step, Call):
            yield step, bound
        for block in blocks_of(step):
            yield from _calls(block.steps, known, told, is_bound=bound)


def _called_with(steps: Sequence[Step], catalog: Catalog) -> list[tuple[Call, Tool | None, bool]]:
    """Every call with its tool, and whether it depends on something that only the run will know."""
    known = ["inputs", *(step.id for _, step in _every(steps)), *_items(steps)]
    told = frozenset(
        step.id for _, step in _every(steps) if isinstance(step, Call) and _tells_status(catalog.get(step.tool))
    )
    return [(call, catalog.called(call.tool, call.inputs), is_bound) for call, is_bound in _calls(steps, known, told)]


def _loops(steps: Sequence[Step], catalog: Catalog) -> Iterator[tuple[Loop, list[Tool | None]]]:
    for _, step in _every(steps):
        if isinstance(step, Loop):
            yield step, [catalog.get(call.tool) for call, _ in _calls([step], ())]


def _whens(steps: Iterable[Step], around: tuple[str, ...] = ()) -> Iterator[tuple[Call, tuple[str, ...]]]:
    for step in steps:
        whens = around if step.when is None else (*around, str(step.when))
        if isinstance(step, Call):
            yield step, whens
        for block in blocks_of(step):
            yield from _whens(block.steps, whens)


def _lists(steps: Sequence[Step]) -> dict[str, tuple[str, ...]]:
    loops = [step for _, step in _every(steps) if isinstance(step, Loop)]
    known = [step.id for _, step in _every(steps)] if loops else ()
    found = {step.item: list_of(step.over, known) for step in loops}
    return {name: where for name, where in found.items() if where is not None}


#: How a step ended is no condition that a request names; the status that an order has is one.
_STATUS: Final = re.compile(r"(?<![\w.])(?:steps\.([\w-]{1,100})\.output|([\w.\[\]'\"-]{1,200}))\.status\b")


def _tells_status(tool: Tool | None) -> bool:
    properties = plain_outputs(tool).get("properties") if tool is not None else None
    return isinstance(properties, dict) and "status" in properties


def is_offered(value: Json, tool: Tool | None, name: str) -> bool:
    """Whether the tool's own schema offers the value."""
    properties = plain_inputs(tool).get("properties") if tool is not None else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    if not isinstance(schema, dict):
        return False
    options = schema.get("enum")
    return value == schema.get("default") or (isinstance(options, list) and value in options)


def is_preset(value: Json, tool: Tool | None, name: str) -> bool:
    """Whether the value is what the tool takes where nothing is said."""
    properties = plain_inputs(tool).get("properties") if tool is not None else None
    schema = properties.get(name) if isinstance(properties, dict) else None
    return isinstance(schema, dict) and "default" in schema and value == schema["default"]


#: How a day begins that machines write.
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def _presets(calls: Iterable[tuple[Call, Tool | None, bool]]) -> Iterator[Json]:
    """The defaults of the tools for inputs that the calls do not give."""
    for call, tool, _ in calls:
        properties = plain_inputs(tool).get("properties") if tool is not None else None
        for name, schema in (properties if isinstance(properties, dict) else {}).items():
            is_open = name not in call.inputs and isinstance(schema, dict) and "default" in schema
            # A day that was set once says nothing of `tomorrow`.
            if is_open and not _DAY.match(str(schema["default"])):
                yield schema["default"]


def _vocabulary(tools: Iterable[Tool]) -> set[str]:
    """The words that tools are described with."""
    return set[str]().union(*(_words(tool) for tool in tools))


def _words(tool: Tool) -> frozenset[str]:
    known = tool.__dict__.get("_words")
    if known is None:
        texts = [tool.key, tool.description[:2_000], *tool.aliases, *tool.capabilities]
        for path, _ in walk(plain_outputs(tool), ""):
            # What it gives is spoken of where a later step takes it: `the first slot`.
            texts += [part.removesuffix("s") for part in path.split("/")[-1:]]
        for path, value in walk(plain_inputs(tool), ""):
            texts += [part for part in path.split("/") if part]
            if isinstance(value, str):
                texts.append(value[:500])
        known = frozenset(
            [word for text in texts for word in raw_words(text)]
            + [folded(word) for text in texts for word in re.findall(r"[^\W_]+", text)]
        )
        tool.__dict__["_words"] = known
    return known


def speaks_of(text: str, tools: Iterable[Tool]) -> bool:
    """Whether a word of the text is one of these tools', or stands for one of what they take."""
    words = [word for word in re.findall(r"[^\W\d_]{2,}", text) if folded(word) not in STOPS]
    return any(
        folded(word) in _words(tool) or listed_concepts(word) & _things(tool) for word in words for tool in tools
    )


def _things(tool: Tool) -> frozenset[str]:
    """Concepts of a tool's name, its parameters and their options."""
    known = tool.__dict__.get("_things")
    if known is None:
        texts = [tool.name, *_parameters(tool)]
        for _, value in walk(plain_inputs(tool), ""):
            if isinstance(value, str) and len(value) < 40 and " " not in value:
                texts.append(value)
        words = {word for text in texts for word in raw_words(text)}
        known = frozenset[str]().union(*(listed_concepts(word) for word in words if folded(word) not in STOPS))
        tool.__dict__["_things"] = known
    return known


def _named_by_verbs(plain: str, tools: Sequence[Tool]) -> str:
    """The text with the names of tools in place of their full ones: a tool that is called so is called by its verb."""
    for tool in tools:
        if tool.key == tool.name or tool.key.casefold() not in plain.casefold():
            continue
        whole = " " * (len(tool.key) - len(tool.name)) + tool.name
        plain = re.sub(rf"(?<![\w.]){re.escape(tool.key)}(?![\w])", whole, plain, flags=re.IGNORECASE)
    return plain


def _long_texts(values: Sequence[Json]) -> Iterator[str]:
    for value in values:
        for _, text in walk(value, ""):
            if isinstance(text, str) and " " in text.strip():
                yield text.strip()


def without_contents(request: str, texts: Sequence[str] = ()) -> str:
    """The request with what is quoted, and what the plan hands on word for word as a text, blanked out."""
    plain = STRUCK_OUT.sub(lambda match: "#" * len(match.group()), request)
    plain = QUOTED.sub(lambda match: "#" * len(match.group()), plain)
    for text in sorted(texts, key=len, reverse=True)[:100]:
        at = plain.casefold().find(text.casefold())
        if at >= 0 and len(plain.casefold()) == len(plain) and _MARKED.search(plain[max(0, at - 40) : at]):
            plain = plain[:at] + "#" * len(text) + plain[at + len(text) :]
    return _CODES.sub(lambda match: "#" * len(match.group()), plain)


def _parameters(tool: Tool) -> Iterable[str]:
    properties = plain_inputs(tool).get("properties")
    return properties if isinstance(properties, dict) else ()


def text_in(seen: Seen, clause: Clause) -> str:
    """The clause as it stands in the request."""
    at = seen.plain.find(clause.text)
    return seen.request[at : at + len(clause.text)] if at >= 0 else clause.text


def short(seen: Seen, clause: Clause) -> str:
    """The clause as it stands in the request, not too long."""
    text = " ".join(text_in(seen, clause).split()).rstrip(" ,;")
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
