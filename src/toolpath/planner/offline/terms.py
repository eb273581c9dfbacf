"""Names that have a code of their own where a parameter wants the code: currencies and languages. Pure."""

from __future__ import annotations

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
    return text
