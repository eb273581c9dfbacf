"""Statements beside a command: a reason, an explanation. Known by subject and finite verb, not by their words. Pure.

What only says how things stand neither commands nor takes back. What says who wants it, that it is no earnest, or that
somebody has yet to decide is no reason.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from toolpath.checks.request.blockers import TENSES, WORD, Mood, words_of
from toolpath.checks.request.deeds import is_of_the_deed
from toolpath.checks.request.tongues import Tongue, tongues_of
from toolpath.checks.request.verbs import folded

_FINITE: Final = (
    r"(?:is|are|was|were|am|has|have|had|does|did|got|gets|went|goes|came|comes|broke|left|leaves|needs?|wants?|fell"
    r"|brought|caught|forgot|built|felt|taught|ate|drank|sat|stood|slept|began|rose|shook|shot|blew"
    r"|rang|won|froze|burst|sank|sold|bought|chose|flew|drove|grew|met|spoke|stole|threw|tore|stuck|died"
    r"|lost|found|took|gave|ran|runs|keeps?|kept|looks?|seems?|sounds?|works?|feels?|became|turned\s+out|isn['\u2019]t"
    r"|aren['\u2019]t|wasn['\u2019]t|weren['\u2019]t|doesn['\u2019]t|didn['\u2019]t|won['\u2019]t|hasn['\u2019]t"
    r"|haven['\u2019]t)\b"
)
#: A participle is a finite verb where no noun follows it: `the room flooded`, and not `the closed tickets`.
_PAST: Final = (
    r"[a-z]{2,}ed(?=\s*(?:$|[.,;!?)]|(?:in|on|at|to|by|from|off|out|up|down|over|for|with|again|today|yesterday|last"
    r"|this"
    r"|because|while|after|us|me|him|her|it|them|the|a|an|my|our|your|his|its|their)\b))"
)
_BEING: Final = (
    r"(?:[a-z]{2,}ing|[a-z]{2,}ed(?=\s*(?:$|[.,;!?)]))|broken|gone|in|out|off|on|down|up|back|here|there|away|sick"
    r"|ill|late"
    r"|asleep|awake|alone|dead|full|empty|ready|wrong|free|busy|not|just|still|a|an|the|too|so|very|been)\b"
)
#: Ids, blanked out: `##### and #####`.
_IDS: Final = (
    r"(?:(?:\d+|two|three|four|five|six|ten|some)\s+[^\W\d_]+\s+(?:of|von|de)\s+)?(?:[\w-]+\s+)?[#\d][#\w-]*(?:(?:\s*,|\s+(?:and|und|et|y))\s+[#\d][#\w-]*)*"
    r"(?:\s+(?:in|on|of|at|from|von|de|en)\s+#[#\w./-]*)?"
)
#: What begins a question has a capital as names have: `What is the balance of Ann and what her address is?`
_NO_QUESTION: Final = (
    r"(?!(?:what|which|who(?:m|se)?|why|how|when|where|was|wer|we[nm]|wessen|warum|wie|wo(?:hin)?|wann|welche[rnsm]?"
    r"|qu[eio]i?|quels?|quelles?|pourquoi|comment|où|combien|quand|qué|quién(?:es)?|cuál(?:es)?|cómo|a?dónde|cuánt[oa]s?"
    r"|cuándo|is|are|does|did|has|have|ist|sind|hat|haben|est|sont|ont|es|está|son|ha|han)\b)"
)
#: What people and places are called, and what stands behind it: `Mrs Adeyemi`, `Bella (#####)`.
_NAME: Final = (
    _NO_QUESTION + r"(?-i:[A-ZÄÖÜÉÈÁÍÓÚÑ])[\w.'\u2019-]+(?:\s+(?-i:[A-ZÄÖÜÉÈÁÍÓÚÑ])[\w.'\u2019-]+){0,3}(?:\s+\(#+\))?"
)
#: Two words at least: one alone may be the verb of a command.
_WHOLE_NAME: Final = _NAME.replace("{0,3}", "{1,3}")
#: Verbs of somebody who is or goes somewhere; a plural of things would end like others.
_STAYING: Final = r"(?:starts|leaves|moves|arrives|comes|goes|works|stays|returns|retires|travels|flies|joins)\b"
_ENGLISH: Final = (
    rf"{_NAME}\s+(?:just\s+|still\s+|both\s+)?(?:{_FINITE}|{_PAST})|{_WHOLE_NAME}\s+{_STAYING}|"
    r"(?:it|they|he|she|we|i|there|this|that|these|those|everyone|everybody|someone|somebody|nobody)['\u2019](?:s|re"
    r"|ve|m)\s+[\w#]"
    r"|(?:it|they|he|she|there)['\u2019]ll\s+(?:need|want|be|have|love|like|arrive|come|miss|get)\b"
    r"|(?:it|they|he|she|we|i)\s+(?:just\s+|still\s+|only\s+|already\s+|really\s+|all\s+|both\s+)?"
    r"(?!(?:and|or|to|for|too|as|with|in|on|at|of|please|now|then|if)\b)[a-z][\w'\u2019]+"
    rf"|(?:there|this|that|these|those|everyone|everybody|someone|somebody|nobody)\s+(?:{_FINITE}|{_PAST}"
    rf"|can\b|[a-z]{{3,}}s\b)"
    rf"|(?:the|an?|their|his|her|its|my|our|your|some|both|all|no)\s+(?:[\w'\u2019-]+\s+){{1,4}}?(?:just\s+|still\s+"
    rf"|both\s+)?(?:{_FINITE}|{_PAST})"
    rf"|(?:(?:the|an?|their|his|her|its|my|our)\s+)?(?:[\w-]+\s+)?[\w-]+['\u2019]s\s+{_BEING}"
    r"|(?!(?:what|which|who|how|when|where|why)\b)[\w#-]+\s+(?:[\w#-]+\s+)?(?:is|are|was|were|has"
    r"|have)\s+(?!been\s+asked)[\w#]"
    rf"|(?:both\s+)?{_IDS}(?:['\u2019]s\s+[\w#]|\s+(?:just\s+|still\s+|both\s+|all\s+)?(?:{_FINITE}|paid\b|called\b"
    rf"|made\b|{_PAST}))"
    r"|(?:lost|found|forgot|broke|missed)\s+(?:my|our|the|his|her|#)"
)
_AFTER_GERMAN: Final = r"(?!(?:bitte|auch|und|oder|an|in|auf|zu|mit|von|für|bei|aus|nach|am|im)\b)"
_FINITE_GERMAN: Final = (
    r"(?:ist|sind|war|waren|hat|haben|hatte|hatten|wird|wurde|wurden|geht|gehen|läuft|laufen|kommt|kommen|kam|fehlt"
    r"|fehlen|steht|liegt"
    r"|braucht|brauchen|funktioniert|passt|fällt|gab|gibt|macht|bleibt|fährt|zieht|heiratet|reist)"
)
_GERMAN: Final = (
    rf"{_NAME}\s+{_FINITE_GERMAN}\s+\w|"
    rf"(?:ich|er|sie|es|wir|man)\s+{_AFTER_GERMAN}[a-zäöü]+(?:t|e|en|st|te|ten)\b(?!\s+(?:ich|du|er|wir|ihr|man)\b)"
    rf"|(?:das|dies|da|dort|hier)\s+{_FINITE_GERMAN}\b"
    # `Die Gäste stecken im Stau`: where the verb is second it is no relative clause.
    r"|(?:der|die|das|alle|beide|unsere|meine)\s+(?:[a-zäöü]+\s+)?(?-i:[A-ZÄÖÜ])\w+\s+(?!(?:morgen|gegen|neben|wegen"
    r"|zwischen|oben|unten"
    r"|selten|eben|mit|seit|bereits|nicht|heut|dort|jetzt|sofort|\w*ge\w+)\b)(?-i:[a-zäöü])\w*(?:en|t)\s+(?!(?:hat"
    r"|haben|hatte|hatten|wird|werden"
    r"|wurden?|ist|sind|war|waren|soll|sollen|will|wollen|kann|können)\b)\w"
    rf"|(?:(?:der|die|das|den|dem)\s+)?{_IDS}\s+{_FINITE_GERMAN}\s+\w"
    # `die Karte, die Peter hat`: where nothing follows the verb it may be which one is meant.
    rf"|(?:(?:der|die|das|dem|den|ein|eine|mein\w*|sein\w*|ihre?|unser\w*|alle"
    rf"|beide)\s+)?(?:[a-zäöü]+\s+)?{_NO_QUESTION}(?-i:[A-ZÄÖÜ])\w+\s+{_FINITE_GERMAN}\s+\w"
    r"|(?:die|meine|seine|ihre|unsere|alle|beide)\s+(?:[a-zäöü]+\s+)?(?-i:[A-ZÄÖÜ])\w+(?:n|e|s"
    r"|er)\s+(?-i:[a-zäöü])\w+en\s*(?:$|[.,;!])"
    rf"|(?:ein|eine|mein\w*|sein\w*|ihre?|unser\w*)\s+(?:[a-zäöü]+\s+)?(?-i:[A-ZÄÖÜ])\w+\s+(?:{_FINITE_GERMAN}"
    rf"|(?-i:[a-zäöü])\w+t)\s*(?:$|[.,;!])"
)
_FRENCH: Final = (
    rf"{_NAME}\s+(?:(?:ne|se|nous|vous|lui|leur)\s+|[nsmtl]['\u2019])?(?:est|sont|ont|était|étaient|avait|va|vont|vient"
    r"|viennent|part|arrive|attend|a\s+(?:\w+(?:é|i|u|is|it|ert)s?e?\b|déjà|bien|encore|pas))\b|"
    r"(?:on\s+(?:(?:ne|se|y|en)\s+|[nsmly]['\u2019])?(?:en\s+)?(?:a|va|est|fait|vient|part|doit|peut|arrive|attend"
    r"|ferme|reste|prend|veut|occupe)\b)"
    r"|(?:il|elle|ils|elles|ça|cela|nous|je)\s+(?:(?:ne|se|me|y|en)\s+|[nsmly]['\u2019])?[^\W\d_]{1,}"
    rf"|(?:l[ae]s?\s+)?{_IDS}\s+(?:est|sont|a|ont|était|étaient)\s+\w"
    r"|c['\u2019](?:est|était)\b|j['\u2019][^\W\d_]{2,}|on\s+a\b"
    r"|(?:(?:le|la|les|un|une|des|mon|ma|mes|ton|ta|tes|son|sa|ses|notre|nos|leur|leurs|cette?|ces)\s+"
    r"|l['\u2019])[\w-]+"
    r"(?:\s+(?:d['\u2019])?[\w-]+){0,3}?\s+(?:(?:ne|se|nous|vous|lui|leur)\s+|[nsmtl]['\u2019])?"
    r"(?:est|sont|a|ont|était|étaient|avait|sera|va|vont|vient|viennent|marche|fonctionne|fait|fuit|reste|arrive"
    r"|part)\b"
)
_SPANISH: Final = (
    rf"{_NAME}\s+(?:ya\s+)?(?:se\s+|no\s+|nos\s+|me\s+|le\s+)?(?:es|está|son|están|era|eran|fue|ha|han|tiene|tienen|viene"
    r"|vienen|va|van|llega|sale|[^\W\d_]{2,}ó|[^\W\d_]+aron)\b|"
    r"(?:él|ella|ellos|ellas|yo|nosotros|eso|esto)\s+[^\W\d_]{2,}"
    r"|(?:ya\s+)?(?:(?:no\s+)?(?:es|era|eran|son|fue|fueron|está|están|estaba|estaban|ha|han|había|hay|tiene|tienen"
    r"|tenía|funciona|funcionan|sirve)|ya\s+no\s+[^\W\d_]+)(?:\s+\w|\s*$)"
    rf"|(?:(?:el|la|los|las)\s+)?{_IDS}\s+(?:ya\s+)?(?:es|está|son|están|era|fue|ha|han|tiene)\s+\w"
    r"|se\s+(?:ha|han|le|les|nos|me)?\s*[^\W\d_]+"
    r"|(?:(?:el|la|los|las|un|una|mi|mis|su|sus|nuestr\w+)\s+)[^\W\d_]+(?:\s+[^\W\d_]+){0,3}?\s+(?:ya\s+)?(?:se\s+"
    r"|no\s+)?"
    r"(?:es|está|son|están|era|eran|fue|ha|han|tiene|tienen|hay|viene|vienen|va|van|[^\W\d_]{2,}ó|[^\W\d_]+aron)\b"
)
#: How it is with what was commanded, said without it: `lösch p-3, ist total verwackelt`.
_SUBJECTLESS: Final = re.compile(
    r"(?:ist|sind|war|waren)\s+(?:(?:total|völlig|ganz|so|zu|leider|sehr|nur|komplett|echt|eh|sowieso|viel|halt|ja|doch)\s+)*"
    r"(?-i:[a-zäöüß]{3,})\W*$"
    r"|(?:est|sont|était)\s+(?:(?:trop|très|tout|complètement|vraiment)\s+)*[^\W\d_]{3,}\W*$"
    r"|(?:está|están|estaba|es|son)\s+(?:(?:muy|tan|demasiado|totalmente)\s+)*[^\W\d_]{3,}\W*$"
    r"|(?:is|are|was)\s+(?:(?:totally|way|too|so|very|really|completely|all)\s+)*(?!(?:it|that|this|he|she|there)\b)[a-z]{3,}\W*$",
    re.IGNORECASE,
)
_GRAMMAR: Final[dict[Tongue, re.Pattern[str]]] = {
    "en": re.compile(_ENGLISH, re.IGNORECASE),
    "de": re.compile(_GERMAN, re.IGNORECASE),
    "fr": re.compile(_FRENCH, re.IGNORECASE),
    "es": re.compile(_SPANISH, re.IGNORECASE),
}
#: What gives a reason by itself, whatever its grammar.
_BECAUSE: Final[dict[Tongue, re.Pattern[str]]] = {
    "en": re.compile(
        r"(?:because|due\s+to|since\s+(?=(?:it|they|he|she|we|i|the|my|our|his|her|their)\b"
        r"|(?:[\w-]+\s+)?#[#\w-]*\s+(?:is|are|was|were|has|have|had|got)\b))",
        re.IGNORECASE,
    ),
    "de": re.compile(r"(?:weil|(?<!\bsei\s)denn|wegen|aufgrund)\b", re.IGNORECASE),
    "fr": re.compile(
        r"(?:parce\s+qu(?:e\b|['\u2019])|puisqu(?:e\b|['\u2019])|car\b|à\s+cause\s+d|en\s+raison\s+d)", re.IGNORECASE
    ),
    "es": re.compile(r"(?:porque|ya\s+que|puesto\s+que|debido\s+a|a\s+causa\s+de)\b", re.IGNORECASE),
}
#: Where a statement may begin behind a command.
_STOPS: Final = re.compile(r"\s*(?:,|\s[-\u2013\u2014]|\u2014)\s+")
_BLANK: Final = re.compile(r"\s+")
#: After these words comes what is to be said, which is no reason.
_CONTENT: Final = re.compile(r":|\b(?:that|dass|que|saying|says|whether|ob)\b", re.IGNORECASE)

#: Who says, wants or decides it; what is none in earnest; what has happened to the command itself.
_NO_REASON: Final = words_of("""
said says say told tells wrote writes claims claimed asks asked mentioned heard reads thinks thought meant guess
suppose hope doubt
believe think wonder kidding joking joke joked sarcasm example examples test testing drill hypothetical fiction
template sample instruction
instructions command commands sentence phrase prompt demonstration exercise simulation following rehearsal draft
approve approves approved approval agree agrees agreed decide decides decided decision confirm confirms confirmed
permission
consent first later wait waiting wrong mistake oops forget mind sure unsure maybe perhaps done must shall should could
would might
may ought will gonna undecided time early soon almost nearly barely practically withdraw withdrawn retract
reconsider regret dare bet swear trick dream lie fake hoax prank game quote quotation job duty turn business
responsibility ours yours
mine theirs objects object objected against refuses forbids forbade
sagt sagte sagen meint meinte schreibt schrieb denkt denke glaubt glaube vermute schätze will wollte beispiel
scherz übung probe witz test
zustimmt zustimmen
genehmigt genehmigen entscheidet entscheiden erst später warten wartet falsch irrtum versehen erledigt soll sollen
sollte muss
müssen könnte würde dürfte vielleicht wohl doch dagegen traum lüge falle zitat sache beinahe früh bald
dit disait pense croit crois suppose veut exemple blague exercice approuve accord accepte décide d'abord attend
attends erreur peut-
être
doit
devrait pourrait faudrait contre plaisante rigole mensonge piège rêve citation presque bientôt tôt
dice dijo cree creo piensa pienso supongo ejemplo broma ejercicio prueba aprueba acuerdo acepta decide primero
luego espera error quizá
quizás debe
debería podría contra bromeo mentira trampa sueño cita casi pronto temprano
""")
#: Verbs of being of use: that something does not work is a reason, that somebody does not want it is none.
_USELESS: Final = re.compile(
    r"\b(?:(?:do|does|did|is|are|was|were|has|have|had|wo|ca)n['\u2019]?t|not|no\s+longer|never|nobody|(?:any\s?more"
    r"|any\s+longer))\b.{0,12}?"
    r"\b(?:work\w*|need\w*|us(?:e|ed|es|ing)|fit\w*|start\w*|load\w*|respon\w+|answer\w*|com(?:e|es|ing)|show\w*"
    r"|arriv\w*|feel\w*|turn(?:ed)?\s+up"
    r"|available|well|well\s+enough|in|here|there|find|able|reach\w*|make\s+it)\b"
    r"|\b(?:nobody|no\s+one)\s+(?:can\s+)?(?!wants?|asked|said|agreed|approved|likes?)[a-z]+"
    r"|^(?:it|he|she|they|the\s+[\w-]+)\s+(?:doesn|don|didn|can|won)['\u2019]t\s+(?!want|like"
    r"|agree|approve|let|allow|think"
    r"|do\b|have\s+to|be\s)[a-z]+"
    r"|^ya\s+no\s+(?!quier|quer|dese|hac)\w+"
    r"|\b(?:funktionier\w*|geht|gehen|läuft|brauch\w*|passt|kommt|kommen|startet|da)\b.{0,20}\bnicht\b"
    r"|\bnicht\b.{0,8}\b(?:da|gebraucht|funktion\w+|gekommen)\b"
    r"|\b(?:ne|n['\u2019])\s*(?:marche|fonctionne|vient|viennent|sert|répond)\b|\bn['\u2019](?:est|a)\s+(?:pas"
    r"|plus)\s+(?:là|besoin|venu)\b"
    r"|\b(?:ya\s+)?no\s+(?:funciona|viene|vienen|sirve|responde|hay|está|hace\s+falta|la?\s+necesit\w+"
    r"|lo\s+necesit\w+)\b",
    re.IGNORECASE,
)
#: Who speaks has done something: perhaps what the command is about.
_DONE: Final = re.compile(
    r"(?:i|we|ich|wir|je|nous|j['\u2019]|yo)\b.{0,20}\b(?:already|just|bereits|schon|gerade|déjà|ya)\b", re.IGNORECASE
)
#: `It has to be express` says more of what is commanded.
_DEMANDS: Final = re.compile(r"\b(?:has|have|needs?|got)\s+to\s+be\b", re.IGNORECASE)
#: It is said of what was commanded, or of what was said: `that was the plan`, `I take that back`, `c'est faux`.
_OF_THE_COMMAND: Final = re.compile(
    r"^(?:that|this|these|those)(?:['\u2019]s|\s+(?:is|are|was|were))\b|^(?:das|dies)\s+(?:ist|war|sind)\b|^(?:ça"
    r"|ceci|cela)\s+\w|^(?:eso|esto)\s+\w|^es[eo]\s+(?:es|era|fue)\b|^c['\u2019]était\b"
    r"|\bt(?:ake|ook)\s+(?:that|it|this)\s+back\b|\bfau(?:x|sse)\b(?!\s+positi)|\bfals[oa]\b(?!\s+(?:positiv|alarm))"
    r"|\bfalse\b(?!\s+(?:positive|alarm))"
    r"|^(?:it|they|he|she|we|you|i)(?:['\u2019](?:s|re|m))?\s+(?:is\s+|are\s+|am\s+)?(?:too|what|how|where|why)\b|^here\b|^(?:hier|voici|aquí)\b",
    re.IGNORECASE,
)
_NEEDLESS: Final = re.compile(
    r"\b(?:not|no\s+longer|n['\u2019]t|hardly)\b.{0,12}?\b(?:need\w*|necessary|required)\b|\bunnecessary\b"
    r"|\bnicht\b.{0,12}?\b(?:nötig|notwendig|gebraucht|erforderlich)\b|\b(?:unnötig|überflüssig)\b"
    r"|\b(?:plus|pas)\s+(?:besoin|nécessaire|la\s+peine)\b|\binutile\b|\bno\s+(?:hace\s+falta|es\s+necesari[oa])\b"
    r"|\binnecesari[oa]\b",
    re.IGNORECASE,
)
_INVERTED: Final = re.compile(
    r"\W*(?:[^\W\d_]+t|wird|darf|kann|soll|will|mag)\s+(?:(?P<pronoun>es)|er|man|ihr)\b", re.IGNORECASE
)
_THINKING: Final = re.compile(r"^i\s+think\s+(?=(?:it|he|she|they|the|my|we|there)\b)", re.IGNORECASE)


def is_needless(text: str) -> bool:
    """Whether a statement says that something is not needed: a reason to do away with it, and none to do it."""
    return _NEEDLESS.search(text) is not None


def is_needless_act(text: str) -> bool:
    """Whether it is said without a subject that something is not needed: the act, and no thing of it."""
    return _NEEDLESS_ACT.match(text) is not None


#: `Not needed any more` is said of a thing.
_NEEDLESS_ACT: Final = re.compile(
    r"\W*(?:(?:it|that)(?:['\u2019]s|\s+is)\s+)?not\s+(?:really\s+)?(?:needed|necessary|required)\W*$",
    re.IGNORECASE,
)


@lru_cache(maxsize=1_024)
def tells_how_it_is(said: str, blocked: tuple[Mood, str] | None, tongues: frozenset[Tongue] = frozenset()) -> bool:
    """Whether a clause says how things stand, and nothing for or against doing something.

    `blocked`: the mood that one of its words gives it, and that word.
    """
    text = _THINKING.sub("", said.strip())
    inverted = _INVERTED.match(text)
    if inverted is not None and (inverted["pronoun"] or "de" in tongues_of(text)):
        # `Regnet es, …` is an `if` in German, and `es` is no Spanish verb there.
        return False
    if _DEMANDS.search(text) or _OF_THE_COMMAND.search(text) or _DONE.match(text) or is_of_the_deed(text):
        return False
    if not is_statement(text, tongues) or text.rstrip().endswith(("?", "\uff1f", ":")):
        return False
    if any(folded(word.strip("'\u2019-")) in _NO_REASON for word in WORD.findall(text)):
        return False
    match blocked:
        case None:
            return True
        case ("report", word):
            return word in TENSES
        case ("negation", _):
            return _USELESS.search(text) is not None
        case _:
            return False


def _hands_on(text: str, end: int) -> bool:
    """Whether the sentence has said before this place that words follow which are handed on."""
    start = max(text.rfind(mark, max(0, end - 300), end) for mark in ".!?;\n")
    return _CONTENT.search(text, max(0, start, end - 300), end) is not None


def is_statement(text: str, tongues: frozenset[Tongue] = frozenset()) -> bool:
    """Whether a clause begins with a subject and its finite verb, or says because of what.

    `tongues`: of the text that it stands in, as far as that is known.
    """
    own = tongues_of(text)
    # A few words are of another tongue by chance: `she was in hospital`.
    spoken = (own & tongues) or own | tongues
    return _SUBJECTLESS.match(text) is not None or any(
        _BECAUSE[one].match(text) or _GRAMMAR[one].match(text) for one in spoken
    )


@lru_cache(maxsize=256)
def statements_in(text: str) -> tuple[tuple[int, int], ...]:
    """Where statements begin behind a comma, a dash or a `because`: places of what parts them from what is before."""
    tongues = tongues_of(text)
    becauses = [mark for mark in _BLANK.finditer(text) if any(_BECAUSE[one].match(text, mark.end()) for one in tongues)]
    found: list[tuple[int, int]] = []
    for mark in (*_STOPS.finditer(text), *becauses):
        if not mark.start() or _hands_on(text, mark.start()):
            continue
        rest = _SENTENCE.split(text[mark.end() : mark.end() + 300], maxsplit=1)[0]
        if mark in becauses or is_statement(rest, tongues):
            found.append(mark.span())
    return tuple(sorted(found))


_SENTENCE: Final = re.compile(r"[.!?;\n]")
