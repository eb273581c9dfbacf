"""Codes of countries and languages that a request names in one of four languages: `Brasilien` is `BR`. Pure."""

from __future__ import annotations

from functools import cache
from typing import Final

from toolpath.checks.request.verbs import folded

#: Code: names in English, German, French and Spanish; an underscore joins the words of one.
_COUNTRIES: Final = """
AR argentina argentinien argentine
AT austria österreich autriche
AU australia australien australie
BE belgium belgien belgique bélgica
BR brazil brasilien brésil brasil
CA canada kanada canadá
CH switzerland schweiz suisse suiza
CL chile chili
CN china chine
CO colombia kolumbien colombie
CZ czechia tschechien tchéquie chequia
DE germany deutschland allemagne alemania
DK denmark dänemark danemark dinamarca
EG egypt ägypten égypte egipto
ES spain spanien espagne españa
FI finland finnland finlande finlandia
FR france frankreich francia
GB united_kingdom great_britain britain uk england großbritannien england royaume-uni angleterre reino_unido inglaterra
GR greece griechenland grèce grecia
HU hungary ungarn hongrie hungría
IE ireland irland irlande irlanda
IN india indien inde
IS iceland island islande islandia
IT italy italien italie italia
JP japan japon japón
KE kenya kenia
KR south_korea südkorea corée_du_sud corea_del_sur
LU luxembourg luxemburg luxemburgo
MA morocco marokko maroc marruecos
MX mexico mexiko mexique méxico
NG nigeria
NL netherlands the_netherlands holland niederlande pays-bas países_bajos holanda
NO norway norwegen norvège noruega
NZ new_zealand neuseeland nouvelle-zélande nueva_zelanda
PE peru pérou perú
PL poland polen pologne polonia
PT portugal
RO romania rumänien roumanie rumania
SE sweden schweden suède suecia
SG singapore singapur singapour
TH thailand thaïlande tailandia
TR turkey türkei turquie turquía
UA ukraine ucrania
US united_states usa us america vereinigte_staaten usa états-unis estados_unidos
VN vietnam
ZA south_africa südafrika afrique_du_sud sudáfrica
"""
_LANGUAGES: Final = """
ar arabic arabisch arabe árabe
cs czech tschechisch tchèque checo
da danish dänisch danois danés
de german deutsch allemand alemán
el greek griechisch grec griego
en english englisch anglais inglés
es spanish spanisch espagnol español castellano
fi finnish finnisch finnois finés
fr french französisch français francés
hi hindi
hu hungarian ungarisch hongrois húngaro
it italian italienisch italien italiano
ja japanese japanisch japonais japonés
ko korean koreanisch coréen coreano
nl dutch niederländisch néerlandais neerlandés holandés
no norwegian norwegisch norvégien noruego
pl polish polnisch polonais polaco
pt portuguese portugiesisch portugais portugués
ro romanian rumänisch roumain rumano
ru russian russisch russe ruso
sv swedish schwedisch suédois sueco
tr turkish türkisch turc turco
uk ukrainian ukrainisch ukrainien ucraniano
zh chinese chinesisch chinois chino mandarin
"""


def country_of(name: str) -> str | None:
    """The two letters of a country; None where the text names none."""
    plain = folded(name.strip())
    return plain.upper() if plain.upper() in _codes(_COUNTRIES) and name.isupper() else _named(_COUNTRIES).get(plain)


def language_of(name: str) -> str | None:
    """The two letters of a language; None where the text names none."""
    return _named(_LANGUAGES).get(folded(name.strip()))


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
