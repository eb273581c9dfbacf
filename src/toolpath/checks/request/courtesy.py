"""Courtesies of a request, phrases of a closed list: thanks, haste, `when you get a chance`. Pure.

They are looked for whole. What is begun like one and has no end, as `once you have`, waits for something and stays.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

#: What stands behind a comma, or alone, and thanks or asks.
_THANKS: Final = (
    r"(?:many\s+)?thanks?(?:\s+(?:you|a\s+(?:lot|bunch|million)|so\s+much|very\s+much|ever\s+so\s+much|again|loads|heaps"
    r"|in\s+advance))*(?:\s+(?:mate|pal|love|dear|guys|team|folks|everyone|all))?"
    r"|cheers(?:\s+(?:mate|pal|love|all|guys))?|ta(?:\s+(?:very\s+)?much|\s+mate)?|much\s+appreciated"
    r"|(?:i(?:['\u2019]d|\s+would)?\s+)?(?:really\s+)?appreciate\s+it|(?:that(?:['\u2019]d|\s+would)|(?:it|that)\s+would|would|it['\u2019]d)"
    r"\s+be\s+(?:so\s+|very\s+|really\s+)?(?:great|lovely|nice|super|kind|perfect|brilliant|awesome|wonderful|appreciated)"
    r"|(?:please\s+)?(?:mate|pal|buddy|folks|guys)|no\s+(?:rush|hurry)"
    r"|danke(?:\s+(?:dir|euch|ihnen|sch[oö]n|sehr|vielmals|nochmals|schon(?:\s+mal)?|im\s+voraus))*"
    r"|(?:vielen|besten|herzlichen|lieben|tausend)\s+dank(?:\s+(?:dir|euch|ihnen|schon(?:\s+mal)?|im\s+voraus))*"
    r"|(?:das\s+)?w[äa]re\s+(?:sehr\s+|echt\s+)?(?:super|toll|nett|lieb|klasse|prima)|lg|mfg|(?:viele|liebe)\s+gr[üu](?:ße|sse)"
    r"|keine\s+eile|bitte(?:\s+sch[öo]n|\s+sehr)?"
    r"|(?:un\s+grand\s+|mille\s+)?mercis?(?:\s+(?:beaucoup|bien|infiniment|d['\u2019]avance|[àa]\s+(?:toi|vous)|mille\s+fois))*"
    r"|(?:ce|[çc]a)\s+serait\s+(?:super|gentil|sympa|bien|parfait)|bonne\s+journ[ée]e|s['\u2019]il\s+(?:te|vous)\s+pla[iî]t"
    r"|s[tv]p|pl[sz]|plss|th(?:x|anx)|t[kn][sx]|tysm"
    r"|(?:muchas\s+|mil\s+|muchísimas\s+)?gracias(?:\s+(?:por\s+adelantado|de\s+antemano|por\s+todo|a\s+todos))*"
    r"|te\s+lo\s+agradezco|por\s+favor|porfa(?:vor)?|xf[ai]|sin\s+prisas?"
)
#: What begins a sentence and asks kindly.
_KIND: Final = (
    r"(?:please\s+)?be\s+(?:so\s+(?:kind|good)|a\s+(?:dear|star|love|darling|sweetheart)|an\s+angel|kind\s+enough|good\s+enough"
    r"|nice)\s*(?:and|as\s+to|to|,)"
    r"|(?:please\s+)?do\s+me\s+a\s+(?:quick\s+|small\s+|huge\s+)?favou?r(?:\s+and|\s*[,:\u2013\u2014])"
    r"|sei(?:en\s+sie)?\s+(?:bitte\s+)?so\s+(?:gut|lieb|nett|freundlich)(?:\s*,)?(?:\s+und)?"
    r"|tu\s+mir\s+(?:bitte\s+)?(?:den|einen)\s+gefallen(?:\s*[,:])?(?:\s+und)?"
    r"|(?:sois|soyez)\s+(?:gentil(?:le)?s?|sympa)(?:\s*,|\s+et)|rends-moi\s+(?:un\s+)?service(?:\s*[,:]|\s+et)"
    r"|s[ée]\s+buen[oa](?:\s*,|\s+y)|hazme\s+un\s+favor(?:\s*[,:]|\s+y)"
)
#: Whenever it suits whoever is asked.
_WHENEVER: Final = (
    r"please\s+(?:mate|pal|love|dear|guys|folks)|(?:when(?:ever)?|once|as\s+soon\s+as)\s+you\s+"
    # `once you have`, `when you find`: of what, is not said.
    r"(?:can|could|get\s+to\s+it|(?:get|have|find)\s+(?:(?:an?|the|one)\s+(?:spare\s+|free\s+|quick\s+)?"
    r"(?:minute|min|moment|second|sec|chance|time)|(?:the\s+|some\s+)?time))|if\s+you\s+(?:can|could|please"
    r"|do\s*n['\u2019]?t\s+mind|would\s*n['\u2019]?t\s+mind|have\s+(?:a\s+(?:minute|moment|second)|time))|as\s+soon\s+as\s+possible"
    r"|wenn\s+du\s+(?:kannst|magst|(?:mal\s+)?(?:zeit|gelegenheit)\s+hast)|wenn\s+(?:sie|ihr)\s+(?:k[öo]nnen|k[öo]nnt)"
    r"|so(?:\s+|)(?:schnell|bald)\s+(?:wie|als)\s+m[öo]glich|sobald\s+(?:du\s+kannst|wie\s+m[öo]glich)"
    r"|(?:quand|d[èe]s\s+que|si)\s+(?:tu\s+peux|vous\s+pouvez|tu\s+as\s+(?:un\s+moment|le\s+temps)|vous\s+avez\s+(?:un\s+moment|le\s+temps))"
    r"|d[èe]s\s+que\s+possible|(?:le|au)\s+plus\s+(?:vite|t[ôo]t)(?:\s+possible)?"
    r"|(?:cuando|en\s+cuanto|si)\s+(?:puedas?|puedes|pueda[ns]?|tengas\s+(?:un\s+momento|tiempo))|lo\s+antes\s+posible|cuanto\s+antes"
)
#: Haste, of what is to be done anyway.
_HASTE: Final = (
    r"right\s+(?:now|away)|straight\s*away|at\s+once|immediately|a\.?s\.?a\.?p\.?|this\s+(?:instant|second)|now"
    r"|(?:jetzt\s+)?(?:sofort|umgehend|gleich)|jetzt|auf\s+der\s+stelle|tout\s+de\s+suite|imm[ée]diatement|maintenant"
    r"|ahora(?:\s+mismo)?|ya\s+mismo|de\s+inmediato|inmediatamente|enseguida"
)
#: Behind these words `now` is a time: `from now`, `bis jetzt`.
_NO_TIME: Final = "".join(
    rf"(?<!\b{word})"
    for word in re.findall(
        r"\S+", "for by until till from since to of even only just ab bis von seit de des dès jusqu'à desde hasta por"
    )
)
_FOR_NOW: Final = (
    r"for\s+(?:now|the\s+moment|the\s+time\s+being)|vorerst|f[üu]rs?\s+(?:erste|den\s+moment)|erst\s*(?:ein)?mal"
    r"|pour\s+(?:l['\u2019]instant|le\s+moment)|(?:por|de)\s+(?:ahora|momento)|por\s+el\s+momento"
)
_END: Final = r"(?=\s*(?:$|[.!?;,)\n\u2013\u2014]))"
_BEGIN: Final = r"(?:^|(?<=[.!?;\n])(?<!\n\n)\s)\s*"
_COURTESIES: Final = re.compile(
    # `tell her thanks` says what to tell, so a comma has to stand before it.
    rf"(?:(?:(?<=\S)\s*(?:,|\s[-\u2013\u2014])|(?<=[.!?;]))\s*(?:and\s+|und\s+|et\s+|y\s+)?"
    rf"(?:{_THANKS}|{_WHENEVER}|{_HASTE})(?:[,\s]+(?:{_THANKS}))*{_END}[!.]*"
    rf"|{_NO_TIME}(?<=[\w#])\s+(?:{_WHENEVER}|{_HASTE})(?:[,\s]+(?:{_THANKS}))*{_END}[!]*"
    rf"|{_BEGIN}(?:{_KIND})(?=\s)|{_BEGIN}(?:{_WHENEVER}|if\s+you\s+would)\s*,)",
    re.IGNORECASE,
)
_LATER: Final = re.compile(rf"(?<=[\w#]),?\s+(?:{_FOR_NOW}){_END}", re.IGNORECASE)


def says_for_now(text: str) -> str | None:
    """The words of a text that say how long for, and bind nobody: `for the time being`."""
    found = _LATER.search(text)
    return " ".join(found.group().strip(" ,").split()) if found is not None else None


@lru_cache(maxsize=256)
def without_courtesies(text: str, plain: str | None = None, *, for_now: bool = False) -> str:
    """The text with blanks in place of its courtesies; at least one word stays.

    `plain`: the text of the same length without what is quoted, in which nothing is looked for. `for_now`: what is said
    of how long for, and binds nobody, goes as well.
    """
    plain = text if plain is None else plain
    for pattern in (_COURTESIES, _LATER) if for_now else (_COURTESIES,):
        for found in reversed([*pattern.finditer(plain)]):
            start, end = found.span()
            left = plain[:start] + " " * (end - start) + plain[end:]
            if re.search(r"[^\W\d_]", left) is not None:
                plain, text = left, text[:start] + " " * (end - start) + text[end:]
    return text


#: Blanks of which each would be tried as the beginning of what ends a clause.
_WIDE: Final = re.compile(r"\s{40,}")


def closed_up(text: str, plain: str) -> tuple[str, str]:
    """Two texts of the same length, with one blank for very many that both have at the same place."""
    kept: list[slice] = []
    start = 0
    for found in _WIDE.finditer(plain):
        if text[found.start() : found.end()].isspace():
            kept.append(slice(start, found.start() + 1))
            start = found.end()
    kept.append(slice(start, len(plain)))
    return "".join(text[one] for one in kept), "".join(plain[one] for one in kept)
