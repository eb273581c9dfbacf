"""Warrants of a plan: what in the request says that these tools are commanded. Pure.

A plan is made of what fits best, and something always does. So evidence is asked for besides, and all of it has to be
there: the verb is the tool's own or a plain synonym; the thing is the tool's own, said by its word, by an id of its
kind or by values that nothing else is; no word is the thing of another tool; no word is left over. A write that lacks
one is asked about; a plan that only reads is less sure then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words, stem
from toolpath.checks.request.concepts import STOPS, commanded, concepts_of, listed_concepts
from toolpath.checks.request.counts import COUNTS
from toolpath.checks.request.idle import IDLE
from toolpath.checks.request.namings import is_short
from toolpath.checks.request.occurrences import whole_words
from toolpath.checks.request.openings import bare
from toolpath.checks.request.other_verbs import PUTTING, is_compound
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.tools import acts_of, fits, makes_of
from toolpath.checks.request.verbs import folded, is_particle, is_reading, meanings_of
from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.loose_values import loose
from toolpath.planner.offline.request.apposed import apposed, is_own_id
from toolpath.planner.offline.request.cues import LABELS
from toolpath.planner.offline.request.links import PALE
from toolpath.planner.offline.request.ordinals import place_in_row
from toolpath.planner.offline.request.told_texts import is_message
from toolpath.planner.offline.request.toolbox import PARTICLES, Kit, Toolbox, ToolField, is_like_examples, things_of
from toolpath.planner.offline.warrant_words import CODE, ID, PlanWords, RequestWords, own_verbs, words_of_value
from toolpath.values import Json

_PATH: Final = re.compile(r"[/\\]|\.\w{1,5}$|\*")
_PLACED: Final = r"(?<!\w)(?:from|to|in|on|at|into|onto|of)\s+(?:the\s+)?"
#: Things of any kind.
_GENERIC: Final = frozenset(("item", "items", "product", "products", "article", "articles", "entry", "thing"))
#: Verbs of which every tool that changes something is a kind.
_BROAD: Final = frozenset(("set", "make", "do", "put", "change", "update", "get", "give"))
_MONEY: Final = frozenset(("money", "amount", "payment", "funds"))
_UNDOING: Final = re.compile(r"(?:un|de|dis)-?(\w{4,})")
#: Words that change nothing of what is to be done.
_IDLE: Final = IDLE | frozenset(
    ("one", "thing", "new", "first", "last", "worth", "copy", "copies", "piece", "pieces", "well")
)
#: Words that deny a setting, and those of the things that it is denied of.
_DENYING: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """no not none don't dont never without any either both each kein keine keinen keiner nicht ohne beide beiden
        pas sans aucun aucune ni sin ningún ninguna ambos ambas""",
    )
)
#: Kinds of fields whose values nothing else is.
_TELLING: Final = frozenset(("email", "url", "phone", "day", "moment", "time", "duration", "percent", "repo", "enum"))


class Warrant(msgspec.Struct, frozen=True):
    """Evidence that a request means a call; what lacks is named."""

    kit: Kit
    verb: str | None
    """The verb of the command that is none of the tool's, nor a plain synonym of one."""
    thing: str | None
    """What the tool is for, where nothing in the request says that it is about such a thing."""
    foreign: str | None
    """A word of the request that is the thing of another tool."""
    rival: str | None
    """Key of another tool that is called by the very verb."""
    stray: str | None
    """A word of the request that neither the plan's tools nor its values have."""
    loose: str | None
    """A value that nothing but its place in the sentence binds to its parameter."""
    unfilled: str | None
    """A parameter that the request names, and that is left out: `labelled bug`."""
    has_id_of_another: bool
    """A value begins as ids of another kind do."""
    undone: str | None
    """The word at the head that undoes what another tool does: `Uncancel`."""
    is_opened: bool
    """The request begins as one for this tool does."""


def warrants(plan: Plan, request: str, box: Toolbox, today: date | None = None) -> list[Warrant]:
    """The evidence for each call of the plan."""
    kits = {kit.key: kit for kit in box.kits}
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call) and step.tool in kits]
    said = RequestWords(bare(request), today)
    made = PlanWords(calls, list({call.tool: kits[call.tool] for call in calls}.values()), box)
    return [_warrant(call, kits[call.tool], made, said) for call in calls]


