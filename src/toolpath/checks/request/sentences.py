"""A request as clauses with their mood: command, question, or what keeps it from being one. Pure.

A command is known by its form and by nothing else: it begins with a verb of commands, after what politeness puts before
it, and holds no word that takes it back, makes it depend on something, or tells of it instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from toolpath.checks.request.blockers import (
    OTHERWISE,
    PLEASE,
    PROVISO,
    WORD,
    Mood,
    blocked_by,
    hands_on,
    kept_from,
    words_of,
)
from toolpath.checks.request.headings import LEAVES, heading, says_an_order
from toolpath.checks.request.infinitives import ends_in_infinitive, infinitive_cuts
from toolpath.checks.request.restated import restated
from toolpath.checks.request.statements import statements_in, tells_how_it_is
from toolpath.checks.request.taken_back import taken_back
from toolpath.checks.request.tongues import tongues_of
from toolpath.checks.request.unparted import command_at
from toolpath.checks.request.verbs import (
    TOWARDS,
    folded,
    is_counter,
    is_reading,
    is_thing,
    may_be_thing,
    meanings_of,
    parted,
)
from toolpath.checks.request.wishes import wish_in


class Clause(msgspec.Struct, frozen=True):
    """One part of a request."""

    text: str
    """As it stands in the request."""
    mood: Mood
    verb: str = ""
    """Of a command: the verb that it begins with."""
    because: str = ""
    """The word by which the mood is known."""
    is_asked: bool = False
    """Of a command: it asks whether somebody can, as people say what they want done: `Can you close T-7?`"""


_QUESTIONS: Final = words_of("""
what which who whom whose why how where does did is are am was were do should shall can could will would may
might has have had
was wer wen wem wessen warum wieso weshalb wie wo wohin welche welcher welches welchen kann kannst können
könnt soll sollen sollte
darf dürfen wird werden ist sind hat haben habe gibt
que quoi qui quel quelle quels quelles pourquoi comment où combien est-ce peux peut puis-je dois-je faut
qué quién quiénes cuál cuáles cómo dónde adónde cuánto cuánta cuántos cuántas puedo puedes debo hay
""")
_TELLING: Final = words_of("""
what who which when where how why whose was wer wann wie wo welche welcher welches wieviel
quel quelle quels quelles qui où quand comment combien qué cuál cuáles quién cómo dónde cuándo cuánto
cuántos cuánta cuántas
""")
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
#: What may stand before a command's verb.
_POLITE: Final = re.compile(
    r"^(?:(?:please|kindly|pl[sz]|plss|s[tv]p|porfa(?:vor)?|xfa"
    r"|after (?:that|this)|afterwards|ok(?:ay)?|hey|hi|hello|now|only|simply|first|firstly"
    r"|second|secondly|third|thirdly|next|then|also|and|"
    r"finally|lastly|additionally|just|quickly|immediately|go ahead and|now then|so|right|great|thanks"
    r"|thank you|dear \w+|"
    r"bitte|jetzt|nur|bloß|erstmal|einfach|stattdessen|instead|zuerst|dann|danach|auch|und|anschließend|"
    r"s['\u2019]il (?:te|vous) pla[iî]t|merci de|veuillez|d['\u2019]abord|juste|seulement|plutôt|ensuite|puis"
    r"|maintenant|et|"
    r"por favor|s[oó]lo|simplemente|primero|luego|después|ahora|también|y|"
    r"\d{1,2}[.)]|[-*•])[,:]?\s+)+",
    re.IGNORECASE,
)
#: What people say instead of a bare command. A question to somebody is one only with a `please` in it.
_WISHES: Final = re.compile(
    r"^(?:i(?:\s+would|['\u2019]d)\s+like\s+(?:you\s+)?to|(?:i|we)\s+(?:(?:really|just|only)\s+)?(?:want"
    r"|need)\s+(?:you\s+)?to|"
    r"you\s+(?:must|have\s+to|need\s+to)|let['\u2019]?s|(?:please\s+)?(?:make|be)\s+sure\s+(?:to|you)"
    r"|(?:please\s+)?help\s+me\s+(?:to\s+)?|"
    r"(?:please\s+)?go\s+(?:ahead\s+)?and|(?P<wunsch>(?:ich|wir)\s+(?:möchten?|will|wollen)(?:\s+(?:nur"
    r"|bloß|eigentlich))?)"
    r"|je\s+(?:veux|voudrais|souhaite)(?:\s+juste|\s+seulement)?|j['\u2019]aimerais"
    r"|(?:yo\s+)?(?:s[oó]lo\s+)?(?:quiero|quisiera|necesito|deseo)"
    r"|me\s+gustaría)\s+(?:please\s+|bitte\s+)?",
    re.IGNORECASE,
)
_ASKED_POLITELY: Final = re.compile(
    r"^(?:can|could|will|would)\s+you\s+(?P<words>(?:please|kindly)\s+)?"
    r"|^(?:kannst|könntest|würdest)\s+du\s+(?P<wort>bitte\s+)?|^(?:können|könnten"
    r"|würden)\s+sie\s+(?P<worte>bitte\s+)?"
    r"|^(?:peux-tu|pourrais-tu|pouvez-vous|pourriez-vous)\s+|^(?:puedes|podrías|puede|podría)\s+",
    re.IGNORECASE,
)
_THANKS: Final = re.compile(
    r"^(?:(?:many\s+)?thanks?(?:\s+(?:you|a lot|so much|in advance|again))*|thank you.{0,30}|hi|hello|hey"
    r"|dear [\w .]{1,40}|good (?:morning|evening|afternoon|day)|"
    r"please|pl[sz]|plss|th(?:x|anx)|t[kn][sx]|tysm|s[tv]p|porfa(?:vor)?|xfa|ok(?:ay)?"
    r"|sure|great|alright|all right|right|yes|hm+|"
    r"s['\u2019]il (?:te|vous) pla[iî]t|cheers|regards|danke.{0,20}|vielen dank|hallo|guten \w+"
    r"|merci.{0,20}|bonjour|gracias.{0,20}|hola|por favor|bitte|(?:and |und |et |y )?(?:then|after (?:that"
    r"|this)|afterwards|next|finally|also|dann|danach|puis|ensuite|luego|después)|that(?:['\u2019]s"
    r"| is) all|ta|(?:just |only |nur |juste |s[oó]lo )?(?:for (?:me|us|now)|für (?:mich|uns)|pour (?:moi|nous)"
    r"|para m[ií])|whatever (?:you do|happens)|as soon as (?:you can|possible)|when you (?:can|get a (?:minute"
    r"|moment|chance))"
    r"|so schnell wie möglich|wenn du kannst|dès que possible|cuanto antes|lo antes posible)[\s.!,]*$",
    re.IGNORECASE,
)
#: `…, has to be express` says more of what was commanded.
_DEMANDS: Final = re.compile(
    r"(?:(?:it|this|that|they)\s+)?(?:(?:has|have|needs?|ought)\s+to|must|should)\s+(?:all\s+"
    r"|both\s+)?be\s+(?!\w+ed\b|done\b)[\w#]"
    r"|(?:es\s+|das\s+)?(?:muss|soll)\s+(?:aber\s+)?\w+\s+sein\W*$",
    re.IGNORECASE,
)


def says_how_it_is_to_be(text: str) -> bool:
    """Whether a clause says more of what a command before it is to do: `has to be express`."""
    return _DEMANDS.match(text) is not None


_COLON: Final = re.compile(r"\s?:(?=\s|$)")
TOPIC: Final = re.compile(r"^\s*[#\d][#\w./-]{0,60}\s?:\s+(?=\S)")
"""An id and nothing else before a colon: what a request is about."""
_MOST: Final = 200
_AGAINST: Final = frozenset(("negation", "condition", "hypothesis", "choice"))


def clauses_of(text: str, is_verb: Callable[[str], bool]) -> list[Clause]:
    """The clauses of a request. `text`: what is quoted or somebody's words is blanked out; `is_verb`: one of a tool."""
    head, tail = _at_colon(text)
    parts = [part for part in _parts(head, is_verb) if _haswords_of(part)]
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
    if not _POLITE.sub("", before + " ").strip(" ,"):
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


