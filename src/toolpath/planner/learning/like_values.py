"""Values of a request that others may stand in for: names, numbers, ids, addresses, no word with a meaning. Pure."""

from __future__ import annotations

import re
from datetime import date
from typing import Final
from urllib.parse import urlsplit

from toolpath.catalog.words import STOP
from toolpath.checks.request.blockers import takes_back, words_of
from toolpath.checks.request.calendar_words import COMING, PERIODS, says_when
from toolpath.checks.request.quantifiers import asks_for_more
from toolpath.checks.request.verbs import folded

#: Words that choose, count, point or turn round what is said, in the four languages.
_TELLING: Final = words_of("""
first second third fourth last next previous latest newest oldest cheapest best worst top bottom some several many most
few fewer less more least half double twice once only just also too again back off out up down away yet still almost
he him she her it its they them their we us our you your i me my mine who whom which what whoever self myself himself
other others another same former latter rest one ones now current currently recent recently upcoming past later
immediately permanently forever temporarily quietly anyway actually really very
erste ersten erster zweite zweiten dritte dritten letzte letzten letzter nächste nächsten vorige vorigen neueste
neuesten älteste billigste beste meisten einige mehrere viele wenige weniger mehr mindestens höchstens halb doppelt nur
auch wieder zurück noch er ihn ihm sie ihr ihnen es wir uns ich mich mir mein meine du dich dir dein man wer wen wem was
andere anderen derselbe rest jetzt aktuell später sofort endgültig
der die das den dem des ein eine einen einem einer und mit von zu zum zur für auf aus bei nach vor
premier première premiers second deuxième dernier dernière derniers prochain prochaine précédent meilleur plupart
quelques plusieurs beaucoup moins plus demi double seulement aussi encore il elle ils elles lui leur le la les nous
vous je me moi mon ma mes tu te toi ton qui que quoi autre autres même reste maintenant actuel tard définitivement
un une des du de et avec pour par dans sur
primer primero primera primeros segundo segunda tercero último última últimos próximo próxima anterior mejor peor
mayoría algunos varios muchos menos más mitad doble solo sólo también otra otro otros otras vez él ella ellos ellas
lo los las le les nosotros yo mí mi mis tú ti quien qué cual mismo resto ahora actual luego definitivamente
uno una unos y con para por en del al
anybody anyone anything somebody someone something everybody everyone everything nobody nothing none whoever whomever
whatever whichever whose yourself yourselves herself itself ourselves themselves yours hers ours theirs mine besides
irgendjemand irgendwer irgendwen irgendwem irgendeine irgendeinen irgendeiner irgendeinem irgendwelche jemand jemanden
jemandem niemand niemanden niemandem manche manchen mancher welche welchen welcher welches etwas nichts euch euer sich
selbst selber
chacun chacune certains certaines quiconque autrui eux soi lequel laquelle lesquels lesquelles ceux celles celui celle
ceci cela ça quelqu'un quelque personne rien aucun aucune vôtre nôtre
alguien algo nadie nada cualquiera cualesquiera quienes usted ustedes aquel aquella aquello aquellos aquellas este esta
esto estos estas ese esa eso esos esas demás ninguno ninguna ningún suyo suya sí
""")
#: Places that are none of their own, and words for what is not known, not there or not meant to be named.
_VAGUE: Final = words_of("""
anywhere everywhere somewhere nowhere elsewhere here there home abroad default unknown undefined unnamed nil null blank
empty random yes ok okay please thanks
hier dort drüben überall irgendwo irgendwohin nirgendwo nirgendwohin nirgends anderswo woanders zuhause daheim heim
standard unbekannt leer zufällig beliebig nochmal nochmals ja bitte danke
ici là là-bas ailleurs partout n'importe inconnu inconnue vide hasard oui merci
aquí acá allí allá ahí doquier desconocido desconocida vacío vacía azar gracias
stop wait cancel abort undo skip ignore forget stopp warte abbrechen storniere vergiss arrête attends annule oublie
para espera cancela ignora olvida
christmas easter thanksgiving weihnachten ostern pfingsten silvester noël pâques pentecôte navidad pascua nochebuena
""")
#: What amounts are counted in: another one is another amount.
_UNITS: Final = words_of("""
eur usd gbp chf jpy cny inr cad aud sek nok dkk pln czk huf brl mxn zar btc euro euros dollar dollars pound pounds
yen franc francs kg g mg lb lbs oz t km m cm mm mi mile miles ft in inch inches yd l ml gal kb mb gb tb percent celsius
fahrenheit kelvin degrees second seconds minute minutes hour hours day days week weeks month months year years
sekunde sekunden minute minuten stunde stunden tag tage woche wochen monat monate jahr jahre meter liter gramm kilo
prozent grad seconde secondes heure heures jour jours semaine semaines mois an ans segundo segundos minuto minutos
hora horas día días semana semanas mes meses año años
""")
_MOVING: Final = re.compile(
    r"\b(?:now|today|tonight|tomorrow|yesterday|current(?:ly)?|latest|recent(?:ly)?|next|last|past|this|ago|soon|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|noon|midnight|weekend|"
    r"jetzt|gestern|vorgestern|heute|morgen|\u00fcbermorgen|nächste[nrs]?|letzte[nrs]?|diese[nrs]?|vor|seit|bald|"
    r"maintenant|aujourd|demain|hier|prochaine?s?|derni(?:er|\u00e8re)s?|cette?|ce|depuis|bient\u00f4t|"
    r"ahora|hoy|mañana|ayer|anteayer|pr\u00f3xim[oa]s?|\u00faltim[oa]s?|est[ea]|pasad[oa]|desde|hace|pronto|"
    r"in\s+(?:an?|\d+|one|two|three|four|five|six|seven|eight|nine|ten|a\s+few)\s+"
    r"(?:sec|min|hour|day|week|month|year)\w*|in\s+(?:einer?|einem|\d+|zwei|drei)\s+"
    r"(?:sek|min|stunde|tag|woche|monat|jahr)\w*|dans\s+(?:une?|\d+|deux|trois)\s+\w+|"
    r"(?:dentro\s+de|en)\s+(?:una?|\d+|dos|tres)\s+(?:seg|min|hora|día|dia|semana|mes|año)\w*)\b",
    re.IGNORECASE,
)
#: Digits of other scripts are read by few tools.
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*", re.ASCII)
_DATED: Final = re.compile(r"\d+(?:[-/:.T]\d+)+Z?", re.ASCII)
_MAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]*://\S+")
_HEX: Final = re.compile(r"(?=.*\d)[0-9a-f]{8,}(?:-[0-9a-f]{4,})*")
_PATH: Final = re.compile(r"(?P<root>/|~/|\./)?(?P<parts>[\w-][\w.-]*(?:/[\w-][\w.-]*)*)(?P<end>/?)")
_FILE: Final = re.compile(r"[\w./~-]*[\w-]\.(?=[A-Za-z])\w{1,5}")
_ID: Final = re.compile(r"[#@]?(?=[^\d]*\d)[\w.-]+")
_HANDLE: Final = re.compile(r"([@#])[^\W\d][\w-]*")
_LETTERS: Final = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_QUOTES: Final = frozenset("\"'`\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb")
_DIGITS: Final = re.compile(r"\d+")