def unwarranted(found: Iterable[Warrant]) -> Iterator[str]:
    """A question for each call that writes where the request names another act or thing, or no thing at all."""
    for one in found:
        if one.undone is not None:
            yield f"Is {one.kit.key} what {one.undone!r} means?"
        if not one.kit.is_acting:
            continue
        name = one.kit.key
        if one.verb is not None:
            yield f"Is {name} what {one.verb!r} means?"
        elif one.rival is not None:
            yield f"Is {name} or {one.rival} what is meant?"
        elif one.foreign is not None:
            yield f"{name} would act: what of {one.foreign!r}?"
        elif one.thing is not None:
            yield f"{name} would act, and the request speaks of no {one.thing}. Should it be done?"
        elif one.stray is not None:
            yield f"What is meant by {one.stray!r}?"
        elif one.loose is not None:
            yield f"What is {one.loose!r} for?"


def is_warranted(found: Iterable[Warrant]) -> bool:
    """Whether all evidence is there for every call, the reading ones too."""
    return all(
        one.is_opened and not one.has_id_of_another and {one.foreign, one.thing, one.stray, one.unfilled} == {None}
        for one in found
    )


def is_vouched(found: Sequence[Warrant]) -> bool:
    """Whether all evidence is there for a plan that few words speak for, in which each tool is called once."""
    tools = {one.kit.key for one in found}
    return len(tools) == len(found) and is_warranted(found) and not any(unwarranted(found))


def _warrant(call: Call, kit: Kit, made: PlanWords, said: RequestWords) -> Warrant:
    has_id = _has_id(call, kit, made.box)
    commands = said.commands(kit)
    verbs = [verb for verb in commands if folded(verb) not in made.verbs and not _is_own(verb, kit, said)]
    things = things_of(kit)
    is_said = _is_thing_said(call, kit, things, commands, verbs, made, said)
    return Warrant(
        kit=kit,
        verb=verbs[0] if verbs and not _is_act_said(call, kit, things, verbs, made, said) else None,
        thing=None if is_said or not things else things[-1],
        foreign=next((word for word in said.telling if made.is_foreign(word)), None),
        rival=None if has_id or len(verbs) < len(commands) else _rival(verbs, kit, made.box),
        stray=_stray(made, said, _kinds_of(made, said)),
        loose=loose(call, kit, said.request, said.quoted) if kit.is_acting else None,
        has_id_of_another=_has_id_of_another(call, kit, made.box),
        unfilled=_unfilled(call, kit, said),
        undone=_undone(kit, made, said),
        is_opened=any(one.is_acting for one in made.kits) or _is_opened(kit, said),
    )


def _is_act_said(
    call: Call, kit: Kit, things: Sequence[str], verbs: Sequence[str], made: PlanWords, said: RequestWords
) -> bool:
    """Whether the request says the act of a tool in other words than its verb. `verbs`: those that are none of it."""
    if not things and not _has_id(call, kit, made.box) and all(folded(verb) in _BROAD | PUTTING for verb in verbs):
        # `Set the table` turns nothing on.
        return False
    return (
        bool(said.joint & acts_of(kit.tool))
        or any(_is_alike(verb, kit) for verb in verbs)
        or any(_is_marked(one, call, kit) or _is_told_by(one, call, kit, made.box) for one in verbs)
    )


def _is_thing_said(
    call: Call,
    kit: Kit,
    things: Sequence[str],
    commands: Sequence[str],
    verbs: Sequence[str],
    made: PlanWords,
    said: RequestWords,
) -> bool:
    """Whether the request says what the tool does its act to. `verbs`: those of its commands that are none of it."""
    is_other = _is_of_another_thing(call, kit, things, said, made.box)
    if not is_other and (_has_id(call, kit, made.box) or _is_told(call, kit, said, made.box)):
        return True
    if any(said.says(one, kit) or (one in _MONEY and said.has_money) for one in things):
        return True
    if any(_is_told_by(verb, call, kit, made.box) for verb in commands):
        return True
    # `Publish all drafts`: what is read first is of its things, and says so.
    if _is_read_first(call, kit, things, made, is_other=is_other):
        return True
    if len(verbs) == len(commands):
        return False
    # `Expel Tom Miller`, by the only tool that expels anybody.
    is_named = not is_other and _is_named(call, kit, said) and not _is_shared(verbs, commands, kit, made.box)
    return is_named or bool(_GENERIC.intersection(things))