#: What stands behind a command and says nothing of it.
_TAIL: Final = re.compile(
    # Of many marks in a row the first one alone is tried as its beginning.
    r"(?<![\s,.!])[\s,.!]*\b(?:right\s+away|immediately|at\s+once|asap|now|for\s+(?:me|us)|please|pl[sz]|plss|th(?:x|anx)|t[kn]s|tnx|s[tv]p|porfa|xfa"
    r"|(?:many\s+)?thanks?(?:\s+(?:you|a\s+lot"
    r"|so\s+much|in\s+advance))*|thank\s+you(?:\s+(?:so|very)\s+much)?|cheers)[\s.!]*$",
    re.IGNORECASE,
)
#: Blanks of which each would be tried as the beginning of what ends a clause.
_WIDE: Final = re.compile(r"\s{40,}")


def narrowed(text: str) -> str:
    """The text as all that reads requests reads it: restated, with one blank or end of line for very many in a row.

    Its conditions are said by `if`, as `restated` says: `Is T-7 closed? Then reopen it` is `If T-7 is closed, …`.
    """
    return restated(_WIDE.sub(lambda blanks: "\n" if "\n" in blanks.group() else " ", text))


_GREETING: Final = re.compile(r"^(?:hi|hello|hey|good\s+(?:morning|day|evening|afternoon))\s*[!.,]\s+", re.IGNORECASE)


