"""Denials beside a command: what a clause says not to do, and whether a plan does it all the same. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from toolpath.catalog.words import raw_words
from toolpath.checks.request.blockers import words_of
from toolpath.checks.request.concepts import STOPS
from toolpath.checks.request.plain_schemas import plain_inputs
from toolpath.checks.request.settings import may_be_set, spoken_of
from toolpath.checks.request.tools import fits, is_called, is_form
from toolpath.checks.request.verbs import folded, is_counter, is_reading, meanings_of
from toolpath.model.tool import Tool
from toolpath.values import JsonObject, walk

_WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*")
#: Ids, numbers, addresses and what is quoted.
_THING: Final = re.compile(r"[\w.+-]+@[\w.-]+\w|(?=[\w./:+-]*\d)[\w./:#+-]*\w|[\"“„«'`]([^\"”“»'`]{1,200})[\"”“»'`]")
#: A thing that goes by a letter: `not in A`.
_LETTER: Final = re.compile(r"(?<=[^\W\d_]\s)[A-HJ-Z](?=\s*(?:$|[.,;!?]))")
#: Words that deny, and those that go with them and say nothing of what is denied.
_DENYING: Final = words_of("""
do does did don't dont doesn't not never no none nothing any anything anyone please yet now still just again either
also at all whatever
you me us him her it them this that these those one ones alone as is be being in on of to for the a an my our his
their with from by and
but or leave keep leaving keeping running whole rest other others more
nicht nie niemals kein keine keinen keinem keiner noch bitte auf fall keinen mal auch aber und oder die das den dem
der ein eine einen
lass lasst lassen mich uns ihn sie es so wie
ne n pas plus jamais rien aucun aucune surtout encore mais et le la les un une de du des l moi lui laisse laissez
tranquille
no nunca nada ningún ninguna todavía aún por favor pero y el los las un una lo al del a deja dejes
""")


_BOUND: Final = re.compile(
    r"\b(?:before|until|till|after|during|later|earlier|than|over|under|above|below|without|if|unless|when|vor|bis"
    r"|nach|später|früher|als|über|unter"
    r"|ohne|wenn|falls|avant|après|sans|si|quand|antes|después|sin|cuando|hasta)\b",
    re.IGNORECASE,
)


#: How a clause begins that leaves a thing as it is; `no, 12` and `wait, 12` put right what was said.
_LEAVING: Final = re.compile(
    r"\W*(?:(?:and|but|please|und|aber|bitte|et|mais|y|pero)\s+)*(?:not|do(?:es)?\s*n['\u2019o]?t|don['\u2019]?t"
    r"|never|leave|keep|skip|spare|ignore|nicht"
    r"|nie|lass\w*|pas|ne|laisse\w*|deja\w*|no(?!\s*[,;:.!]))\b|\W*n['\u2019]\w",
    re.IGNORECASE,
)


#: What denies a thing stands before a noun.
_OF_THINGS: Final = re.compile(
    r"\W*(?:(?:and|but|please|und|aber|bitte|et|mais|y|pero)\s+)*(?:no|without|with\s+no|kein\w*|ohne|sans|sin|pas\s+de"
    r"|pas\s+d['\u2019]|aucune?|ning[uú]na?)(?![\w,])",
    re.IGNORECASE,
)


_BACK: Final = re.compile(
    r"\b(?:keep|leave|lass\w*|laiss\w*|garde\w*|deja\w*|mant[eé]n\w*)(?:\s+|-)(?:it|her|him|them|ihn|sie|es|l[aeo]s?)\b"
    r"|\b(?:d[eé]ja|mant[eé]n)l[ao]s?\b",
    re.IGNORECASE,
)
_OF_CALL: Final = re.compile(
    r"\W*(?:(?:and|but|please|und|aber|bitte|et|mais|y|pero)\s+)*(?:not|nicht|pas|no)\s+(?:to|in|into|on|at|by|with|for|from|via|as"
    r"|an|auf|am|im|ins|per|mit|für|von|bei|als|zu[rm]?|à|au|aux|en|dans|sur|par|avec|pour|chez|comme|a|al|con|por|para|como)\b",
    re.IGNORECASE,
)


class Denial(msgspec.Struct, frozen=True):
    """What a clause says not to do."""

    verbs: tuple[str, ...]
    """Verbs of acts; those that only deny are none."""
    things: tuple[str, ...]
    """Ids, numbers and quotations."""
    words: tuple[str, ...]
    """The other words that say something, folded."""
    is_of_things: bool = False
    """It denies a thing and no act: `no refund`, `ohne Rechnung`."""
    is_of_call: bool = False
    """It says how not to do what is commanded: `not to the customer`, `nicht in 310`."""
    points_back: bool = False
    """It leaves as it is what the command is about: `keep her in the pool`."""
    is_bound: bool = False
    """It puts something right, or says when, how or how much: `not before 5 pm`, `not more than 12`."""


def denial_in(said: str, is_verb: Callable[[str], bool]) -> Denial:
    """The denial that the clause is. `said`: as it stands in the request."""
    things = [(found[1] or found.group()).strip(" .,;:!?'\"") for found in _THING.finditer(said)]
    rest = _THING.sub(" ", said)
    things += [found.group() for found in _LETTER.finditer(rest)]
    rest = _LETTER.sub(" ", rest)
    found = [word.strip("'\u2019-") for word in _WORD.findall(rest)]
    # `No la cierres`: what is denied stands in another form.
    found = [bare if not meanings_of(word) and meanings_of(bare := word.removesuffix("s")) else word for word in found]
    said_of = [word for word in found if folded(word) not in _DENYING and not folded(word).endswith("n't")]
    verbs = [
        word for word in said_of if is_verb(word) or (not is_counter(word) and (meanings_of(word) or is_reading(word)))
    ]
    words = [folded(word) for word in said_of if word not in verbs and not is_counter(word)]
    telling = [word for word in words if word not in STOPS]
    is_bound = _BOUND.search(rest) is not None or _LEAVING.match(said) is None
    return Denial(
        tuple(verbs),
        tuple(things),
        tuple(telling),
        _OF_THINGS.match(said) is not None,
        _OF_CALL.match(said) is not None,
        _BACK.search(said) is not None,
        is_bound,
    )


def denies(denial: Denial, tool: Tool) -> bool:
    """Whether what is denied is the tool's act, on a thing of its kind where the denial names one."""
    if not any(is_called(verb, tool) for verb in denial.verbs):
        return False
    return not denial.words or any(_speaks_of(tool, word) for word in denial.words)


