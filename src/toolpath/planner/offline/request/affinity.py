"""Affinity of a value for a parameter: by its form, and by the words before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from rapidfuzz.fuzz import ratio

from toolpath.catalog.words import raw_words
from toolpath.checks.request.amounts import SHARES
from toolpath.checks.request.codes import country_of
from toolpath.checks.request.verbs import folded
from toolpath.planner.offline.request.cues import BY, CUES, LABELS, LASTS, TITLED
from toolpath.planner.offline.request.languages import affinity_of_language
from toolpath.planner.offline.request.parts import ClausePart, Word
from toolpath.planner.offline.request.span import Span
from toolpath.planner.offline.request.toolbox import Kit, Toolbox, ToolField, is_like_examples, is_other_code
from toolpath.planner.offline.request.values_of_fields import is_unit, measure_of, measured, value_of

#: Forms that one kind of parameter alone can hold.
_ONE_KIND: Final[Mapping[str, str]] = {
    **{form: form for form in ("email", "phone", "pattern", "url", "day", "moment", "time", "percent", "month")},
    "iban": "id",
}
_TOLD: Final = frozenset(("message", "text", "body", "content"))


def affinity(span: Span, field: ToolField, kit: Kit, box: Toolbox) -> float:
    """How likely the value is meant for the parameter by its form alone, 0 to 3.5; 0: it cannot be."""
    match span.kind:
        case "percent" if field.kind == "number":
            return 2.4 if _is_share(field) and _is_within(float(str(span.value)), field.description) else 0.0
        case form if form in _ONE_KIND:
            return 3.0 if field.kind == _ONE_KIND[form] and span.value is not None else 0.0
        case "money":
            return _affinity_of_money(span, field)
        case "duration" | "language" | "unit":
            return _affinity_of_same(span, field)
        case "name" | "code" if field.kind == "country":
            return 3.0 if country_of(span.text) is not None else 0.0
        case "id" | "code":
            return _affinity_of_id(span, field, kit, box)
        case "slash" | "path":
            return _affinity_of_path(span, field)
        case "number":
            return _affinity_of_number(span, field) or _affinity_of_bare_id(span, field, box) or _called(span, field)
        case "list":
            return 3.0 if field.is_list else 0.0
        case "name":
            if _is_option(span, kit):
                return 0.0
            is_shown = field.kind in ("text", "id") and is_like_examples(span.text, field)
            return _affinity_of_name(field, kit) + 0.5 * _is_searched(field, kit) + 1.0 * is_shown
        case _:
            # What somebody is told is a sentence sooner than its reader is.
            is_sentence = field.name in _TOLD and len(span.text.split()) > 2
            return _affinity_of_text(field, box) + (0.6 if field.required else 0.3) * is_sentence


#: How well a name fits as what somebody is told, and parameters that take that.
_ADDRESSED: Final = 0.6
_MESSAGES: Final = frozenset(("text", "message", "body"))


def _affinity_of_same(span: Span, field: ToolField) -> float:
    """Of what fills a parameter of its own kind alone: a length of time, a language, a unit of an amount."""
    if span.kind != ("unit" if is_unit(field) else field.kind):
        return 0.0
    if span.kind == "language":
        return affinity_of_language(span, field)
    return 3.0 * (value_of(span, field) is not None)


#: A share that is told as a part of one.
_OF_ONE: Final = re.compile(r"\b(?:fraction|decimal)\b|\b0(?:\.0)? (?:to|and|-) 1(?:\.0)?\b", re.IGNORECASE)


def _is_share(field: ToolField) -> bool:
    """Whether a number is given in hundredths, as a brightness is."""
    told = {*raw_words(field.name), *raw_words(field.description)}
    return bool(SHARES & told or "%" in field.description) and _OF_ONE.search(field.description) is None


def _affinity_of_money(span: Span, field: ToolField) -> float:
    if span.value is None:
        return 2.5 if field.kind == "currency" else 0.0
    return 3.0 if field.kind == "money" else 0.0


def _affinity_of_path(span: Span, field: ToolField) -> float:
    if field.kind == "path" and _is_folder(field):
        return 2.6 if re.search(r"\.\w{1,5}$", span.text) is None else 1.0
    if span.kind == "path":
        return 3.0 if field.kind == "path" else 0.0
    if field.kind == "repo":
        return 3.0 if span.text.count("/") == 1 else 0.0
    return 2.4 if field.kind == "path" else 2.2 if "branch" in field.concepts else 0.0


def _affinity_of_id(span: Span, field: ToolField, kit: Kit, box: Toolbox) -> float:
    if field.options or not field.admits(span.text) or _is_option(span, kit):
        return 0.0
    if field.kind == "id":
        prefix = box.prefix_of(field)
        if prefix:
            is_other = is_other_code(span.text, field, box)
            return 3.5 if span.text.casefold().startswith(prefix.casefold()) else 2.4 if is_other else 0.0
        if box.knows_prefix(span.text):
            return 0.0
        return 2.2 + _likeness(span.text, field)
    if field.kind == "text" and not box.knows_prefix(span.text) and not field.is_list:
        return 1.4 + 0.4 * field.required + _likeness(span.text, field)
    return 0.0


def _likeness(text: str, field: ToolField) -> float:
    """How much an id looks like the parameter's: like its examples, or short for its name: `pl-22` of a playlist."""
    if field.pattern:
        return 0.8
    if ":" in text and "image" in _nouns(field.name):
        return 1.0
    if is_like_examples(text, field):
        return 1.2
    short = re.match(r"[A-Za-z]{1,8}(?=[-_])", text)
    return 0.6 * (short is not None and any(is_short_for(short[0], word) for word in _nouns(field.name)))