def opening_of(text: str) -> int:
    """How much of a clause politeness and wishes take before what is asked for."""
    start = ((polite := _POLITE.match(text)) and polite.end()) or 0
    wished = _WISHES.match(text[start:]) or _ASKED_POLITELY.match(text[start:])
    if wished is None:
        return start
    start += wished.end()
    return start + (((polite := _POLITE.match(text[start:])) and polite.end()) or 0)


def bare(text: str) -> str:
    """The request without what politeness and haste put around it; at least one word stays."""
    said = _POLITE.sub("", _GREETING.sub("", text.strip()))
    asked, wished = _ASKED_POLITELY.match(said), _WISHES.match(said)
    if asked is not None and PLEASE.search(said):
        said = _POLITE.sub("", said[asked.end() :]).rstrip("? ")
    elif wished is not None:
        said = _POLITE.sub("", said[wished.end() :])
    while (tail := _TAIL.search(said)) is not None and tail.start() > 0:
        said = said[: tail.start()] + ("." if tail.group().lstrip().startswith((".", "!")) else "")
    return said if WORD.search(said) else text


def _at_colon(text: str) -> tuple[str, str]:
    topic = TOPIC.match(text)
    # `T-31: set it to pending`: what is spoken of, and not what is listed.
    colon = _COLON.search(text, topic.end() if topic is not None else 0)
    return (text, "") if colon is None else (text[: colon.end()], text[colon.end() :])


def _haswords_of(part: str) -> bool:
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
    begins = begins or (not word[0].isupper() and _IMPERATIVE.match(text, cut.end()) is not None)
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
    opening = _ASKED_POLITELY.match(_POLITE.sub("", parts[first].strip()))
    if opening is None or first == last:
        return False
    said = "".join(parts[first : last + 1])
    return PLEASE.search(said) is not None or (first < number and _is_asked(opening.group(), said))


def _is_asked(opening: str, said: str) -> bool:
    """Whether `Can you …?` is said of one thing, and so asks for it."""
    return _ASKED_OF_ONE.match(opening) is not None and _MEANT.search(_ALIKE.sub(" ", said)) is not None


#: `Can you close tickets like T-31?` asks what can be done.
_ALIKE: Final = re.compile(r"\b(?:like|such\s+as|wie|comme|como)\s+\S+", re.IGNORECASE)


