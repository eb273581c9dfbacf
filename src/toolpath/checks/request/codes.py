"""Codes of countries and languages that a request names in one of four languages: `Brasilien` is `BR`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from toolpath.checks.request.verbs import folded

#: Code: names in English, German, French and Spanish; an underscore joins the words of one.
_COUNTRIES: Final = """
AR argentina argentinien argentine
AT austria österreich autriche
AU australia australien australie
BE belgium belgien belgique bélgica
BG bulgaria bulgarien bulgarie
BR brazil brasilien brésil brasil
BY belarus bielorrusia
CA canada kanada canadá
CH switzerland schweiz suisse suiza
CL chile chili
CN china chine
CO colombia kolumbien colombie
CR costa_rica
CU cuba kuba
CZ czechia tschechien tchéquie chequia
DE germany deutschland allemagne alemania
DK denmark dänemark danemark dinamarca
DZ algeria algerien algérie argelia
EC ecuador équateur
EE estonia estland estonie
EG egypt ägypten égypte egipto
ES spain spanien espagne españa
FI finland finnland finlande finlandia
FR france frankreich francia
GB united_kingdom great_britain britain uk england großbritannien england royaume-uni angleterre reino_unido inglaterra
GR greece griechenland grèce grecia
HR croatia kroatien croatie croacia
HU hungary ungarn hongrie hungría
ID indonesia indonesien indonésie
IE ireland irland irlande irlanda
IL israel israël
IN india indien inde
IS iceland island islande islandia
IT italy italien italie italia
JP japan japon japón
KE kenya kenia
KR south_korea südkorea corée_du_sud corea_del_sur
LT lithuania litauen lituanie lituania
LU luxembourg luxemburg luxemburgo
LV latvia lettland lettonie letonia
MA morocco marokko maroc marruecos
MX mexico mexiko mexique méxico
MY malaysia malaisie malasia
NG nigeria
NL netherlands the_netherlands holland niederlande pays-bas países_bajos holanda
NO norway norwegen norvège noruega
NZ new_zealand neuseeland nouvelle-zélande nueva_zelanda
PE peru pérou perú
PH philippines philippinen filipinas
PL poland polen pologne polonia
PT portugal
RO romania rumänien roumanie rumania
RS serbia serbien serbie
RU russia russland russie rusia
SA saudi_arabia saudi-arabien arabie_saoudite arabia_saudí
SE sweden schweden suède suecia
SG singapore singapur singapour
SI slovenia slowenien slovénie eslovenia
SK slovakia slowakei slovaquie eslovaquia
TH thailand thaïlande tailandia
TN tunisia tunesien tunisie túnez
TR turkey türkei turquie turquía
TW taiwan taïwan taiwán
UA ukraine ucrania
US united_states usa us america vereinigte_staaten usa états-unis estados_unidos
UY uruguay
VN vietnam
ZA south_africa südafrika afrique_du_sud sudáfrica
"""
_LANGUAGES: Final = """
ar arabic arabisch arabe árabe
bg bulgarian bulgarisch bulgare búlgaro
ca catalan katalanisch català catalán
cs czech tschechisch tchèque checo
da danish dänisch danois danés
de german deutsch allemand alemán
el greek griechisch grec griego
en english englisch anglais inglés
es spanish spanisch espagnol español castellano
et estonian estnisch estonien estonio
eu basque baskisch vasco euskera
fa persian farsi persisch persan persa
fi finnish finnisch finnois finés
fr french französisch français francés
ga irish irisch irlandais irlandés
he hebrew hebräisch hébreu hebreo
hi hindi
hr croatian kroatisch croate croata
hu hungarian ungarisch hongrois húngaro
id indonesian indonesisch indonésien indonesio
is icelandic isländisch islandais islandés
it italian italienisch italien italiano
ja japanese japanisch japonais japonés
ko korean koreanisch coréen coreano
la latin lateinisch latein latín
lt lithuanian litauisch lituanien lituano
lv latvian lettisch letton letón
nl dutch niederländisch néerlandais neerlandés holandés
no norwegian norwegisch norvégien noruego
pl polish polnisch polonais polaco
pt portuguese portugiesisch portugais portugués
ro romanian rumänisch roumain rumano
ru russian russisch russe ruso
sk slovak slowakisch slovaque eslovaco
sl slovenian slovene slowenisch slovène esloveno
sq albanian albanisch albanais albanés
sr serbian serbisch serbe serbio
sv swedish schwedisch suédois sueco
sw swahili suaheli suajili
th thai thailändisch thaï tailandés
tr turkish türkisch turc turco
uk ukrainian ukrainisch ukrainien ucraniano
ur urdu
vi vietnamese vietnamesisch vietnamien vietnamita
zh chinese chinesisch chinois chino mandarin
"""


def country_of(name: str) -> str | None:
    """The two letters of a country; None where the text names none."""
    plain = folded(name.strip())
    return plain.upper() if plain.upper() in _codes(_COUNTRIES) and name.isupper() else _named(_COUNTRIES).get(plain)


def language_of(name: str) -> str | None:
    """The two letters of a language, inflected or not; None where the text names none."""
    plain, named = folded(name.strip()), _named(_LANGUAGES)
    forms = (plain, *(plain.removesuffix(one) for one in _INFLECTED if plain.endswith(one)))
    return next((named[one] for one in forms if one in named), None)


#: `ins Polnische`, `aus dem Deutschen`, `version anglaise`, `edición inglesa`, `italienne`.
_INFLECTED: Final = ("en", "er", "es", "em", "e", "as", "a", "s", "ne")


def codes_of(words: str) -> frozenset[str]:
    """The codes, folded, of the language or country that a word names, or of those that it joins: `German-Polish`."""
    named = [(language_of(one), country_of(one)) for one in re.split(r"[-/]", words)]
    if not all(map(any, named)):
        named = [(language_of(words), country_of(words))]
    return frozenset(code.casefold() for row in named for code in row if code is not None)


LANGUAGES: Final = frozenset(("language", "languages", "lang", "langue", "sprache", "idioma", "locale"))
"""Words in the name of a parameter that takes a language."""
COUNTRIES: Final = frozenset(("country", "nation", "nationality", "land", "pays", "país"))
"""The same of a country."""
#: How a description says that a code is taken: `ISO 639-1 code such as 'en'`.
_CODED: Final = re.compile(r"\biso[ -]?(?:639|3166)|\b(?:two|2)[- ]letters?\b|['\"`(][a-z]{2}['\"`)]", re.IGNORECASE)


def takes_codes(words: Sequence[str], description: str, things: frozenset[str], *, is_coded: bool = False) -> bool:
    """Whether a parameter whose name has these words takes a code of such a thing, and not its name."""
    return bool({*words} & things) and (is_coded or _CODED.search(description) is not None)


def is_language(code: str) -> bool:
    """Whether the letters stand for a language."""
    return code in _codes(_LANGUAGES)


@cache
def _named(table: str) -> dict[str, str]:
    return {
        folded(name.replace("_", " ")): code
        for code, *names in (line.split() for line in table.strip().splitlines())
        for name in names
    }


@cache
def _codes(table: str) -> frozenset[str]:
    return frozenset(line.split()[0] for line in table.strip().splitlines())