def _nouns(name: str) -> list[str]:
    return [word for word in raw_words(name) if word not in ("id", "ids", "no", "number", "code")]


def is_short_for(short: str, word: str) -> bool:
    """Whether letters are short for a word: `trk` for `track`, `F` for `flat`."""
    letters, rest = short.casefold(), iter(word.casefold())
    return word.casefold().startswith(letters[:1]) and all(letter in rest for letter in letters)


#: What is counted has seldom more digits.
_DIGITS: Final = 2


def _affinity_of_number(span: Span, field: ToolField) -> float:
    value = measured(span, field)
    if field.kind == "id" and field.pattern:
        # `the card ending 4431`
        return 2.6 if not span.unit and field.admits(span.text) else 0.0
    if value is None or (isinstance(value, float) and field.is_whole) or not _is_within(value, field.description):
        return 0.0
    is_measured = bool(span.unit) and span.unit != "#"
    match field.kind:
        case "number":
            if field.is_name:
                is_long = len(span.text.strip("#")) > _DIGITS
                return 0.0 if is_measured else 2.1 + 0.3 * field.required + 0.3 * is_long
            return 2.0 + 0.3 * field.required + 0.6 * (is_measured and measure_of(field) != "")
        case "money":
            return 0.0 if is_measured else 1.6
        case "duration" | "percent":
            return 0.0 if is_measured else 1.2
        case _:
            return 0.0


#: Ids of digits alone have as many.
_DIGITS_OF_IDS: Final = 3


def _affinity_of_bare_id(span: Span, field: ToolField, box: Toolbox) -> float:
    """How likely digits are an id that is a text, of which no form is known: `order 20415`."""
    is_long = span.text.strip("#").isdigit() and len(span.text.strip("#")) >= _DIGITS_OF_IDS
    is_known = bool(field.pattern or field.examples or field.options or box.prefix_of(field))
    return 1.6 if field.kind == "id" and is_long and span.unit in ("", "#") and not is_known else 0.0


def _called(span: Span, field: ToolField) -> float:
    """How likely a number is what a thing is called that goes by a text, where its word stands before: `slope 7`."""
    is_whole = isinstance(span.value, int) and span.text.strip("#").isdigit()
    return 1.5 * (field.kind in _CALLED and is_whole and not field.options and not field.is_list)