def clause_of(part: str, is_verb: Callable[[str], bool], *, kindly: bool = False) -> Clause:
    """The clause with its mood. `kindly`: the sentence that it is of asks with a `please`."""
    said = part.strip().lstrip("\u00bf\u00a1")
    if _THANKS.match(said):
        return Clause(said, "none")
    blocked = blocked_by(said)
    body = _POLITE.sub("", TOPIC.sub("", said))
    wished = _WISHES.match(body)
    polite = _ASKED_POLITELY.match(body)
    if wished is not None:
        body = _POLITE.sub("", body[wished.end() :])
        return _command(said, body, blocked_by(body), is_verb, is_last=bool(wished["wunsch"]))
    if polite is None:
        body = body.rstrip().rstrip("?") if kindly else body
        is_last = not kindly and PLEASE.match(said) is not None
        return _command(said, body, blocked, is_verb, is_last=is_last)
    body = _POLITE.sub("", body[polite.end() :]).rstrip().rstrip("?").rstrip()
    is_last = polite.group().casefold().startswith(("k", "w\xfc"))
    found = _command(said, body, blocked_by(body), is_verb, is_last=is_last)
    if kindly or PLEASE.search(said):
        return found
    is_stated = polite.group()[:3].casefold() in ("pue", "pod") and not said.endswith("?")
    if found.mood == "command" and not is_stated and _is_asked(polite.group(), body):
        return msgspec.structs.replace(found, is_asked=True)
    return _command(said, _POLITE.sub("", said), blocked, is_verb, is_last=False)


#: `Can you …?` asks for it; `Would you …?` may ask what one thinks of it.
_ASKED_OF_ONE: Final = re.compile(r"(?:can|could)\b|k[aöo]nn|peux|pourr|pouv|pued|podr", re.IGNORECASE)
#: It is one thing that is spoken of, and not what can be done at all: `Can you cancel a booking?`
_MEANT: Final = re.compile(
    r"#|\d|\b(?:it|them|him|her|me|us|the|my|our|his|their|this|that|these|those|every|each|all|der|die|das|den|dem"
    r"|mein\w*|unser\w*|ihn|sie|es|mir"
    r"|le|la|les|mon|ma|mes|notre|moi|el|los|las|mi|mis|lo)\b|(?<=\s)(?-i:[A-Z])\w|-(?:moi|le|la|les|lui)\b"
    r"|\b\w{3,40}(?:me|lo|los|las|nos)\b",
    re.IGNORECASE,
)


def _command(
    said: str, body: str, blocked: tuple[Mood, str] | None, is_verb: Callable[[str], bool], *, is_last: bool
) -> Clause:
    """One question after the other, in this order. `is_last`: its verb may stand at its end."""
    found = [match.group() for match in WORD.finditer(body)]
    head = _head(body, found)
    last = ends_in_infinitive(body, is_verb) if blocked is None else None
    is_headed = last is None and _is_verb(head, "".join(body.split()[1:2]), is_verb)
    if is_headed and blocked is not None and not is_counter(head):
        blocked = kept_from(body, head)
    told = _told(said, body, blocked) if last is None and not is_headed else None
    uncommanded = told or _uncommanded(said, body, head, blocked)
    if uncommanded is not None:
        return uncommanded
    if LEAVES.match(body):
        return Clause(said, "command", verb="add")
    if is_counter(head) and not is_verb(head):
        return Clause(said, "negation", because=head)
    if is_headed:
        return _headed(said, body, head, is_verb)
    if last is None and is_last and len(found) > 1 and (meanings_of(found[-1]) or is_verb(found[-1])):
        last = found[-1]
    if last is not None:
        # `Bitte den Termin absagen`: in German the verb may stand at the end.
        return Clause(said, "command", verb=last)
    if _IMPERATIVE.match(body) and not head[1:].isupper() and not may_be_thing(head):
        # Whatever verb it is: whether a tool bears it is asked elsewhere.
        return Clause(said, "command", verb=head)
    return Clause(said, "other", because=" ".join(found[:3]))


