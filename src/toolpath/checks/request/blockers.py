"""Blockers, which keep a clause from being a command: words that deny, condition, suppose, tell or choose. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal

from toolpath.checks.request.calendar_words import MONTH_NAMES, WEEKDAY_NAMES
from toolpath.checks.request.verbs import folded, may_be_thing

Mood = Literal[
    "command", "question", "asked", "negation", "condition", "hypothesis", "report", "choice", "reason", "other", "none"
]
"""`asked`: a question for something to be told, as `What is …?`; `reason`: it says how things stand; `none`: thanks."""

PLEASE: Final = re.compile(
    r"\b(?:please|kindly|pl[sz]|plss|bitte|s['\u2019]il (?:te|vous) pla[iî]t|s[tv]p|por favor|porfa(?:vor)?|xfa)\b",
    re.IGNORECASE,
)
WORD: Final = re.compile(r"[^\W\d_][\w'\u2019-]*", re.UNICODE)


def words_of(text: str) -> frozenset[str]:
    """Words of a list, as they are compared."""
    return frozenset(folded(word) for word in text.split())


_NEGATIONS: Final = words_of("""
not never no none nothing nobody noone nowhere neither nor without cannot hardly barely rarely scarcely seldom
nowise nope nah instead rather except excluding
but unlike dont doesnt didnt wont cant isnt arent wasnt shouldnt wouldnt couldnt mustnt shant aint havent hasnt
nicht nie niemals nichts niemand kein keine keinen keinem keiner keines ohne statt anstatt stattdessen weder
außer ausser keinesfalls keineswegs mitnichten nimmer nimmermehr nirgends nirgendwo keines keins kaum nein nee
ne pas jamais rien aucun aucune personne sans plutôt sauf hormis excepté ni non aucunement nullement guère nul nulle
nunca jamás nada nadie ningún ninguno ninguna sin tampoco excepto salvo sino apenas
""")
_CONDITIONS: Final = words_of("""
if when whenever unless until till once provided providing assuming supposing presuming otherwise else
whether depending
depends lest wherever while whilst contingent conditional conditionally eventually unlesss iff
barring someday irgendwann
wenn falls sofern sobald solange bis ob sonst andernfalls vorausgesetzt nachdem bevor ehe während sollte abhängig
si quand lorsque lorsqu jusqu jusque sinon pourvu
cuando hasta mientras aunque siempre
""")
_HYPOTHESES: Final = words_of("""
would could might may should shall ought maybe perhaps possibly probably presumably suppose supposedly
imagine pretend
hypothetically theoretically hypothetical imaginary wish wondering
würde würden könnte könnten sollten vielleicht eventuell möglicherweise angenommen wäre hätte dürfte möchte
pourrait pourrais pourriez devrait devrais devriez serait peut peut-être supposons admettons aimerais voudrais
podría podrías podríamos debería deberías quizás quizá acaso supongamos sería puede tal
""")
_REPORTS: Final = words_of("""
said says told tells wrote writes thought thinks claimed claims asked asks was were been had has did does
reportedly allegedly
apparently already yesterday ago previously formerly wanted decided refused mentioned heard
wurde wurden worden gesagt sagte schrieb meinte hatte hatten gestern bereits schon
dit disait écrit était étaient avait avaient hier déjà demandait
dijo dice decía escribió estaba estaban había fue fueron ayer pidió
""")
#: Of these, words that put what is told into the past or say that it has come about: they name nobody who says it.
TENSES: Final = words_of("""
was were been had has did does already yesterday ago previously formerly wurde wurden worden hatte hatten gestern
bereits schon
était étaient avait avaient hier déjà estaba estaban había fue fueron ayer dit
""") | {"has been", "have been", "il y a", "hace un", "hace una", "hace dos"}
_CHOICES: Final = words_of("or either oder entweder ou soit o u")
#: Several words that say the same. Letters are folded before they are looked for.
_PHRASES: Final[tuple[tuple[Mood, re.Pattern[str]], ...]] = (
    (
        "negation",
        re.compile(
            r"n['\u2019]t\b|\bno longer\b|\bau lieu\b|\ben (?:vez|lugar)\b|\bhold off\b|\bn['\u2019](?=\w)"
            r"|[\u274c\u26d4\U0001f6ab\U0001f44e]|\bdavon ab\b|\bany ?more\b"
            r"|\ben absoluto\b"
            r"|\b(?:scratch|strike|belay|forget|disregard) (?:that|this|it|all)\b"
        ),
    ),
    (
        "condition",
        re.compile(
            r"\b(?:ask|consult|check with|confirm with|warn|call|tell) (?:me|us|him|her|them|[a-z]+) (?:first"
            r"|before\w*|again)\b"
            r"|\bin case\b|\bin the event\b|\bas (?:long|soon) as\b|\bonly (?:if|when|after)\b|\bon condition\b"
            r"|\bsubject to\b"
            r"|\bim fall\w*\b|\bje nach\b"
            r"|\bes sei denn\b|\btant que\b|\bdes que\b|\ba (?:condition|moins)\b|\bavant (?:que"
            r"|de)\b|\bapres (?:que|avoir)\b|\bau cas\b"
            r"|\ben caso\b|\ba menos\b|\bcon tal\b|\bsiempre que\b|\ben cuanto\b|\bs['\u2019]ils?\b|\bjusqu\w*"
            r"|\blorsqu\w*"
            r"|\b(?:before|after|until|by the time)\s+(?:(?:the|a|an|my|our|his|her|their|its|your|all|every"
            r"|each)\s+)*[a-z]+\w*\s+\w+(?:s|ed)\b"
            r"|\b(?:before|after)\s+(?:(?:he|she|it|they|we|you|i)\b(?!\W*$)|[a-z]+ing\b)"
            r"|\bthe (?:moment|minute|day|instant)\b|\b(?:next|every|each|any) time\b|\bgiven that\b"
            r"|\bso long as\b|\bin the case\b"
            r"|\b(?:(?<!the )(?<!all )(?<!every )(?<!each )(?<!my )(?<!our )(?<!any )pending|upon"
            r"|awaiting|following) (?:\w+ ){0,2}(?:approval|consent|confirmation|permission"
            r"|agreement|review|request|notice|payment)\b"
            r"|\bwith (?:\w+ ){0,2}(?:approval|consent|permission|agreement)\b"
            r"|\b(?:get|obtain|seek|await|hol\w*|obtiens|obtenez|obten|consigue|pide) (?:[\w'\u2019]+ ){0,2}"
            r"(?:approval|consent"
            r"|permission|okay|go-ahead|zustimmung|genehmigung|erlaubnis|freigabe|accord|autorisation|permiso|aprobacion)"
            r"(?: ein)?(?=\W*$)"
        ),
    ),
    (
        "hypothesis",
        re.compile(
            r"\b(?:who knows|wer weiss|qui sait|quien sabe)(?=\s*(?:[,.;!?\u2026-]|$))|\ballenfalls\b"
            r"|\bso to speak\b|\bas it were\b|\bsozusagen\b|\bgewissermassen\b|\bpour ainsi dire\b|\bpor asi decirlo\b"
            # Somebody's opinion is asked for, or what is only imagined.
            r"|\bwhat do you (?:think|say|reckon)\b|\bwas (?:meinst|denkst|haltst) du\b|\bqu['\u2019]en penses?"
            r"|\bque te parece\b|\bque opinas?\b|\bstell\w* (?:dir|euch|sich|ihnen|sie) (?:\w+ )?vor\b|\bnimm an\b"
            r"|\bwhat if\b|\bas if\b|\bas though\b|\bin theory\b|\btal vez\b|\bpeut etre\b|\bfor example\b"
            r"|\bjust kidding\b"
        ),
    ),
    (
        "report",
        re.compile(r"\bhow to\b|\baccording to\b|\bhas been\b|\bhave been\b|\bil y a\b|\bhace (?:un|una|dos)\b"),
    ),
)


#: What begins a condition that the `when` of a step can say; `when` and `until` are waited for, which no step does.
PROVISO: Final = re.compile(
    r"(?<![\w'\u2019-])(?:(?:but|and|aber|mais|pero)\s+)?(?:(?:only|nur|seulement|s[oó]lo)\s+(?:if|when|wenn|falls|si)"
    r"|if|provided(?:\s+that)?|providing(?:\s+that)?|assuming(?:\s+that)?|(?:as|so)\s+long\s+as|on\s+condition\s+that"
    r"|unless|except\s+if|in\s+case|or\s+else|otherwise|else|falls|sofern|es\s+sei\s+denn|außer\s+wenn|wenn|sonst"
    r"|sauf\s+si|à\s+condition\s+que|si\s+no(?!\s+(?:est|es\b|son|ha|han|hay|tiene|se\b|fue|queda|existe|aparece|l[oae]s?\s+h))|si|s['\u2019](?:il|elle)s?|sinon|a\s+menos\s+que|siempre\s+que)"
    r"(?![\w'\u2019-])",
    re.IGNORECASE,
)


#: What begins the other case: `…, otherwise close it`.
OTHERWISE: Final = re.compile(
    r"(?:or\s+else|otherwise|if\s+not|else|sonst|sinon|si\s+no(?!\s+(?:est|es\b|son|ha|han|hay|tiene|se\b|fue|queda|existe|aparece|l[oae]s?\s+h)))\b,?\s*",
    re.IGNORECASE,
)


def takes_back(word: str) -> bool:
    """Whether the word keeps a clause from being a command."""
    return blocked_by(word) is not None


#: `a mail that says "hello"` describes what is to be written.
_HOLDS: Final = re.compile(r"\b(?:that|which)\s+(?:says|reads)\s*[:,]?\s*(?=#|$)", re.IGNORECASE)


#: Before a day or an hour it is no condition: `from 3 August until 14 August`.
_UNTIL: Final = re.compile(
    r"\b(?:until|till|bis|hasta|jusqu['\u2019](?:au?|à))\s+(?:(?:the|zum|am|el|las?|le|au)\s+)?"
    rf"(?=[\d#]|(?:(?:next|this|end\s+of|the\s+end\s+of|further\s+notice|ende|nächste[nrs]?|fin|finales?"
    rf"|próxim[oa])\b)?\s*"
    rf"(?:{WEEKDAY_NAMES}|{MONTH_NAMES}|tomorrow|noon|midnight|tonight|today|week|month|year|notice|morgen|heute|mittag"
    r"|woche|monat|demain|midi|minuit|mañana|mediodía|week-?end|semaine|mois|mes|semana)\b)",
    re.IGNORECASE,
)


#: `somewhere else` is another place, and no other case.
_OTHER: Final = re.compile(r"(?<=\w)\s+else(?<=(?:one|ody|ere|ing)\selse)\b", re.IGNORECASE)
#: Without its accent it is French for `of the`, and German for `of`.
_SOON: Final = re.compile(r"\bdès\b", re.IGNORECASE)


#: Behind these words stands which one is meant, or what is to be said: `the file that was uploaded`.
_WHICH: Final = re.compile(
    r"\b(?:that|which|who(?:ever|m|se)?|what(?:ever)?|whose|where|qui|que|dont|quien(?:es)?|cuy[oa]s?|,\s*(?:der|die"
    r"|das|den|dem|deren|dessen))"
    r"(?:['\u2019]s)?\b|\beverything\s+(?=#|(?:we|he|she|they|i|you)\b)",
    re.IGNORECASE,
)
#: Verbs whose past is their command: `Put P-1 in bed 3 yesterday` tells of it.
_ALIKE_IN_THE_PAST: Final = words_of("set put cut let read shut hit quit spread bet cast cost split beat")
#: Words of time, which a command may say of its thing: `the file from yesterday`.
_TIMES: Final = words_of("yesterday ago previously formerly gestern hier ayer")
#: Where it ends or begins a command it says that something else is not to be done: `schedule it for noon instead`.
_INSTEAD: Final = re.compile(
    r"^\W*(?:instead|stattdessen|dafür)\b(?!\s+of\b),?|\b(?:instead|stattdessen|plutôt|à\s+la\s+place"
    r"|en\s+su\s+lugar)(?=[\s.!,]*$)",
    re.IGNORECASE,
)
#: `once a day`, `once daily`, `at once`.
_ONCE: Final = re.compile(
    r"\bat\s+once\b|\bonce\s+(?=(?:an?|per|each|every|daily|weekly|monthly|yearly|hourly|more|again)\b)", re.IGNORECASE
)


def hands_on(said: str, head: str) -> bool:
    """Whether it is to be told to somebody what follows: `tell #oncall the failover is done`."""
    return folded(head) in _HANDING_ON and not may_be_thing(head) and len(said.partition(head)[2].split()) > 2


def kept_from(said: str, head: str) -> tuple[Mood, str] | None:
    """The same for what begins with the verb of a command: words of time and of what is described do not tell of it."""
    said = _ONCE.sub(" ", _INSTEAD.sub(" ", said))
    if folded(head) in _HANDING_ON and (handed := _HANDED.search(said)) is not None:
        said = said[: handed.start()]
    found = blocked_by(said)
    if found is not None and found[0] == "negation" and (denied := denied_which(said)):
        # `Cancel every order that is not paid`: it is said which are meant.
        found = blocked_by(said.replace(denied, " "))
    if found is None or found[0] != "report" or found[1] not in TENSES:
        return found
    is_object = _OBJECT.match(said.partition(head)[2]) is not None
    if folded(head) in _HANDING_ON and (is_object or not may_be_thing(head)):
        return None
    told = said
    if folded(head) not in _ALIKE_IN_THE_PAST and (is_object or not may_be_thing(head)):
        which = _WHICH.search(said)
        told = said if which is None else said[: which.start()]
        for time in _TIMES:
            told = re.sub(rf"\b{time}\b", " ", told, flags=re.IGNORECASE)
        told = _TIME_PHRASE.sub(" ", told)
    return blocked_by(told)


def denied_which(said: str) -> str:
    """The words that say by a denial which of a list are meant: `that is not paid` of `all that is not paid`."""
    found = _ALL_WHICH.search(said)
    which = said[found.start("which") :] if found is not None else ""
    is_denied = any(folded(word.strip("'\u2019-")) in _NEGATIONS for word in WORD.findall(which))
    return which if is_denied or _CONTRACTED.search(which) is not None else ""


_CONTRACTED: Final = re.compile(r"n['\u2019]t\b", re.IGNORECASE)


#: All of a list, and which they are: up to the next comma.
_ALL_WHICH: Final = re.compile(
    r"\b(?:all|every|each|every(?:one|body|thing)|alle|jede\w?|alles|tou(?:s|tes)\s+les|chaque|tod[oa]s\s+l[oa]s|cada)\b"
    r"(?:\s+[^\s,;:.!?]+){0,8}?(?:\s+|(?=,))(?P<which>(?:that|who|which|whose|qui|que|,\s+(?:die|der|das))\b[^,;:.!?]{1,100}"
    r"(?=[,;:.!?]|$))",
    re.IGNORECASE,
)
#: What follows a verb and no thing of its name: `order the pizza`, and not `order O-7`.
_OBJECT: Final = re.compile(
    r"\s+(?:the|an?|my|our|his|her|their|your|this|these|those|each|every(?:thing|one|body)?|all|me|us|him|them|it|who\w*"
    r"|whatever|alles?|jede\w?|tou(?:s|t|te|tes)|tod[oa]s?|chaque|cada)\b",
    re.IGNORECASE,
)
#: Verbs after which comes what is to be said, and behind these words it stands: what it tells of is no part of the
#: command.
_HANDING_ON: Final = words_of("""
tell inform notify remind warn let message text email write note log report say comment reply answer post add leave
record
sag sage schreib schreibe schreiben benachrichtige informiere erinnere antworte notiere kommentiere sagen
dis écris préviens informe rappelle réponds note commente signale di dile diles escribe avisa informa recuerda
responde comenta anota
""")
_HANDED: Final = re.compile(r"\b(?:that|saying|dass|que)\b|\bqu['\u2019]", re.IGNORECASE)
_TIME_PHRASE: Final = re.compile(r"\bil\s+y\s+a\b|\bhace\s+(?=un|una|dos)", re.IGNORECASE)


@lru_cache(maxsize=1_024)
def blocked_by(said: str) -> tuple[Mood, str] | None:
    """The mood that keeps a clause from being a command, and the word that says so."""
    said = _OTHER.sub(" ", said)
    said = _UNTIL.sub(" ", _HOLDS.sub(" ", PLEASE.sub(" ", said)))
    plain = folded(said)
    if (soon := _SOON.search(said)) is not None:
        return "condition", soon.group()
    words = [folded(word.strip("'\u2019-")) for word in WORD.findall(said)]
    for mood, pattern in _PHRASES:
        if (found := pattern.search(plain)) is not None:
            return mood, found.group().strip()
    for word in words:
        if (word == "no" and _NUMBERED.search(plain)) or (word == "may" and _IN_MAY.search(plain)):
            continue
        for mood, known in _BLOCKERS:
            if word in known:
                return mood, word
    return None


def supposes(text: str) -> bool:
    """Whether words of a text say what would be, not what is: `what would it cost if …`."""
    return any(word in _HYPOTHESES or word in _CONDITIONS for word in map(folded, re.findall(r"[^\W\d_]+", text)))


_NUMBERED: Final = re.compile(r"\bno\.?\s*#?\d")
_IN_MAY: Final = re.compile(
    r"\bmay,?\s+(?:the\s+)?\d|[\d#](?:st|nd|rd|th)?\.?\s+(?:of\s+)?may\b|\b(?:in|on|by|for|this|next|last)\s+may\b"
)
_BLOCKERS: Final[tuple[tuple[Mood, frozenset[str]], ...]] = (
    ("negation", _NEGATIONS),
    ("condition", _CONDITIONS),
    ("hypothesis", _HYPOTHESES),
    ("report", _REPORTS),
    ("choice", _CHOICES),
)