#: Kinds of things that may be called by a number.
_CALLED: Final = ("text", "place")


#: Bounds as a description tells them: `from 1 (best) to 6 (worst)`.
_BOUNDS: Final = re.compile(
    r"(?:^|\bfrom )(-?\d{1,6})(?: \([^)]{1,20}\))? ?(?:to|-|\u2013) ?(-?\d{1,6})(?![\w:-]|\.\d)"
)


@lru_cache(maxsize=1_024)
def _bounds(description: str) -> tuple[int, int] | None:
    found = _BOUNDS.search(description)
    return (int(found[1]), int(found[2])) if found is not None and int(found[1]) < int(found[2]) else None


def _is_within(value: float, description: str) -> bool:
    bounds = _bounds(description)
    return bounds is None or bounds[0] <= value <= bounds[1]


def _affinity_of_text(field: ToolField, box: Toolbox) -> float:
    match field.kind:
        case "text":
            return 2.2 + 0.5 * field.required
        case "person" | "company" | "place":
            return 1.6 + 0.3 * field.required
        case "path":
            return 1.2
        case "id":
            return 0.0 if box.prefix_of(field) or box.is_found(field) else 0.8
        case _:
            return 0.0


def _affinity_of_name(field: ToolField, kit: Kit) -> float:
    match field.kind:
        case "text" if kit.is_acting and field.name in _MESSAGES:
            # Somebody's name is whom it is for sooner than what is said.
            return _ADDRESSED
        case "person" | "place" | "company":
            return 2.0 + 0.4 * field.required
        case "text":
            return 1.2 + 0.4 * field.required
        case _:
            return 0.0


def _is_searched(field: ToolField, kit: Kit) -> bool:
    """Whether a tool that only reads finds things by this alone: the name of a pupil."""
    return not kit.is_acting and not kit.required and field.name in ("name", "query", "q", "search", "text")


def _is_option(span: Span, kit: Kit) -> bool:
    return any(folded(span.text) == folded(str(one)) for field in kit.fields for one in field.options)


def _is_folder(field: ToolField) -> bool:
    return bool({"folder", "directory", "dir"} & {*field.name.split("_")})


def cue_of(span: Span, field: ToolField, part: ClausePart, text: str) -> float:
    """How much the words beside the value point to the parameter, 0 to about 3."""
    before = [word for word in part.words if word.end <= span.start][-3:]
    between = text[before[-1].end : span.start] if before else ""
    score = 0.0
    if span.kind == "money" and field.kind == "currency":
        # `450 EUR in GBP`: what has an amount is given, what has none is wanted.
        score += 1.5 * bool({"to", "target"} & {*field.name.split("_")})
    for word in reversed(before):
        if any(word.end < other.start < span.start for other in part.spans):
            break
        plain = folded(word.text)
        score += _cue_of_end(plain, span, field)
        if score < 1.5 and (pointed := _cue_of_little_word(plain, field)):
            return score + pointed
        score += _cue_of_name(word, span, field)
        if not word.is_stop:
            break
    score += 1.5 * _is_called_behind(span, field, part)
    score += 1.0 * ("-" in between and field.name in ("destination", "check_out", "date_to", "until"))
    return score


def _cue_of_little_word(word: str, field: ToolField) -> float:
    """How much a word as `to` or `until` before a value points to the parameter."""
    wanted = CUES.get(word)
    if wanted is None:
        return 0.0
    if word in _SENT and field.kind == "email" and _RECEIVED & {*field.name.split("_")}:
        # Who it is from is not whom it goes to.
        return -_NOT_AT_ALL
    if wanted & {*field.name.split("_"), field.name} or (word in ("until", "bis") and field.name.endswith("out")):
        return 1.5
    # `Move the meeting on Monday to Friday`
    return 1.0 if word in _ONTO and field.kind in ("day", "moment", "time") else 0.0