#: A word, and what it does something to: `Roll back the cart`, `throw out T-7`.
_IMPERATIVE: Final = re.compile(
    r"(?!(?:with|for|on|at|in|to|from|about|of|by|as|via|per|the|this|that|these|those|mit|für|auf|an|in|zu|von|aus"
    r"|bei|nach|avec|pour|sur|dans|de"
    r"|con|para|por|en|a|and|or|but|und|oder|et|ou|y|o|please|bitte)\b)[^\W\d_]{3,}\s+"
    r"(?:(?:back|out|off|away|up|down|over|through|along)\s+)(?!(?:is|are|was|were|has|have|of|by)\b)[\w#]",
    re.IGNORECASE,
)


def _is_verb(head: str, following: str, is_verb: Callable[[str], bool]) -> bool:
    return bool(meanings_of(head) or is_reading(head) or is_verb(head)) and not is_thing(head, following)


def _told(said: str, body: str, blocked: tuple[Mood, str] | None) -> Clause | None:
    """The clause where it says what is wished, how things stand or are to be; None where it does none of it."""
    if blocked is None and _VERB_FIRST.match(body):
        return Clause(said, "question", because=body[:40])
    wish = wish_in(body)
    if wish is not None and blocked_by(body.replace(wish.modal, " ", 1)) is None:
        if wish.is_need:
            return Clause(said, "command", verb="need", is_asked=True)
        # `D-22 should cost 18.50`, `T-31 can be closed`: who says so may only think so.
        return Clause(said, "hypothesis", because=wish.modal)
    if tells_how_it_is(body, blocked):
        return Clause(said, "reason")
    return Clause(said, "other", because=body[:40]) if says_how_it_is_to_be(body) and not said.endswith("?") else None


#: `do we have a spare one` asks, with a mark or without one.
_VERB_FIRST: Final = re.compile(
    r"(?:do|does|did|have|has)\s+(?:we|they|he|she|i|there|any(?:one|body)?)\s+(?!(?:and|or|please)\b)[a-z]",
    re.IGNORECASE,
)


def _headed(said: str, body: str, head: str, is_verb: Callable[[str], bool]) -> Clause:
    """The clause that begins with a verb: a command, where it does not tell of it or take it back."""
    telling = (None if hands_on(body, head) else _tells(body)) or heading(body, head) or says_an_order(body, is_verb)
    if telling is not None:
        return Clause(said, "report", because=telling)
    if (act := taken_back(head, body, is_verb)) is not None:
        return Clause(said, "negation", because=act)
    return Clause(said, "command", verb=head)


def _head(body: str, found: Sequence[str]) -> str:
    """The word that says what is to be done, where one does: the first, with what belongs to it at the end."""
    if not found or re.match(r"\s*[^\w\s]*[#\d]", body):
        return ""
    # `Heiz den Ofen vor und`: what joins it to the next clause is none of it.
    own = found[:-1] if folded(found[-1]) in ("und", "and", "et", "y") else found
    return _whole(found[0], own) if own and _ends_with(body, found, own) else found[0]


def _uncommanded(said: str, body: str, head: str, blocked: tuple[Mood, str] | None) -> Clause | None:
    """The clause where it is a question, asks to be told something, or has a word against acting; else None."""
    is_question = said.rstrip(" \"'”»)").endswith(("?", "\uff1f")) and body.rstrip().endswith(("?", "\uff1f"))
    if blocked is None and is_question:
        return Clause(said, "asked" if _IS_SHORT.sub("", folded(head)) in _TELLING else "question", because="?")
    # `where's T-7` asks, with a mark or without one.
    first = "" if _COMMENTS.match(body) else _IS_SHORT.sub("", folded(head))
    if first in _TELLING and (blocked is None or (blocked[0] == "report" and blocked[1] in _COPULAS)):
        return Clause(said, "asked", because=head)
    if blocked is not None:
        return Clause(said, blocked[0], because=blocked[1])
    return Clause(said, "question", because=head) if first in _QUESTIONS else None