def _is_read_first(call: Call, kit: Kit, things: Sequence[str], made: PlanWords, *, is_other: bool) -> bool:
    """Whether what is read first says what it is for: the list it goes over, or the thing that it depends on.

    `if rye runs low, order 5 kg`
    """
    if call.when is None:
        return _is_bound(call) and _is_listed(kit, things, made)
    reading = {kit.key for kit in made.kits if not kit.is_acting}
    read = [value for one in made.calls if one.tool in reading for value in one.inputs.values()]
    return not is_other and any(thing in call.inputs and call.inputs[thing] in read for thing in things)


def _is_of_another_thing(call: Call, kit: Kit, things: Sequence[str], said: RequestWords, box: Toolbox) -> bool:
    """Whether the verb is said of an id of what only has what the tool is for: `Stop web-3`, of its backup."""
    objects = {one.casefold() for verb, one in said.objects if fits(verb, kit.tool)}
    named = [
        field
        for field in kit.fields
        if field.kind == "id" or box.prefix_of(field)
        if str(call.inputs.get(field.name, "")).casefold() in objects
    ]
    if any(field not in named and field.name in call.inputs and not is_message(field) for field in kit.fields):
        # `Extend BK-8 by 7 days`: what else is said is for this tool alone.
        return False
    told = frozenset[str]().union(*(field.concepts | field.described for field in named))
    if not named or not things or any(_is_told_of(thing, told) for thing in things):
        return False
    # `Approve LR-5`: where leave requests are listed, a request is one of leave.
    return not any(
        {*things} <= {*own} and any(one not in things and _is_told_of(one, told - PALE) for one in own)
        for own in (things_of(other) for other in box.kits if not other.is_acting)
    )


def _is_told_of(thing: str, told: frozenset[str]) -> bool:
    return stem(thing) in told or bool((listed_concepts(thing) | concepts_of(thing)) & told)


def _is_own(verb: str, kit: Kit, said: RequestWords) -> bool:
    """Whether a verb is the tool's own with a little word behind it, or in another tongue: `Check … out`, `Publie`."""
    is_foreign = "en" not in tongues_of(said.request) and bool(commanded(verb) & acts_of(kit.tool))
    return is_foreign or is_compound(said.request, verb, kit.tool) or makes_of(verb, kit.tool)


def _is_marked(verb: str, call: Call, kit: Kit) -> bool:
    """Whether the verb marks, and an option that is said is what is changed: `Marca el 40 como explícito`."""
    is_marking = "mark" in commanded(verb) and fits(verb, kit.tool)
    return is_marking and any(one.kind in ("bool", "enum") and one.name in call.inputs for one in kit.fields)


def _is_told_by(verb: str, call: Call, kit: Kit, box: Toolbox) -> bool:
    """Whether the verb tells somebody something, and the tool alone does: `Tell the customer on 512 that …`."""
    if "send" not in meanings_of(verb) or not fits(verb, kit.tool):
        return False
    is_told = any(one.name in call.inputs and is_message(one) for one in kit.fields)
    others = [one for one in box.kits if one is not kit and one.is_acting and any(map(is_message, one.fields))]
    return is_told and not any(fits(verb, one.tool) for one in others)


def _is_alike(verb: str, kit: Kit) -> bool:
    """Whether a verb says in another word what the tool does, or is too broad to say anything else."""
    known = frozenset[str]().union(*kit.named, kit.opening, kit.extra)
    return bool(
        folded(verb) in _BROAD | PUTTING or commanded(verb) & (acts_of(kit.tool) | known) or concepts_of(verb) & known
    )


def _rival(verbs: Sequence[str], kit: Kit, box: Toolbox) -> str | None:
    """Another tool that writes and is called by the very verb, by which this one is not."""
    plain = {folded(verb) for verb in verbs} - _BROAD
    return next(
        (other.key for other in box.kits if other is not kit and other.is_acting and plain & own_verbs(other)), None
    )


def _kinds_of(made: PlanWords, said: RequestWords) -> frozenset[str]:
    """Words that only say what an id is the id of, as the id does by its form: `the yacht MB-204`."""
    ids = {
        value
        for call in made.calls
        for kit in made.kits
        if kit.key == call.tool and kit.tool.effect != "destructive"
        for field in kit.fields
        if isinstance(value := call.inputs.get(field.name), str) and is_own_id(value, field, made.box)
    }
    places = (place.start for one in ids for place in whole_words(said.request, one, ignoring_case=True))
    return frozenset[str]().union(*(apposed(said.request, at) for at in places))