def leaves_be(denial: Denial, tool: Tool, inputs: JsonObject, others: Sequence[Tool]) -> bool:
    """Whether a call does nothing of what is denied: that is another tool's act, or the same with another thing.

    `others`: the tools that the plan does not call. What has neither an act nor a thing of its own takes back the
    command.
    """
    spoken = spoken_of(
        [one for one in (*denial.verbs, *denial.words) if not _is_act(one, denial, others)], tool, inputs
    )
    if spoken.words:
        # `Cancel it, no refund`: how the call is to be made.
        left = [one for one in (*denial.verbs, *denial.words) if one not in spoken.words]
        held = [folded(str(value)) for _, value in walk(inputs, "") if not isinstance(value, dict | list)]
        is_of_it = not denial.things or all(any(_holds(text, folded(one)) for text in held) for one in denial.things)
        return not spoken.is_open and not left and is_of_it
    if denial.is_of_call and may_be_set(tool, inputs) and not _is_of_another(denial, inputs):
        # `Check ST-4 in, but not in 310`: nothing keeps the tool from it.
        return False
    is_same = any(_means(verb, tool, others) for verb in denial.verbs)
    if denial.verbs and not is_same and not _GENERIC.intersection(map(folded, denial.verbs)):
        return any(fits(verb, other) for verb in denial.verbs for other in others) or all(map(is_reading, denial.verbs))
    if not denial.verbs and len(denial.words) == 1 and not _speaks_of(tool, denial.words[0]):
        # `Leave the price of D-22 alone`: of what only another tool speaks.
        return not denial.points_back and any(_speaks_of(other, denial.words[0]) for other in others)
    texts = [folded(str(value)) for _, value in walk(inputs, "") if not isinstance(value, dict | list)]
    if not denial.things or denial.is_bound or any("{{" in text for text in texts):
        return False
    if any(not _speaks_of(tool, word) for word in denial.words):
        return False
    return not any(_holds(text, folded(thing)) for thing in denial.things for text in texts)


def _is_of_another(denial: Denial, inputs: JsonObject) -> bool:
    """Whether what is denied is of the form of something that the call is given: `for T-7, not for T-8`."""
    given = {_form(str(value)) for _, value in walk(inputs, "") if not isinstance(value, dict | list)}
    return bool(denial.things) and all(_form(one) in given for one in denial.things)


def _form(value: str) -> str:
    if len(value) == 1 and value.isalpha():
        return "a"
    return "@" if "@" in value else re.sub(r"\d+", "0", folded(value))


def _is_act(word: str, denial: Denial, others: Sequence[Tool]) -> bool:
    """Whether what is denied is the act of another tool: `don't email her`."""
    return word in denial.verbs and not denial.is_of_things and any(is_called(word, other) for other in others)


def _means(verb: str, tool: Tool, others: Sequence[Tool]) -> bool:
    """Whether the verb means the tool; where another one is called so and this one is not, it means that."""
    if folded(verb) not in raw_words(tool.name) and any(folded(verb) in raw_words(other.name) for other in others):
        return False
    if not is_called(verb, tool) and any(is_called(verb, other) for other in others):
        return False
    return fits(verb, tool) or is_form(verb, tool)


#: Verbs that any act is: to deny them is to deny the act.
_GENERIC: Final = words_of("""
start begin run execute trigger launch process apply perform make change continue commit finish complete confirm
submit move act touch
write go call invoke use try set put add save
starten beginnen anfangen ausführen machen tun ändern weitermachen bestätigen abschließen fang mach
commencer exécuter faire lancer changer continuer confirmer fais lance
empezar ejecutar hacer cambiar continuar confirmar hagas empieces
""")


def _holds(text: str, thing: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(thing)}(?!\w)", text) is not None


def _speaks_of(tool: Tool, word: str) -> bool:
    known = {folded(one) for text in (tool.key, tool.description, *_parameters(tool)) for one in raw_words(text)}
    return word in known or word.removesuffix("s") in known or f"{word}s" in known


def _parameters(tool: Tool) -> Iterable[str]:
    properties = plain_inputs(tool).get("properties")
    return properties if isinstance(properties, dict) else ()
