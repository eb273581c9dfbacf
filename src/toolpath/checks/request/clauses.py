"""A request cut into its clauses: where one ends and the next begins. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from toolpath.checks.request.antecedents import with_antecedents
from toolpath.checks.request.blockers import OTHERWISE, PLEASE, PROVISO, WORD, words_of
from toolpath.checks.request.headings import says_an_order
from toolpath.checks.request.infinitives import infinitive_cuts
from toolpath.checks.request.moods import IMPERATIVE, Clause, clause_of, is_asked_of_one
from toolpath.checks.request.openings import ASKED_POLITELY, POLITE, TOPIC
from toolpath.checks.request.reordered import reordered
from toolpath.checks.request.restated import restated
from toolpath.checks.request.statements import statements_in
from toolpath.checks.request.unparted import command_at
from toolpath.checks.request.verbs import folded, is_counter, is_reading, is_thing, meanings_of

#: After the number of a day: `22. Juni`.
_MONTH: Final = "(?i:jan|feb|mär|mar|apr|mai|jun|jul|aug|sep|okt|oct|nov|dez|dec)"
#: Where one clause ends and the next begins. Of a run of blanks only the first is tried: each of them would be else.
_CUT: Final = re.compile(
    r"(?<=[:;][)(])\s+|(?<=[\u2600-\u27bf\U0001f300-\U0001faff])\s+|(?<=[.!?;…])(?<!(?<![\d#])[\d#]\.)(?<!(?<![\d#])[\d#][\d#]\.)[\"'”»)]*\s+|(?<=[\d#]\.)\s+(?=(?-i:[A-Z]))(?!"
    + _MONTH
    + r")|(?<!\s)\s*[\n\r]+\s*|;\s*|(?<=[!?\u3002\uff01\uff1f])"
    r"|(?:,|(?<!\s))\s+(?:and\s+|und\s+|et\s+|y\s+)?(?:then|afterwards|after\s+(?:that|this)|finally|lastly|next|dann"
    r"|danach|anschließend|puis|ensuite|luego|después|entonces)\b,?\s+(?!(?:week|month|year|day|monday|tuesday"
    r"|wednesday|thursday|friday|saturday|sunday)\b)"
    r"|(?:,|(?<!\s))\s+(?:and|und|et|y|e|plus|also|but|aber|mais|pero"
    r"|as\s+well\s+as)\s+(?=(?P<after>[^\W\d_][\w'\u2019-]*)(?:\s+(?P<follow>[\w'\u2019-]+))?)"
    r"|,\s+(?=(?:(?:it|this|that|they)\s+)?(?:(?:has|have|needs?)\s+to|must|should)\s+be\s)"
    r"|,\s+(?=(?:(?:can|could|would)\s+you|k[öa]nn(?:te)?st\s+du|k[öo]nn(?:t)?en\s+sie|(?:peux|pourrais)-tu"
    r"|(?:pouvez|pourriez)-vous"
    r"|puedes|podr[ií]as)\s)"
    r"|,\s+(?=(?P<comma>[^\W\d_][\w'\u2019-]*)(?:\s+(?P<second>[\w'\u2019-]+))?)",
    re.IGNORECASE,
)
_COLON: Final = re.compile(r"\s?:(?=\s|$)")
_MOST: Final = 200
_AGAINST: Final = frozenset(("negation", "condition", "hypothesis", "choice"))


def clauses_of(text: str, is_verb: Callable[[str], bool]) -> list[Clause]:
    """The clauses of a request. `text`: what is quoted or somebody's words is blanked out; `is_verb`: one of a tool."""
    head, tail = _at_colon(text)
    parts = [part for part in _parts(head, is_verb) if _has_words(part)]
    found: list[Clause] = []
    for number, part in enumerate(parts[:_MOST]):
        clause = clause_of(part, is_verb, kindly=_is_kind(parts, number))
        found += _with_consequence(clause, is_verb) or _with_proviso(part, clause, is_verb)
    if found and found[-1].mood == "command" and says_an_order(f"{found[-1].text} {tail}", is_verb):
        # `Reply with: send …`
        found[-1] = msgspec.structs.replace(found[-1], mood="report", because=found[-1].verb)
    for number, part in enumerate(_parts(tail, is_verb)):
        clause = clause_of(part, is_verb)
        # What follows a colon is what is listed, quoted or handed on: it may take a command back, and gives none.
        if clause.mood in _AGAINST or (number and clause.text.endswith("?") and clause.mood in ("question", "asked")):
            found.append(clause)
    return found[:_MOST]