def _stray(made: PlanWords, said: RequestWords, kinds: frozenset[str]) -> str | None:
    """A telling word that is none of the plan's tools' words, nor of their values."""
    if any(_is_bound(call) for call in made.calls):
        return None
    # Whether the verb is the tool's is asked elsewhere.
    acts = frozenset[str]().union(*(acts_of(kit.tool) for kit in made.kits))
    idle = _IDLE | PARTICLES | {*said.telling[:1]} | kinds | {word for word, act in said.parted if act in acts}
    for word in said.plain:
        is_known = stem(word) in made.words | made.values or bool(concepts_of(word) & made.concepts)
        is_known = is_known or is_short(word.removesuffix("s"), made.words) or word in LABELS
        is_known = is_known or COUNTS.get(word) == len(made.calls) or made.says_parts_of(word)
        is_known = is_known or place_in_row(word) in made.numbers or (made.denies and word in _DENYING)
        is_known = is_known or made.says_value_of(word)
        if (
            not is_known
            and word not in idle
            and not is_particle(word)
            and not _is_asking(word)
            and not any(fits(word, kit.tool) for kit in made.kits)
        ):
            return word
    return None


def _is_listed(kit: Kit, things: Sequence[str], made: PlanWords) -> bool:
    """Whether another call of the plan reads a list of what the tool is for."""
    stems = {stem(thing) for thing in things}
    return any(
        not other.is_acting and other.lists and stems & {stem(thing) for thing in things_of(other)}
        for other in made.kits
        if other is not kit
    )


def _is_asking(word: str) -> bool:
    """Whether a word asks somebody to be shown or told something: `montre-moi`."""
    head, _, pronoun = word.partition("-")
    return pronoun in ("moi", "nous", "lui", "leur", "le", "la", "les") and is_reading(head)


def _is_bound(call: Call) -> bool:
    """Whether a call hangs on another one: then words say which, and when."""
    return call.when is not None or any("{{" in str(value) for value in call.inputs.values())


def _undone(kit: Kit, made: PlanWords, said: RequestWords) -> str | None:
    head = next(iter(said.words), "")
    found = _UNDOING.fullmatch(head)
    if found is None or kit.is_acting or meanings_of(head) or is_reading(head) or stem(head) in made.words:
        return None
    is_of_another = any(found[1] in own_verbs(other) for other in made.box.kits if other.is_acting)
    return head if is_of_another else None


def _is_opened(kit: Kit, said: RequestWords) -> bool:
    """Whether the first word that says anything is one that such a request begins with."""
    head = next(iter(said.telling), "")
    if not head or head in own_verbs(kit) or is_reading(head) or said.words[0] in STOPS:
        return True
    # `Print m-42` is no wish to have it shown.
    return not meanings_of(head) and bool(concepts_of(head) & frozenset[str]().union(*kit.named, kit.described))


def _is_told(call: Call, kit: Kit, said: RequestWords, box: Toolbox) -> bool:
    """Whether most values are such as nothing else is, so that they say what the thing is."""
    given = [(one, value) for one in kit.fields if (value := call.inputs.get(one.name)) is not None]
    # What somebody is told says nothing of what tells it.
    fields = [(one, value) for one, value in given if one.kind != "number" and not is_message(one)]
    is_linked = not any(fits(verb, kit.tool) and box.knows_prefix(one) for verb, one in said.objects)
    telling = [
        one for one, value in fields if (is_linked if "{{" in str(value) else _is_telling(one, value, said, box))
    ]
    # Names say nothing of it.
    named = [
        one
        for one, value in fields
        if one not in telling and (str(value)[:1].isupper() or (_is_for_names(one) and _is_bare(str(value), said)))
    ]
    return 2 * len(telling) > len(fields) - len(named)


def _is_named(call: Call, kit: Kit, said: RequestWords) -> bool:
    """Whether the values are numbers, names, paths and quotations, or stand with their preposition: `from marketing`.

    Nothing that stands for a thing by its kind, then: `Order staplers`.
    """
    is_any = False
    for field in kit.fields:
        value = None if is_message(field) else call.inputs.get(field.name)
        # A number by which a thing goes is its name.
        is_any = is_any or (field.is_name and isinstance(value, int))
        for one in value if isinstance(value, list) else (value,):
            if not isinstance(one, str) or not one:
                continue
            is_name = _is_name(one, said) or (_is_for_names(field) and _is_bare(one, said))
            if one.casefold() in said.quoted or (field.kind != "id" and is_name):
                is_any = is_any or field.kind != "place" or _is_of_thing(field, kit)
            elif field.kind == "id" or not re.search(_PLACED + re.escape(one), said.request, re.IGNORECASE):
                return False
    told = {field.name for field in kit.fields if is_message(field)}
    return is_any or not any(isinstance(value, str | list) for name, value in call.inputs.items() if name not in told)