_SENT: Final = frozenset(("from", "von", "desde"))
_RECEIVED: Final = frozenset(("to", "recipient", "recipients", "cc", "bcc"))
_NOT_AT_ALL: Final = 9.0


def _cue_of_name(word: Word, span: Span, field: ToolField) -> float:
    """How much a word before a value says what the parameter is called."""
    if not word.is_stop and (word.concepts & field.concepts - {"name"} or is_called(word.text, field)):
        return 1.6
    return 1.2 if span.kind == "number" and is_told_short(word.text, field) else 0.0


def _is_called_behind(span: Span, field: ToolField, part: ClausePart) -> bool:
    """Whether the word behind a number says what the parameter is called: `4 guests`."""
    after = next((word for word in part.words if word.start >= span.end), None)
    if after is None or span.kind not in ("number", "duration"):
        return False
    is_named = bool(after.concepts & (field.concepts | field.described)) or is_called(after.text, field)
    return is_named and not any(span.end <= other.start < after.start for other in part.spans)


def _cue_of_end(word: str, span: Span, field: ToolField) -> float:
    """How much a word before a day says that the day ends what the parameter ends: `tasks due by Friday`."""
    is_end = word in BY and span.kind in ("day", "moment") and bool(LASTS & {*raw_words(field.name)})
    return 1.5 * is_end


def is_unlabelled(span: Span, field: ToolField, part: ClausePart, text: str) -> bool:
    """Whether digits that could be an id stand behind no word for its thing: of `120 parcels` they are none."""
    if span.kind != "number" or field.kind not in ("id", *_CALLED) or field.pattern:
        return False
    before = part.before(span.start, 1)
    if not before or text[before[0].end : span.start].strip(" #:."):
        return True
    word = before[0]
    is_own = bool(word.concepts & field.concepts - {"name", "id", "number"}) or is_called(word.text, field)
    return not is_own and (field.kind != "id" or folded(word.text) not in LABELS)


def is_titled_elsewhere(span: Span, field: ToolField, part: ClausePart) -> bool:
    """Whether a word says what else the parameter is: the title of `a post by Ann titled Hello` is not Ann."""
    if span.kind != "name" or field.kind != "text":
        return False
    called = next((word for word in part.words if folded(word.text) in TITLED and _is_title(word, field)), None)
    behind = next((word for word in part.words if called is not None and word.start > called.end), None)
    return behind is not None and not span.start <= behind.start < span.end


def _is_title(word: Word, field: ToolField) -> bool:
    return bool(CUES[folded(word.text)] & {*field.name.split("_"), field.name})


def is_called(word: str, field: ToolField) -> bool:
    """Whether a word is the parameter's name in short, or in another language: `temp`, `Puls` of `pulse`."""
    return _is_called(folded(word), field.name)


def is_told_short(word: str, field: ToolField) -> bool:
    """Whether a word is short for one of the parameter's description: `sats` of `Oxygen saturation`."""
    plain = folded(word).removesuffix("s")
    told = (folded(one) for one in raw_words(field.description[:60]))
    return len(plain) > 2 and any(one.startswith(plain) and len(one) > len(plain) + 2 for one in told)


@lru_cache(maxsize=8_192)
def _is_called(word: str, name: str) -> bool:
    return any(_is_alike(word, folded(noun)) for noun in _nouns(name))


def _is_alike(word: str, noun: str) -> bool:
    if len(word) < _SHORTEST_NAME or word[0] != noun[:1]:
        return False
    if noun.startswith(word) or (len(noun) > 3 and word.startswith(noun) and len(word) - len(noun) < 3):
        return True
    return min(len(word), len(noun)) > 4 and ratio(word, noun) >= _ALIKE


_ONTO: Final = frozenset(("to", "auf", "a", "al"))
_SHORTEST_NAME: Final = 4
#: Of hundred letters, how many two forms of a word have alike.
_ALIKE: Final = 80
