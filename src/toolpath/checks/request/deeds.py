"""What is said of a deed that was commanded, and is no reason for it: somebody does it, it is off, all is well. Pure.

`Tom took care of it`, `it's on hold` and `das macht Tom` stand beside a command as reasons do. What tells them apart is
that `it` is the deed: it is what somebody does or sees to, and what is good, off, late or an idea.
"""

from __future__ import annotations

import re
from typing import Final

_IT: Final = r"(?:that|it|this|das|es|dies|ça|cela|lo|eso|esto)"
#: It is done, forbidden or thought over, or the reverse of it holds.
_DONE: Final = re.compile(
    rf"\b(?:{_IT}|already|schon|bereits|déjà|ya)\b.{{0,20}}"
    r"\b(?:done|gemacht|getan|geschehen|erledigt|faite?|hech[oa]|hice|hizo|hicieron)\b"
    r"|\bl['\u2019](?:ai|as|a|avons|ont)\s+(?:\w+\s+)?faite?\b|^c['\u2019]est\s+(?:déjà\s+)?faite?\b"
    r"|\bchang\w*\s+(?:my|his|her|our|their)\s+minds?\b|\banders\s+(?:überlegt|entschieden)\b|\büberleg\w*"
    r"|\bchang\w+\s+d['\u2019](?:avis|idée)\b|\bréfléchi\w*|\bcambi\w+\s+de\s+(?:idea|opinión|parecer)\b|\bpensarlo\b"
    r"|\b(?:opposite|reverse|gegenteil|contraire|contrario)\b"
    r"|\b(?:forbidden|prohibited|banned|taboo|verboten|untersagt|tabu|interdite?s?|prohibid[oa]s?)\b|\boff[\s-]limits\b"
    r"|\b(?:did|does|done)\s+(?:it|that|this|so)\b|^(?:(?:it|that|this)\s+)?(?:has\s+)?(?:just\s+|already\s+)?happened\b"
    # What somebody did or will do is not said again: `Tom did.`
    r"|^(?:[^\W\d_]+\s+){1,2}(?:already\s+|just\s+)?(?:did|does|has|have|had|will)\W*$"
    r"|^(?:ich|du|er|sie|wir|(?-i:[A-ZÄÖÜ])[^\W\d_]+)\s+(?:hat|habe|haben|wird|werde)(?:\s+(?:schon|bereits))?\W*$"
    r"|^(?:it|that|this)\s+(?:won['\u2019]t|will\s+not|isn['\u2019]t\s+going\s+to)\s+happen\b",
    re.IGNORECASE,
)
#: Somebody does it or sees to it: who is asked need not.
_SEEN_TO: Final = re.compile(
    r"\b(?:takes?|took|taken|taking)\s+care\s+of\s+(?:it|that|this)\b"
    r"|\b(?:deals?|dealt|dealing)\s+with\s+(?:it|that|this)\b|\b(?:sees?|saw|seen|seeing)\s+to\s+(?:it|that|this)\b"
    r"|\b(?:do|does|doing|handl(?:e|es|ed|ing)|got|sort(?:s|ed|ing)?|manag(?:e|es|ed)|arranged?)\s+(?:it|that|this)"
    r"(?=\s*(?:$|[.,;!]|(?:today|yesterday|tomorrow|myself|himself|herself|themselves|this|last|now|already|out)\b))"
    r"|(?:\b(?:is|are|am)|['\u2019](?:s|m|re))\s+on\s+(?:it|that)\W*$"
    r"|\bbeat\s+(?:me|us|you)\s+to\s+it\b"
    r"|^(?:das|es)\s+(?:macht|erledigt|übernimmt|regelt|tut|kümmert)\s+(?!nichts|keine?n?\b|mir|mich|uns)\w+\W*$"
    r"|\b(?:mach\w*|erledig\w*|übern[ei]\w*|regel\w*|tu[et]?)\s+(?:das|es)\b(?:\s+(?:schon|selbst|selber|morgen|später|gerade))*\W*$"
    r"|\bkümmer\w*\s+(?:\w+\s+)?darum\b"
    r"|\b(?:m['\u2019]en|s['\u2019]en|nous\s+en)\s+(?:charg\w+|occup\w+)\b|\ble\s+(?:ferai|fera|ferons|fais|fait)\b"
    r"|\b(?:me|se|nos)\s+(?:encarg\w+|ocup\w+)\b|\blo\s+(?:har[éá]|haremos|hago|hace|hacemos)\b",
    re.IGNORECASE,
)
_BE: Final = r"(?:['\u2019]s|['\u2019]re|\s+(?:is|are|was|were|looks?|seems?))"
_WELL: Final = (
    r"(?:fine|good|ok|okay|alright|all\s+right|well|sorted|settled|handled|covered|cool|in\s+hand|under\s+control)"
)
#: What was asked for is refused: no reason to do it.
_REFUSED: Final = re.compile(
    r"^(?:(?:the|your|our|der|die|das|dein\w*|la|le|l['\u2019]|ta|votre|tu|su)\s*)?"
    r"(?:request|approval|permission|application|antrag|anfrage|freigabe|genehmigung|erlaubnis|demande|autorisation|permission"
    r"|accord|solicitud|petición|permiso|aprobación)\s+(?:(?:is|was|has\s+been|ist|wurde|est|a\s+été|es|fue|ha\s+sido)\s+)?"
    r"(?:denied|rejected|refused|declined|withdrawn|revoked|blocked|abgelehnt|verweigert|zurückgezogen|widerrufen"
    r"|refusée?|rejetée?|retirée?|rechazad[oa]|denegad[oa]|retirad[oa])\W*$",
    re.IGNORECASE,
)
#: `The boss forbids that`: what `that` points to is the deed, and who wants it gives a reason.
_ENDS_ON_IT: Final = re.compile(
    r"(?<!\w)(?!(?:wants?|wanted|needs?|needed|for|likes?|liked|prefers?|requested|requests|about|like|braucht?|möchte|wünscht"
    r"|verlangt|veut|voulait|demande|quiere|pide|pidió|necesita|so|wie|comme|como)\b)[^\W\d_]+\s+"
    r"(?:that|this|das|dies|ça|cela|eso|esto)\W*$",
    re.IGNORECASE,
)
#: All is well, or nothing is decided: there is nothing to be done now.
_LEFT_BE: Final = re.compile(
    r"^(?:(?:it|that|this|all|everything|er|sie|es|das|il|elle|ça)\s+)?(?:stays|remains|bleibt|reste|se\s+queda)"
    r"(?:\s+(?:here|put|there|hier|da|ici|là|aquí|ahí))?\W*$"
    r"|^(?:it|that|this)(?:['\u2019]s|\s+is)\s+(?:all\s+|entirely\s+)?up\s+to\s+[^\W\d_]+\W*$"
    r"|^all\s+(?:is\s+)?(?:good|sorted|done|set|settled|fine|well)\W*$|"
    rf"^(?:it|that|this|we|everything|all|things){_BE}\s+(?:all\s+|now\s+|just\s+)*{_WELL}"
    r"(?:\s+(?:now|again|here|with\s+us|as\s+(?:it|they|things)(?:['\u2019]s|\s+(?:is|are|were|was))|as\s+is|like\s+(?:this|that)|so\s+far))*\W*$"
    rf"|^(?:it|that|this|everything|all){_BE}\s+(?:on\s+hold|off\s+the\s+table|pending|open|undecided)\W*$"
    rf"|^(?:it|that|this){_BE}\s+(?:just\s+|only\s+|such\s+|really\s+)*an?\s+(?:\w+\s+)?"
    r"(?:idea|option|thought|suggestion|proposal|possibility|mistake|scam|hoax|typo|example)\W*$"
    r"|^(?:(?:the|our|my)\s+)?(?:plans?|deal)(?:['\u2019]s|\s+(?:is|are|was|were))\s+off\W*$"
    r"|^(?:(?:the|our|my)\s+)?plans?\s+(?:(?:has|have)\s+)?changed\W*$|^there['\u2019]?s\s+(?:a|been\s+a)\s+(?:new|change\s+of)\s+plans?\W*$"
    r"|^(?:es|alles)\s+(?:bleibt|ist|passt)\s+(?:\w+\s+)?(?:dabei|gut|bestens|wie\s+es\s+ist|so|in\s+ordnung|okay)\W*$"
    r"|^wir\s+werden\s+(?:\w+\s+)?sehen\W*$|\b(?:nehme|nehmen|ziehe|ziehen|nahm|zog)\s+(?:das|es|alles)\s+zurück\b"
    r"|^(?:c['\u2019]est|ça\s+va|tout\s+va|tout\s+est)\s+(?:très\s+)?(?:bon|bien|en\s+ordre)(?:\s+(?:comme\s+ça|ainsi|maintenant))*\W*$"
    r"|^c['\u2019](?:est|était)\s+(?:pour\s+rire|une\s+(?:blague|idée|suggestion|erreur|option)|à\s+\w+\s+d(?:e\s+|['\u2019])(?:décider|choisir|voir))"
    r"|\bme\s+(?:suis\s+)?rétract\w+|\bme\s+suis\s+tromp\w+|\breviens\s+(?:là-dessus|sur)\b|\bretire\s+(?:ce\s+que|ça|cela)\b"
    r"|^(?:ya|todo|así)?\s*está(?:\s+(?:todo\s+|muy\s+)?(?:bien|listo|en\s+orden))?(?:\s+(?:así|ya|ahora))*\W*$"
    r"|^(?:es|era|fue)\s+(?:s[oó]lo\s+)?una?\s+(?:idea|sugerencia|broma|error|opción|propuesta)\b"
    r"|\bme\s+(?:retract|equivoqu)\w+|\bretir[oa]\s+lo\b",
    re.IGNORECASE,
)
#: It is said to whoever is asked, and its object is no subject: `Vergiss es.`, `Lassen Sie es.`
_LEAVE_IT: Final = re.compile(
    r"^(?:ach,?\s+|oh,?\s+)?(?:vergiss|vergesst|vergessen\s+sie|lass\w*|halt|stopp?|warte\w*|forget|leave|drop|skip|oublie\w*|laisse\w*"
    r"|olv[ií]d[ae]\w*|d[eé]j[ae]\w*)\b[\s,]*(?:es|das|sie|wir|it|that|this|sein|gut|mal|be|tomber|[cç]a|eso|así|\s)*\W*$"
    r"|^(?:nichts|nix)\s+da\W*$|^ach\s+(?:was|nein|nee|quatsch|egal)\W*$",
    re.IGNORECASE,
)
#: A laugh is no reason, and no form of `haber`.
_LAUGH: Final = re.compile(r"^(?:ha|he|hi|ja|je|jo)+(?:\W+(?:ha|he|hi|ja|je|jo)+)+\W*$", re.IGNORECASE)


def is_of_the_deed(text: str) -> bool:
    """Whether a statement is said of what was commanded itself, and not of how things stand."""
    said = text.strip()
    return any(one.search(said) is not None for one in _SAID_OF_IT)


_SAID_OF_IT: Final = (_DONE, _SEEN_TO, _LEFT_BE, _LEAVE_IT, _LAUGH, _REFUSED, _ENDS_ON_IT)