def _with_consequence(clause: Clause, is_verb: Callable[[str], bool]) -> list[Clause]:
    """A reason and what it is the reason for, where that says more than how things stand: `…, so use that wording`."""
    found = _SO.search(clause.text) if clause.mood == "reason" else None
    if found is None or _INVERTED.match(clause.text, found.end()):
        return []
    before, after = clause.text[: found.start()].strip(), clause.text[found.end() :].strip()
    later = clause_of(after, is_verb)
    return [] if later.mood in ("reason", "none") else [msgspec.structs.replace(clause, text=before), later]


_SO: Final = re.compile(
    r"(?<=\S)(?:\s*[,;\u2013\u2014]|\s+-)?\s+(?:(?:and|und|et|y)\s+)?(?:so|therefore|hence|thus|consequently|deshalb|deswegen|daher|darum"
    r"|folglich|donc|alors|du\s+coup|por\s+(?:lo\s+tanto|tanto|eso|ello)|as[ií]\s+que)\b,?\s+"
    r"(?!(?:that|far|much|many|long|as|on|dass|was|viele?|ist|sind)\b)(?=\S)",
    re.IGNORECASE,
)
#: `…, deshalb brauchen wir den Platz`: after such a word the German subject stands behind its verb.
_INVERTED: Final = re.compile(
    r"(?:ist|sind|war|waren|hat|habe|haben|hatten?|wird|wurden?|geht|gehen|kommt|kommen|kam|fehlt|fehlen|braucht?|brauche"
    r"|brauchen|bleibt|bleiben|fährt|fahren|zieht|regnet|läuft|passt|funktioniert)\s+(?:ich|wir|er|sie|es|man|d(?:as|ie|er))\b",
    re.IGNORECASE,
)


def _with_proviso(part: str, clause: Clause, is_verb: Callable[[str], bool]) -> list[Clause]:
    """The clause; a command on a condition as the command and the condition, whatever that says: `if it isn't paid`."""
    found = PROVISO.search(part) if clause.mood not in ("command", "none", "question", "asked") else None
    if found is None or clause.text.endswith("?"):
        return [clause]
    before = part[: found.start()].rstrip(" ,;\u2013\u2014-")
    proviso = Clause(part[found.start() :].strip(), "condition", because=found.group())
    if not POLITE.sub("", before + " ").strip(" ,"):
        other = OTHERWISE.match(proviso.text)
        at = command_at(proviso.text, len(found.group())) if other is None else other.end()
        later = clause_of(proviso.text[at:], is_verb) if at is not None else None
        if later is None or later.mood != "command":
            return [proviso]
        return [msgspec.structs.replace(proviso, text=proviso.text[:at].rstrip()), later]
    command = clause_of(before, is_verb)
    # `…, because it is late, unless it rains`: a reason ends where what it all depends on begins.
    is_parted = command.mood in ("command", "reason")
    return [command, proviso] if is_parted else [clause]


def after_colon(text: str) -> str:
    """The text after the first colon, which is listed, quoted or handed on."""
    return _at_colon(text)[1]


#: Blanks of which each would be tried as the beginning of what ends a clause.
_WIDE: Final = re.compile(r"\s{40,}")


def narrowed(text: str) -> str:
    """The text as all that reads requests reads it: restated, with one blank or end of line for very many in a row.

    Its conditions are said by `if`, as `restated` says: `Is T-7 closed? Then reopen it` is `If T-7 is closed, …`.
    """
    text = restated(_WIDE.sub(lambda blanks: "\n" if "\n" in blanks.group() else " ", text))
    return with_antecedents(reordered(text))


def _at_colon(text: str) -> tuple[str, str]:
    topic = TOPIC.match(text)
    # `T-31: set it to pending`: what is spoken of, and not what is listed.
    colon = _COLON.search(text, topic.end() if topic is not None else 0)
    return (text, "") if colon is None else (text[: colon.end()], text[colon.end() :])


def _has_words(part: str) -> bool:
    return bool(part.strip(" \t\r\n.,;:!-\"')("))


def _parts(text: str, is_verb: Callable[[str], bool]) -> list[str]:
    cuts = [cut.span() for cut in _CUT.finditer(text) if _is_cut(cut, text, is_verb)]
    cuts += [
        cut.span()
        for cut in _DENIED.finditer(text)
        if not _NO_DENIED.search(text, max(0, cut.start() - 80), cut.start())
    ]
    cuts += [*statements_in(text), *infinitive_cuts(text, is_verb)]
    parts: list[str] = []
    start = 0
    for cut, end in sorted(cuts):
        if end > start and cut >= start:
            # What sets the next clause against it is none of this one.
            parts.append(text[start : cut if _BUT.search(text, cut, end) else end])
            start = end
    parts.append(text[start:])
    return parts


def _leaves_out(text: str, end: int) -> bool:
    """Whether what follows a place is left out of all that is spoken of before: `everything but O-7`."""
    return _NO_DENIED.search(text, max(0, end - 80), end) is not None


