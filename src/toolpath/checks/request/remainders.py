"""Parts of a command that nothing in the plan stands for: `as a drill`, `(rejected)`, `in dry run`. Pure.

What narrows an act, takes it back or puts it off can be said in more ways than any list of words has. So the words that
are left once the tool, its arguments and politeness are taken away are asked about, whatever they say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from toolpath.catalog.words import STOP
from toolpath.checks.request.calendar_words import COMING, DAYS_OF_MONTHS, PERIODS, says_when
from toolpath.checks.request.codes import codes_of
from toolpath.checks.request.held_values import HeldValues
from toolpath.checks.request.idle import IDLE
from toolpath.checks.request.translations import says_part
from toolpath.checks.request.uncovered import without_lengths
from toolpath.checks.request.verbs import folded

#: Where a part begins that may say something of its own. Of other languages only the marks are looked at.
_BEGINS: Final = re.compile(
    r"[()\[\],;:\u2013\u2014]|(?<=\s)[-/](?=\s|\w)|\.{2,}|\b(?:as|in|at|on|under|with|by|within|during|via|into|for"
    r"|from|"
    r"to|of|over|through|beyond|despite|against|like|per|because|since|although|so|for\s+the\s+sake)\b",
    re.IGNORECASE,
)
_JOINED: Final = re.compile(r"\s+(?:and|then|und|et|y)$", re.IGNORECASE)
_COUNTED: Final = re.compile(r"\w+s|people|children|percent|celsius|kelvin|fahrenheit|euro|usd|eur|gbp")
_TOKEN: Final = re.compile(r"#[#\w]*|[^\W_][\w'\u2019-]*(?:\.\w+)*")
#: Words that say nothing of what is done: articles, politeness, haste.
_EMPTY: Final = IDLE | frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """please kindly pls plz plss thx thanx tks tnx tysm svp stp porfa porfavor xfa xfi
        thanks thank you now right away immediately quickly asap straight directly today for me us
        i'd i'll here's there as well also too then next first second third last finally afterwards again go ahead ok
        okay hi hello hey dear good morning evening afternoon day would like want need needs should can you to make
        sure let's let the
        a an this that these those it its them him her his their new another one ones some named called titled entitled
        saying says say reading following together respectively namely exactly kind sort bit favour favor way time
        cheers regards whose which who given certain just simply and plus et und my our your via using use bitte danke
        mal jetzt sofort noch mir uns merci maintenant tout suite por ahora gracias plait vous s'il gleich umgehend
        namens immediatement rapidement nomme nommee appele appelee intitule intitulee llamado llamada titulado titulada
        inmediatamente enseguida instead stattdessen into onto upon only nur bloß erstmal seulement juste solo einfach
        für mich moi mí dazu als como comme pendant durante lang lange ein zurück zurueck hinzu vor weiter""",
    )
)
#: The number before counts it: `12 pieces`, `two people`.
_COUNT: Final = re.compile(r"[\d.,]+|(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|dozen)")


def remainders(
    text: str, said: str, held: HeldValues, is_own: Callable[[str], bool], *, is_command: bool = False
) -> Iterator[str]:
    """The parts of a command in which no word is held, and what follows the last word that is.

    `text`: the clause, `#` where something is quoted or is an id, which are compared elsewhere. `is_own`: whether a
    word is the command's verb, or one of a tool; `said`: the clause as it stands in the request. `is_command`: it
    begins with a verb.
    """
    text = without_lengths(text, held)
    start, cuts = 0, [*_BEGINS.finditer(text)]
    for cut in [*cuts, None]:
        end = len(text) if cut is None else cut.start()
        # `in dry run`: of which act it is said is no sign that a tool knows of it.
        is_named = _never if text[start : start + 1] not in ("", ",", ";", " ") and start else is_own
        left = _left(text[start:end], said[start:end], held, is_named, is_object=is_command and start == 0)
        if left is not None:
            begin = start + left
            yield _JOINED.sub("", " ".join(said[begin:end].split())).strip(" .,;:!?()[]-/")
        start = end


def says_nothing(word: str) -> bool:
    """Whether a word, as it is compared, says nothing of what is done."""
    return word in _EMPTY


def _never(_: str) -> bool:
    return False


def _left(part: str, said: str, held: HeldValues, is_own: Callable[[str], bool], *, is_object: bool) -> int | None:
    """Where the words begin that say something and are told nowhere; None where there are none at the end."""
    before = counted = ""
    # What the verb is for goes by many words, and its value by one of them: only what follows it says more.
    is_open = not is_object
    at: int | None = None
    for match in _TOKEN.finditer(part):
        word = folded(match.group().strip("'\u2019-"))
        is_counted = _COUNT.fullmatch(counted) is not None and _COUNTED.fullmatch(word) is not None
        previous, before, counted = before, word, folded(said[match.start() : match.end()])
        if len(word) < 3 and not word.startswith("#"):
            is_said = at is None
        else:
            is_dated = previous in COMING and word in PERIODS and bool(held.dates)
            is_said = word[:1] in "#0123456789" or is_counted or is_dated or _is_held(word, held, is_own)
        if is_said:
            # A word that is told speaks for the part it stands in, up to itself.
            at = at if word in _EMPTY or word in STOP else None
            is_open = is_open or word[:1] in "#0123456789" or held.names(word)
        elif at is None and is_open:
            at = match.start()
    return at


def _is_held(word: str, held: HeldValues, is_own: Callable[[str], bool]) -> bool:
    if word in _EMPTY or word in STOP or word in held.vocabulary or is_own(word) or says_when(word):
        return True
    if held.names(word) or codes_of(word) & {*held.texts} or says_part(word, held.texts):
        return True
    if word in DAYS_OF_MONTHS and any(day.day == DAYS_OF_MONTHS[word] for day in held.dates):
        # `the fifteenth of August`
        return True
    stem = word.removesuffix("s")
    if stem in held.vocabulary or held.names(stem):
        return True
    return len(word) > 4 and any(
        other.startswith(word[:5]) or word.startswith(other) for other in held.vocabulary if len(other) > 4
    )
