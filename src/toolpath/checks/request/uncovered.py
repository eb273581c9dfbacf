"""Words of a request that no value of its plan holds: numbers, ids, names, dates, addresses. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import msgspec

from toolpath.checks.request.calendar_words import (
    COMING,
    DAYS_OF_MONTHS,
    IN_DAYS,
    MONTH_NAMES,
    MONTHS,
    PERIODS,
    WEEKDAYS,
    WHEN,
)
from toolpath.checks.request.clock import clocks_in
from toolpath.checks.request.codes import codes_of
from toolpath.checks.request.concepts import is_german_thing
from toolpath.checks.request.counts import COUNTS
from toolpath.checks.request.held_values import RUNS, HeldValues, numbers_of, readings_of
from toolpath.checks.request.lengths import WORDS_OF_UNITS, Length, in_unit_of_time, lengths_in
from toolpath.checks.request.tokens import COUNTED, DATED, EDGES, QUOTED, quoted_by
from toolpath.checks.request.translations import says_part
from toolpath.checks.request.verbs import folded, is_counter, is_reading, meanings_of, unelided

_TOKEN: Final = re.compile(r"[^\s\"“”„«»`]+")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
#: Words in capitals that are no names.
_NO_NAMES: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """i i'm i'd i've i'll id ids ok okay please hi hello hey dear thanks mr mrs ms dr prof the a an my our
        your his her its their this that these those it them and or of in on at to for from by with about as
        is are be also then next first second finally bitte danke der die das den dem ein eine einen und
        oder ich du sie es wir mein meine mit für von zu zum zur am im an auf le la les un une des et ou je
        tu il elle nous mon ma mes avec pour de du au el los las una y yo mi con para por del al""",
    )
)


_THOUSANDS: Final = re.compile(
    r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?: \d{3})*(?:[.,]\d{1,2})?\s?(?:[€$£¥]|[a-z]{3}\b|euros?\b"
    r"|franken\b|francs?\b|dollars?\b))"
    r"(?<!\d{4}[ \u00a0\u202f])",
    re.IGNORECASE,
)


def uncovered(text: str, held: HeldValues) -> list[str]:
    """The words of the request that no value of the plan has, in the order of the request.

    `text`: the request, what the plan holds word for word not blanked out.
    """
    bare = _without_ids(held, text)
    # `1 200,50 CHF` is one number.
    text = _without_times(without_lengths(_THOUSANDS.sub("", text), held, " "), held)
    if held.dates:
        text = IN_DAYS.sub(" ", text)
    # `on 2026-05-03 … tomorrow`: a date that is said as it is says nothing of another one.
    undated = msgspec.structs.replace(held, dates=tuple(day for day in held.dates if day.isoformat() not in text))
    quotations = [*QUOTED.finditer(text)]
    found = _quotations_not_held(quotations, text, held)
    tokens = _tokens_beside(quotations, text)
    for index, match in enumerate(tokens[:2_000]):
        whole = match.group().strip(_ENDS)
        if _PATTERN.fullmatch(whole) and not held.has_text(whole):
            found.append(whole[:100])
            continue
        token = match.group().strip(EDGES).removesuffix("'s").removesuffix("\u2019s")
        plain = folded(token)
        before = folded(tokens[index - 1].group()) if index else ""
        if before[-1:].isdigit() and (plain in METRIC or (token[:1].isupper() and is_german_thing(token))):
            # It says what the number before counts.
            continue
        opens = _opens_a_sentence(text, match.start())
        now = undated if plain in WHEN or plain in PERIODS else held if any(map(str.isalpha, token)) else bare
        if token and not _is_held(token, now, opens=opens, before=before, after=tokens[index + 1 : index + 3]):
            found.append(token[:100])
    return list(dict.fromkeys(found))


def _quotations_not_held(quotations: Sequence[re.Match[str]], text: str, held: HeldValues) -> list[str]:
    """Quotations that no value holds; a text that is quoted as a whole is read word by word."""
    whole = 0.8 * len(text.strip())
    inner = [quoted_by(one) for one in quotations]
    return [
        said[:100]
        for said, one in zip(inner, quotations, strict=True)
        if said and len(one.group()) <= whole and not _is_held_text(said, held)
    ]


def _tokens_beside(quotations: Sequence[re.Match[str]], text: str) -> list[re.Match[str]]:
    """The tokens of the text of which no letter is quoted."""
    quoted = bytearray(len(text))
    for one in quotations:
        quoted[one.start() : one.end()] = b"\1" * (one.end() - one.start())
    return [match for match in _TOKEN.finditer(text) if quoted.find(1, *match.span()) < 0]


def _opens_a_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 40) : at]
    return not before.strip() or before.rstrip(" \t\"'”»“)(").endswith((".", "!", "?", ":", ";", "\n"))


#: Names of which many are meant: `*.txt`, `/tmp/*`, `notes*.md`.
_PATTERN: Final = re.compile(r"[\w.~/-]*(?:\*\.\w+|[\w./-]\*\.?\w+|[/_-]\*)(?:[\w./-]*\*?)*")
_ENDS: Final = EDGES.replace("*", "")
#: Letters and a number, as tools give them to their things.
_IDENTITY: Final = re.compile(r"[a-z]{1,6}[-_#]\d{1,9}")


def _without_ids(held: HeldValues, text: str) -> HeldValues:
    """The values without the digits of ids that the request says whole: of `2 crates for D-2` one number is left."""
    plain = folded(text)
    others = [one for one in held.texts if not (_IDENTITY.fullmatch(one) and one in plain)]
    if len(others) == len(held.texts):
        return held
    runs = frozenset(run.lstrip("0") or "0" for one in others for run in RUNS.findall(one))
    numbers = frozenset(number for one in others for number in numbers_of(one)) | held.amounts
    return msgspec.structs.replace(held, texts=tuple(others), runs=runs, numbers=numbers)


#: A word of a time of day, where it is not written in digits: `half seven`.
_SPOKEN: Final = re.compile(r"[^\W\d_]{3,}")


def _without_times(text: str, held: HeldValues) -> str:
    """The text without the times of day in words that some value holds: `quarter past three` of `15:15`."""
    for clock in reversed(clocks_in(text)):
        said = text[clock.start : clock.end]
        if clock.is_bare or not _SPOKEN.search(said):
            continue
        told = {f"{hour:02d}:{clock.minute:02d}" for hour in (clock.hour, (clock.hour + 12) % 24)}
        if any(one in value for one in told for value in held.texts):
            text = text[: clock.start] + " " * len(said) + text[clock.end :]
    return text


def without_lengths(text: str, held: HeldValues, hidden: str = "#") -> str:
    """The text with `#` for lengths of time that some value holds in this unit or another, and for ends of months."""
    for said in reversed(lengths_in(text)):
        if _is_held_length(said, held):
            text = text[: said.start] + hidden * (said.end - said.start) + text[said.end :]
    if any((day + timedelta(days=1)).day == 1 for day in held.dates):
        text = _ENDS_OF_MONTHS.sub(lambda found: hidden * len(found[0]), text)
    return text


def _is_held_length(said: Length, held: HeldValues) -> bool:
    """Whether some value is so long in another unit than it is said in, of which the tools speak."""
    return any(
        amount in held.amounts and not (unit == said.unit and said.is_plain) and words & held.vocabulary
        for unit, words in WORDS_OF_UNITS.items()
        if (amount := in_unit_of_time(said.value, said.unit, unit)) is not None
    )


#: The last day of a month or a year.
_ENDS_OF_MONTHS: Final = re.compile(
    rf"(?<!\w)(?:(?:the\s+)?end\s+of\s+(?:the\s+)?(?:month|year|{MONTH_NAMES})|ende\s+(?:des\s+|dieses\s+)?(?:monats|jahres|{MONTH_NAMES})"
    rf"|(?:la\s+)?fin\s+(?:du\s+mois|de\s+l['\u2019]année|(?:de\s+|d['\u2019])?(?:{MONTH_NAMES}))"
    rf"|(?:el\s+)?fin(?:al(?:es)?)?\s+(?:de\s+)?(?:mes|año|{MONTH_NAMES}))(?!\w)",
    re.IGNORECASE,
)


def _is_held_text(inner: str, held: HeldValues) -> bool:
    plain = folded(" ".join(inner.split()))
    if any(plain.strip(" .,!?") in value for value in held.texts):
        return True
    words = _LETTERS.findall(plain)
    return bool(words) and all(word in held.vocabulary for word in words)


def _is_held(token: str, held: HeldValues, *, opens: bool, before: str, after: Sequence[re.Match[str]]) -> bool:
    token = token if _FLAG.match(token) else token.rpartition("=")[2] or token
    plain = folded(token)
    verbatim = _verbatim(token, plain)
    if verbatim is not None:
        return any(verbatim in value for value in held.texts)
    if any(letter.isdigit() for letter in token):
        return _is_held_number(token, plain, held, after)
    found = _is_held_time(token, plain, held, before)
    if found is None:
        found = _is_held_count_word(token, plain, held, after)
    return _is_held_name(token, plain, held, opens=opens, before=before) if found is None else found


def _verbatim(token: str, plain: str) -> str | None:
    """The part of a flag, a handle, an address or a path that a value has to hold letter by letter; None: no such."""
    if _FLAG.match(token):
        return plain
    if _HANDLE.match(token):
        return plain[1:]
    if any(letter.isdigit() for letter in token):
        return None
    is_path = token.startswith(("/", "~/")) or ("/" in token.strip("/") and not _is_words(token)) or "\\" in token
    return plain if "@" in token or "://" in token or is_path else None


def _is_held_time(token: str, plain: str, held: HeldValues, before: str) -> bool | None:
    """Whether a value holds the weekday, month or period that the word names; None: it names none."""
    if plain in WEEKDAYS:
        return held.has(token) or any(day.weekday() == WEEKDAYS[plain] for day in held.dates)
    if plain in MONTHS and token[:1].isupper():
        month = MONTHS[plain]
        return held.has(token) or any(day.month == month for day in held.dates) or str(month) in held.runs
    if DAYS_OF_MONTHS.get(plain) == 1 and any("[0]" in one for one in held.texts):
        # `the first one` of a list
        return True
    if plain in DAYS_OF_MONTHS and held.dates:
        return held.has(token) or any(day.day == DAYS_OF_MONTHS[plain] for day in held.dates)
    if plain in PERIODS and before in COMING:
        return held.has(token) or bool(held.dates)
    if plain in WHEN:
        return held.has(token) or bool(held.dates) or plain in held.vocabulary
    return None


def _is_held_count_word(token: str, plain: str, held: HeldValues, after: Sequence[re.Match[str]]) -> bool | None:
    """Whether a value holds the number that the word stands for; None: it stands for none."""
    if plain in COUNTS:
        numbers = held.amounts if _is_counting(after) else held.numbers
        return plain in held.vocabulary or held.has(token) or float(COUNTS[plain]) in numbers | held.amounts
    if plain == "one" and [folded(word.group()) for word in after[:1]] == ["of"]:
        # `two of this and one of that`; `one of the best` counts nothing.
        return len(after) < 2 or folded(after[1].group()) in _OF_SEVERAL or 1.0 in held.amounts
    return None


_DOTTED_DAY: Final = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
_FRENCH_CLOCK: Final = re.compile(r"(\d{1,2})(?:h(\d{2})?|uhr)", re.IGNORECASE)
#: As a command line has it: it changes what is done, and no tool knows of it unless it is held.
_FLAG: Final = re.compile(r"-{1,2}[a-z]", re.IGNORECASE)
#: A channel or somebody, as chats write them.
_HANDLE: Final = re.compile(r"[#@][a-z]", re.IGNORECASE)
_CLOCK: Final = re.compile(r"[ap]\.?m\b", re.IGNORECASE)


def _is_words(token: str) -> bool:
    return all(part.isalpha() and part.islower() for part in token.split("/"))


#: Before these a word in capitals is a noun.
_GERMAN_ARTICLES: Final = frozenset(
    re.findall(
        r"\S+",
        """der die das den dem des ein eine einen einem einer eines mein meine meinen meiner dein deine unser
        unsere sein seine ihr ihre zum zur im am vom beim diese dieser dieses diesen kein keine alle allen aller""",
    )
)


def _is_held_name(token: str, plain: str, held: HeldValues, *, opens: bool, before: str) -> bool:
    """Whether a word in capitals, which may be a name, is somewhere; any other word need not be."""
    token = unelided(token)
    plain = folded(token)
    inside = token[1:] != token[1:].lower()
    if not token[:1].isupper() and not inside:
        return True
    if before in _GERMAN_ARTICLES or plain in _NO_NAMES or len(plain) == 1 or (opens and not inside):
        return True
    parts = [part for part in re.split(r"[^\w]+", plain) if part]
    if not parts or meanings_of(plain) or is_reading(plain) or is_counter(plain):
        return True
    return (
        held.has(token)
        or bool(codes_of(token) & {*held.texts})
        or says_part(token, held.texts)
        or all(_is_known(part, held) for part in parts)
    )


def _is_known(word: str, held: HeldValues) -> bool:
    singular = word[:-1] if len(word) > 3 and word.endswith("s") else word
    return (
        word in _NO_NAMES
        or word in held.vocabulary
        or singular in held.vocabulary
        or held.has(word)
        or held.has(singular)
        or (len(word) > 3 and held.has(word[:3]))
    )


def _is_held_number(token: str, plain: str, held: HeldValues, after: Sequence[re.Match[str]]) -> bool:
    day = _DOTTED_DAY.fullmatch(token)
    if day is not None and any((one.day, one.month, one.year) == tuple(map(int, day.groups())) for one in held.dates):
        return True
    clock = _FRENCH_CLOCK.fullmatch(token)
    if clock is not None:
        return any(f"{int(clock[1]):02d}:{clock[2] or '00'}" in value for value in held.texts)
    counted = COUNTED.fullmatch(token)
    is_whole = any(plain in value.split() for value in held.texts)
    if counted is not None and not is_whole and (_is_counting(after) or _OF_LENGTH.fullmatch(token)):
        return _is_held_count(counted["number"], held, after)
    if is_whole or held.has(token) or held.has(token.replace("^", "**")):
        return True
    runs = [run.lstrip("0") or "0" for run in RUNS.findall(token)]
    if counted is not None:
        following = folded(after[0].group().strip(EDGES)) if after else ""
        return _is_held_amount(counted["number"], token, following, held)
    if DATED.fullmatch(token) or not any(letter.isalpha() for letter in token):
        hours = {str((int(run) + 12) % 24) for run in runs[:1] if len(run) < 3}
        # `24:30` beside `room 12`: the hour of another value is none of this time.
        is_later = bool(hours & held.runs) and all(run in held.runs for run in runs[1:])
        return is_later or all(run in held.runs or float(run) in held.numbers for run in runs)
    # What has letters and digits in it is a name of something: it is there whole or not at all.
    return False


#: Measures that become one another by thousands.
METRIC: Final = frozenset(("g", "mg", "kg", "t", "ml", "l", "mm", "km", "mb", "gb", "tb"))
_SCALES: Final = {
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "m": 1e6,
    "billion": 1e9,
    "hundred": 1e2,
    "percent": 0.01,
    "%": 0.01,
}


def _is_held_amount(digits: str, token: str, following: str, held: HeldValues) -> bool:
    numbers = set(readings_of(digits))
    tail = token[token.find(digits) + len(digits) :].casefold()
    scale = _SCALES.get(tail) or _SCALES.get(following)
    if scale is not None:
        numbers |= {round(number * scale, 10) for number in numbers}
    if (tail or following) in METRIC:
        # `2 g` are 2000 mg.
        numbers |= {round(number * scale, 9) for number in numbers for scale in (1e3, 1e6, 1e-3, 1e-6)}
    if _CLOCK.match(tail) or _CLOCK.match(following):
        return any(_is_held_hour(number, held) for number in numbers)
    run = digits.replace(",", "").lstrip("0") or "0"
    return bool(numbers & held.numbers) or run in held.runs


_OF_SEVERAL: Final = frozenset(
    ("the", "them", "these", "those", "my", "our", "your", "his", "her", "their", "its", "us")
)
#: What a number counts: `10 minutes`, `two rooms`. Other words may follow on a day or an hour.
_COUNTED_THING: Final = re.compile(r"[a-z]{2,}(?<!s)s|people|children|men|women|min|sec|hr|h|feet")
_NO_THING: Final = frozenset(
    re.findall(
        r"\S+",
        "this is as was has its his plus minus times always across unless towards yes does "
        "bis als das des les los las mis tus vers dans puis",
    )
)
_OF_LENGTH: Final = re.compile(r"\d+(?:[.,]\d+)*-?(?:s|min|mins|h|hrs?|hours?|days?|weeks?|months?)", re.IGNORECASE)


def _is_counting(after: Sequence[re.Match[str]]) -> bool:
    """Whether what stands before these words says how many they are."""
    following = folded(after[0].group().strip(EDGES)) if after else ""
    return following not in _NO_THING and _COUNTED_THING.fullmatch(following) is not None


def _is_held_count(digits: str, held: HeldValues, after: Sequence[re.Match[str]]) -> bool:
    """Whether a value says how many: digits of a date, a time or an id do not."""
    following = folded(after[0].group().strip(EDGES)) if after else ""
    scale = _SCALES.get(following, 1.0)
    return any(number in held.amounts or round(number * scale, 10) in held.amounts for number in readings_of(digits))


def _is_held_hour(hour: float, held: HeldValues) -> bool:
    """Whether a value has a time in this hour, of the morning or the evening: digits of an id are none."""
    hours = "|".join({f"0?{one:.0f}" for one in (hour % 24, (hour + 12) % 24)})
    pattern = re.compile(rf"(?:^|(?<![\w.,-])|t)(?:{hours})(?:$|(?=[:h])|\s?[ap]\.?m|\s?uhr|\s?o.clock)")
    return any(pattern.search(value) for value in held.texts)


def names_in(text: str, words: Sequence[str]) -> frozenset[str]:
    """Those of the words of a text that can be nothing but names: not quoted, no digits, no count, no time."""
    quoted = {group.strip() for match in QUOTED.finditer(text) for group in match.groups() if group}
    dated = {*WEEKDAYS, *MONTHS, *COUNTS, *WHEN, *PERIODS}
    return frozenset(word for word in words if word.isalpha() and word not in quoted and folded(word) not in dated)