_BUT: Final = re.compile(r"\b(?:but|aber|doch|mais|pero|sino|sondern)\b", re.IGNORECASE)


def _is_cut(cut: re.Match[str], text: str, is_verb: Callable[[str], bool]) -> bool:
    """Whether what follows begins a clause, where that depends on its first word."""
    word = cut["after"] or cut["comma"]
    if word is None:
        return _ADVERB.search(text, max(0, cut.start() - 20), cut.end()) is None
    follows = cut["follow"] or cut["second"] or ""
    begins = (meanings_of(word) or is_reading(word) or is_verb(word) or is_counter(word)) and not is_thing(
        word, follows
    )
    begins = begins or (not word[0].isupper() and IMPERATIVE.match(text, cut.end()) is not None)
    if not begins and folded(word) not in _OPENING:
        return False
    if cut["after"] and word[0].isupper() and _NAMED.search(text, max(0, cut.start() - 30), cut.start()):
        # `between Lena and Mark`.
        return False
    if _BUT.search(cut.group()) and _leaves_out(text, cut.start()):
        return False
    if _NO_CUT.search(text, max(0, cut.start() - 20), cut.start()):
        return False
    return not _is_another(word, follows, text[text.rfind("\n", 0, cut.start()) + 1 : cut.start()])


#: What is finally so begins no clause.
_ADVERB: Final = re.compile(r"\b(?:is|are|was|were|am|has|have|had|['\u2019]s|['\u2019]re)\s+(?:finally|then|next)\s+$")
#: Where it is said what is not to be done beside a command: `…, but leave rep-45 alone`, `…, not 531`.
_DENIED: Final = re.compile(
    r"(?:,|(?<!\s))\s+(?:(?:but|aber|doch|mais|pero|sino|and|und|et|y)\s+)(?=(?:please\s+|bitte\s+|whatever\s+you\s+do,?\s+"
    r"|por\s+favor\s+)?"
    r"(?:don['\u2019]?t|do\s+not|never|not|leave|keep|no|lass|lasst|ne|n['\u2019]|nicht|nie|kein\w*|pas"
    r"|surtout\s+pas|nunca|deja|laisse)\b|n['\u2019]\w)"
    # `but to spotify`; `episodes but 44` leaves out.
    r"|(?:,|(?<!\s))\s+(?:but|aber|mais|pero|sondern|sino)\s+(?=(?:only|just|nur|bloß|seulement|juste|s[oó]lo|to|at|on|in"
    r"|with|by|from|until|till"
    r"|as|an|für|um|am|bis|mit|als|auf|à|pour|avec|comme|para|con|como|a|en)\b)"
    r"|,\s+(?=(?:not|nicht|pas|und\s+nicht|bitte\s+nicht|kein\w*)\s+\S)"
    r"|(?<!\s)\s+(?=(?:and\s+)?not\s+#)",
    re.IGNORECASE,
)
#: `all but O-7` is one thing, and what follows `not only` goes with it.
_NO_DENIED: Final = re.compile(
    r"(?:\b(?:all|every\w*|any\w*|nothing|none|no(?:body|\s+one)|alles?|tout|todo|nada|rien|not\s+only|nicht\s+nur"
    r"|non\s+seulement|nur)\W*"
    r"|\bnot\s+only\b[^.!?]*)$",
    re.IGNORECASE,
)


def _is_another(word: str, follows: str, before: str) -> bool:
    """Whether a word is a thing again, with its number: `close issue 3 and issue 8`."""
    if not any(map(str.isdigit, follows)):
        return False
    return folded(word) in [folded(one) for one in WORD.findall(before)][1:]


_NAMED: Final = re.compile(r"(?<=[\w,]\s)[A-Z][a-z]+$")
#: `go ahead and delete` is one command.
_NO_CUT: Final = re.compile(r"\bgo(?:\s+ahead)?\s*$", re.IGNORECASE)
_OPENING: Final = words_of(
    "please kindly do don't dont never i we you let's just only if unless when bitte wenn falls ich wir nur si s'il"
    " je juste cuando no ne sólo quiero what how who otherwise sonst sinon"
)


def _is_kind(parts: Sequence[str], number: int) -> bool:
    """Whether the part goes on with a sentence that asks for something: `Could you close T-7 and …?`."""
    first = last = number
    while first and not parts[first - 1].rstrip().endswith((".", "!", "?")):
        first -= 1
    while last + 1 < len(parts) and not parts[last].rstrip().endswith((".", "!", "?")):
        last += 1
    opening = ASKED_POLITELY.match(POLITE.sub("", parts[first].strip()))
    if opening is None or first == last:
        return False
    said = "".join(parts[first : last + 1])
    return PLEASE.search(said) is not None or (first < number and is_asked_of_one(opening.group(), said))