def is_timeless(text: str) -> bool:
    """Whether the text means the same on any day."""
    return _MOVING.search(text) is None


def means_something(word: str) -> bool:
    """Whether the word says more than which thing: it denies, makes a condition, chooses, counts, points, says when."""
    plain = folded(word)
    return (
        plain in STOP
        or plain in _TELLING
        or plain in _VAGUE
        or plain in _UNITS
        or plain in PERIODS
        or plain in COMING
        or takes_back(word)
        or asks_for_more(word)
        or says_when(word)
        or not is_timeless(word)
    )


def may_vary(value: str, *, quoted: bool, strict: bool) -> bool:
    """Whether another value may stand in for this one.

    `quoted`: it stands in quotes in the request, so that its words are no words of the request. `strict`: words in
    lower case may not, which name a kind of thing as often as a thing.
    """
    tokens = value.split(" ")
    if not value or len(value) > _LONGEST or _has_quotes(value) or "" in tokens:
        return False
    if quoted and len(tokens) > 1:
        return not any(means_something(word) for word in _LETTERS.findall(value))
    return all(kind is not None and not (strict and not quoted and kind == "word") for kind in map(_kind, tokens))


def stands_in(new: str, old: str, *, quoted: bool) -> bool:
    """Whether the new value may stand in for the old one: of its kind, no longer, without a word that means more."""
    if new == old:
        return True
    mine, before = new.split(" "), old.split(" ")
    if len(mine) > len(before) or "" in mine or _has_quotes(new) or len(new) > _LONGEST:
        return False
    if quoted and len(before) > 1:
        return not any(means_something(word) for word in _LETTERS.findall(new))
    kinds = [_kind(token) for token in before]
    if set(kinds) == {"name"}:
        return all(_kind(token) == "name" for token in mine)
    return len(mine) == len(before) and all(
        kind is not None and _kind(token) == kind for token, kind in zip(mine, kinds, strict=True)
    )


