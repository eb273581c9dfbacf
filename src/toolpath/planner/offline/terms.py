"""Names that are known by heart: currencies with their codes, states and countries, days of the week. Pure."""

from __future__ import annotations

import re

from toolpath.catalog.words import raw_words
from toolpath.checks.request.codes import COUNTRIES, LANGUAGES, country_of, language_of, takes_codes
from toolpath.planner.offline.slots import Slot

_CURRENCIES = {
    name: code
    for code, names in {
        "USD": "usd,us dollar,us dollars,dollar,dollars,american dollars,united states dollars,$",
        "EUR": "eur,euro,euros,€",
        "GBP": "gbp,british pound,british pounds,pound,pounds,pound sterling,pounds sterling,£",
        "JPY": "jpy,japanese yen,yen",
        "CNY": "cny,chinese yuan,yuan,renminbi",
        "INR": "inr,indian rupee,indian rupees,rupees",
        "CAD": "cad,canadian dollar,canadian dollars",
        "AUD": "aud,australian dollar,australian dollars",
        "CHF": "chf,swiss franc,swiss francs",
        "MXN": "mxn,mexican peso,mexican pesos",
        "KRW": "krw,korean won,south korean won",
        "BRL": "brl,brazilian real,brazilian reais",
        "RUB": "rub,russian ruble,russian rubles",
        "SEK": "sek,swedish krona",
        "NZD": "nzd,new zealand dollar,new zealand dollars",
        "SGD": "sgd,singapore dollar,singapore dollars",
        "ZAR": "zar,south african rand",
        "THB": "thb,thai baht,baht",
        "TRY": "try,turkish lira",
    }.items()
    for name in names.split(",")
}


def code_of(slot: Slot, text: str) -> str:
    """The code of the thing the text names where the parameter wants one, else the text."""
    if "currency" in slot.words:
        return _CURRENCIES.get(text.lower().strip(), text)
    words = raw_words(slot.name)
    if takes_codes(words, slot.description, LANGUAGES):
        return language_of(text) or text
    return (country_of(text) if takes_codes(words, slot.description, COUNTRIES) else None) or text


def is_currency(text: str) -> bool:
    """Whether it is the name, the sign or the code of a currency."""
    plain = text.strip()
    return plain.lower() in _CURRENCIES or (len(plain) == 3 and plain.isalpha() and plain.isupper())


#: A currency said in several words, as `Canadian dollars`.
CURRENCY = re.compile(
    r"\b(?:" + "|".join(sorted((name for name in _CURRENCIES if " " in name), key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
#: Every name and code of a currency, as a part of a pattern.
ANY_CURRENCY = "|".join(
    sorted((name for name in _CURRENCIES if name.replace(" ", "").isalpha()), key=len, reverse=True)
)
_REGIONS = frozenset(
    re.split(
        r",\s+",
        """alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, georgia, hawaii,
        idaho, illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan,
        minnesota, mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico,
        north carolina, north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina,
        south dakota, tennessee, texas, utah, vermont, virginia, west virginia, wisconsin, wyoming, usa, u.s.a, us,
        u.s, uk, u.k, uae, united states, united states of america, united kingdom, england, scotland, wales,
        ireland, france, germany, spain, portugal, italy, greece, austria, switzerland, belgium, netherlands,
        denmark, norway, sweden, finland, iceland, poland, czech republic, hungary, romania, bulgaria, croatia,
        serbia, turkey, russia, ukraine, israel, egypt, morocco, nigeria, kenya, south africa, ethiopia, ghana,
        india, pakistan, bangladesh, nepal, sri lanka, china, japan, south korea, korea, taiwan, vietnam, thailand,
        malaysia, indonesia, philippines, singapore, australia, new zealand, canada, mexico, brazil, argentina,
        chile, peru, colombia, cuba, jamaica, ontario, quebec, british columbia, alberta, queensland,
        new south wales, bavaria, tuscany, saudi arabia, iran, iraq, qatar""",
    )
)
#: Codes of states, as `Denver, CO`.
_STATE_CODES = frozenset(
    re.findall(
        r"\S+",
        """AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK
        OR PA RI SC SD TN TX UT VT VA WA WV WI WY DC NSW BC ON QC UK""",
    )
)
_CALENDAR = frozenset(
    re.findall(
        r"\S+",
        """monday tuesday wednesday thursday friday saturday sunday january february march july september october
        november december""",
    )
)


def is_region(text: str) -> bool:
    """Whether it is a state or country, which after a comma belongs to the place before it."""
    plain = text.strip().rstrip(".")
    return plain in _STATE_CODES or plain.casefold() in _REGIONS


def is_calendar_name(text: str) -> bool:
    """Whether it is a day of the week or a month, and not the name of a person too, as April is."""
    return text.casefold() in _CALENDAR