def _is_for_names(field: ToolField) -> bool:
    """Whether a parameter is told by a name alone, of what the tool is for: `Name of the deployment`."""
    return field.name == "name" or raw_words(field.description)[:2] == ["name", "of"]


#: What stands before a thing, and before no name.
_ARTICLES: Final = frozenset(
    re.findall(
        r"\S+",
        """the a an my our your his her its their this that some any more new der die das den dem ein eine einen le
        la les un une el los las una""",
    )
)


def _is_bare(value: str, said: RequestWords) -> bool:
    """Whether one word stands there as names do, without an article and not as several: `restart checkout`."""
    if not re.fullmatch(r"[a-z][\w.-]*[^s\W]", value):
        return False
    found = re.search(rf"(\w+)\s+{re.escape(value)}(?!\w)", said.request, re.IGNORECASE)
    return found is not None and folded(found[1]) not in _ARTICLES


def _is_of_thing(field: ToolField, kit: Kit) -> bool:
    """Whether the parameter names what the tool is for: no city does of `subscribe_alerts`."""
    known = field.concepts | field.described
    return any(listed_concepts(thing) & known or stem(thing) in known for thing in things_of(kit))


def _is_name(value: str, said: RequestWords) -> bool:
    """Whether a value is written as no common noun is: `Tom Miller`, `/tmp/a.txt`, `#general`."""
    is_marked = re.search(rf"[#@]{re.escape(value.lstrip('#@'))}(?!\w)", said.request, re.IGNORECASE) is not None
    return value[:1].isupper() or is_marked or (CODE.match(value) is not None and " " not in value)


def _is_shared(verbs: Sequence[str], commands: Sequence[str], kit: Kit, box: Toolbox) -> bool:
    """Whether another tool that writes is called by the same verb."""
    own = {folded(verb) for verb in commands} - {folded(verb) for verb in verbs}
    return any(other is not kit and other.is_acting and own & own_verbs(other) for other in box.kits)


def _is_telling(field: ToolField, value: Json, said: RequestWords, box: Toolbox) -> bool:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return (
        (field.kind in _TELLING and (field.kind != "repo" or "/" in text))
        or is_like_examples(text, field)
        or (field.kind == "id" and ID.fullmatch(text) is not None and not box.prefix_of(field))
        or (field.kind == "path" and _PATH.search(text) is not None and "@" not in text)
        or any(listed_concepts(word) & field.concepts for word in words_of_value(value))
        or (bool(text) and text.casefold() in said.quoted)
    )


def _has_id(call: Call, kit: Kit, box: Toolbox) -> bool:
    """Whether a value begins as ids of the tool do."""
    prefixes = [(field.name, box.prefix_of(field).casefold()) for field in kit.fields if field.kind == "id"]
    is_shown = any(
        field.kind == "id" and is_like_examples(str(call.inputs.get(field.name, "")), field) for field in kit.fields
    )
    return is_shown or any(
        prefix and str(call.inputs.get(name, "")).casefold().startswith(prefix) for name, prefix in prefixes
    )


def _unfilled(call: Call, kit: Kit, said: RequestWords) -> str | None:
    told = {stem(folded(word)) for text in (kit.tool.name, kit.tool.description) for word in raw_words(text)}
    told |= {stem(folded(word)) for name in call.inputs for word in raw_words(name)}
    words = {form for word in said.words for form in (stem(word), re.sub(r"l?led$", "l", word))} - told
    return next(
        (
            field.name
            for field in kit.fields
            if field.name not in call.inputs and any(stem(folded(word)) in words for word in raw_words(field.name))
        ),
        None,
    )


def _has_id_of_another(call: Call, kit: Kit, box: Toolbox) -> bool:
    return any(
        box.knows_prefix(value)
        and not (box.prefix_of(field) and value.casefold().startswith(box.prefix_of(field).casefold()))
        for field in kit.fields
        if field.kind == "id" and isinstance(value := call.inputs.get(field.name), str)
    )