def _has_quotes(text: str) -> bool:
    # An apostrophe inside a name is none.
    return any(sign in _QUOTES for sign in re.sub(r"(?<=\w)['\u2019](?=\w)", "", text))


_LONGEST: Final = 200


def _kind(token: str) -> str | None:
    """The kind of what one token names, which a token in its place has to be of; None: it is no name of a thing."""
    shape = _DIGITS.sub("9", token)
    if _NUMBER.fullmatch(token):
        # `007` and `1,000` are read in more than one way; `1.5` is no whole number.
        return f"number {shape}" if not (len(token) > 1 and token[0] == "0" and token[1].isdigit()) else None
    if _DATED.fullmatch(token):
        return f"date {re.sub(r'[0-9]', '9', token)}" if _is_possible(token) else None
    if _MAIL.fullmatch(token):
        return "address"
    if _URL.fullmatch(token):
        return _kind_of_url(token)
    if _HEX.fullmatch(token):
        return f"hex {re.sub(r'[0-9a-f]', 'x', token)}"
    if "/" in token or _FILE.fullmatch(token):
        return _kind_of_path(token)
    if _ID.fullmatch(token):
        # The letters say which kind of thing has the number.
        return f"id {shape}"
    if (handle := _HANDLE.fullmatch(token)) is not None:
        return None if means_something(token[1:]) else f"handle {handle[1]}"
    return _kind_of_word(token)


def _kind_of_url(token: str) -> str | None:
    try:
        place = urlsplit(token)
    except ValueError:
        return None
    return f"url {place.scheme}://{place.netloc} {_ending(place.path)}"


def _kind_of_path(token: str) -> str | None:
    found = _PATH.fullmatch(token)
    if found is None or ".." in token:
        return None
    return f"path {found['root'] or ''}{found['end']} {_ending(found['parts'])}"


def _ending(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].casefold() if "." in name.lstrip(".") else ""


def _kind_of_word(token: str) -> str | None:
    if _LETTERS.fullmatch(token.replace("_", "-").strip("-")) is None:
        return None
    if any(means_something(word) for word in (token, *re.split(r"[-_'\u2019]", token))):
        return None
    if token.islower():
        return "word"
    if token.isupper() and len(token) > 1:
        return f"letters {len(token)}"
    return "name" if token[0].isupper() else "identifier"


def _is_possible(token: str) -> bool:
    if re.fullmatch(r"\d{4}-\d\d-\d\d(?:T.*)?", token):
        try:
            date.fromisoformat(token[:10])
        except ValueError:
            return False
    return True