_IS_SHORT: Final = re.compile(r"['\u2019](?:s|re)$")


def _ends_with(body: str, found: Sequence[str], own: Sequence[str]) -> bool:
    """Whether the words are the last of the clause, besides what joins it to the next one."""
    text = body.rstrip(" .!,;:")
    if len(own) < len(found):
        text = text.removesuffix(found[-1]).rstrip(" ,")
    return text.endswith(own[-1])


#: Words of a statement; in a command they stand only where something is described, as in `whose name is …`.
_STATES: Final = re.compile(
    r"\b(?P<which>(?:whose|which|what|that|who|where|titled|called|named|subject|body|text|message|says"
    r"|saying|qui|dont)\b[^.!?]{0,80}?\s)?"
    r"(?P<word>is|are|(?<=\bi )am|will|gonna|ist|sind|est|sont|es|son)\b"
)
#: Which things are meant, with the verb at the end: `alle Rechnungen, die noch offen sind, …`. `…, die sind zu teuer`
#: tells of them.
_WHICH_ARE: Final = re.compile(
    r",\s*(?:der|die|das|den|dem|deren|dessen|bei\s+denen)\s(?:[^.!?,]{0,80}?\s)?(?:ist|sind)(?=\s*(?:$|[,.!;]))"
    r"|\bque\s+(?:son|es)\b"
)
#: Without its accent it is Spanish for `this`; behind `que` it says which things are meant.
_IS: Final = re.compile(r"(?<!\bque )(?<!\bque ya )(?<!\bque no )\bestán?\b", re.IGNORECASE)
#: French for `his` behind a command, and Spanish for `are` behind several things: `passe son prix à 18`.
_ITS_OWN: Final = re.compile(r"^(\s*[^\W\d_]\S*[^s\W])\s+son(?=\s+[^\W\d_])", re.IGNORECASE)
#: German for `it` behind a command, and Spanish for `is` behind a thing: `starte es neu`.
_ITS_OBJECT: Final = re.compile(
    r"^(\s*[^\W\d_]\S*)\s+es(?=[\s.,!;]*$|\s+(?:bitte|an|ab|auf|aus|ein|um|zu|zurück|neu|wieder|weg|sofort|jetzt|gleich"
    r"|mir|ihm|ihr|dem|der|den|in|nach|für|von|vor|mit|unter|über|im|am|zum|zur|dann|danach|anschließend|auch|frei|fertig)\b)",
    re.IGNORECASE,
)
#: A German question without its mark, `Lösche ich …`, and no command as `Lösche es`.
_ASKS: Final = re.compile(r"^\s*(?:\S+\s+(?:ich|er|wir|du|man)|\S+t\s+(?:ihr|es))\b")


def _tells(body: str) -> str | None:
    """The word by which what begins like a command is a statement after all."""
    body = _ITS_OWN.sub(r"\g<1>", _ITS_OBJECT.sub(r"\g<1>", body))
    plain = folded(body)
    if "de" in tongues_of(body) and (asked := _ASKS.search(plain)) is not None:
        return asked.group().strip()
    if (state := _IS.search(body)) is not None:
        return state.group()
    plain = _WHICH_ARE.sub(lambda found: " " * len(found[0]), plain)
    return next((found["word"] for found in _STATES.finditer(plain) if not found["which"]), None)


#: The English verb, which is French for `how`.
_COMMENTS: Final = re.compile(r"comment\s+(?:\W*#|(?:on|saying|with|that|about|under)\b)", re.IGNORECASE)
_COPULAS: Final = words_of("was were had has did does")


def _whole(head: str, found: Sequence[str]) -> str:
    """A German verb with what stands apart from it at the end: `Sage … ab` is `absagen`."""
    if len(found) < 2 or folded(found[-2]) in TOWARDS:
        return head
    return parted(head, found[-1]) or head
