"""Cues: words before a value that point to the parameter it is for. Pure."""

from __future__ import annotations

from typing import Final

from toolpath.checks.request.verbs import folded

_TITLED: Final = "titled entitled title titel titre título intitulé titulado"
#: Words before a value → what parameters they point to are called.
_POINTERS: Final = (
    (
        "from von aus desde de du depuis between zwischen entre since seit",
        "from origin source since base sender start check_in",
    ),
    (
        "to nach zu zum auf an into onto in à a au vers al hacia towards en",
        "to destination target into new folder until end base group course list class team club",
    ),
    ("until till bis jusqu'au jusque hasta and und et y -", "to until end check_out target"),
    ("as als comme como called named namens nommé", "name archive format label title target"),
    (
        "for für pour para",
        "passenger guest guests customer passengers label city reason name party people persons seats service class"
        " reference purpose memo system",
    ),
    ("in bei à en dans im", "city folder room repo near place course class namespace language ward building section"),
    ("at chez bei um", "company near time start"),
    ("near nahe près cerca around", "near"),
    ("of von de du der des del", "repo owner assignee customer"),
    ("with mit avec con", "guests name text email title resolution reason note"),
    ("by von par por", "owner sender author mode"),
    ("under below max höchstens maximal moins menos than", "max"),
    ("within", "radius"),
    ("because weil car porque", "reason"),
    ("where wo", "condition"),
    ("about über sur sobre", "content topic subject about query"),
    ("branch", "branch"),
    ("subject betreff objet asunto", "subject"),
    ("saying says text", "body text"),
    (_TITLED, "title subject name"),
    ("labelled label", "label"),
)


def _cues() -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for words, names in _POINTERS:
        for word in words.split():
            found[folded(word)] = found.get(folded(word), frozenset()) | {*names.split()}
    return found


CUES: Final = _cues()
"""Word → what parameters it points to are called."""
TITLED: Final = frozenset(map(folded, _TITLED.split()))
"""Words right before what a thing is called."""
LABELS: Final = frozenset(
    ("number", "nummer", "numero", "num", "no", "nr", "id", "code", "ending", "ends", "endend", "endet", "terminee")
)
"""Words before the number of a thing."""
WAYS: Final = frozenset(
    (
        "from",
        "von",
        "aus",
        "desde",
        "de",
        "du",
        "depuis",
        "to",
        "nach",
        "zu",
        "zum",
        "auf",
        "into",
        "onto",
        "a",
        "al",
        "hacia",
        "vers",
    )
)
"""Words that say from where to where, and nothing else."""
FIRSTS: Final = frozenset(("from", "start", "since", "after", "begin", "earliest", "first"))
"""Words in the name of a parameter for what begins a period."""
LASTS: Final = frozenset(("to", "end", "until", "before", "till", "latest", "last", "through"))
"""The same for what ends it."""
BY: Final = frozenset(("by", "before", "vor", "avant", "antes", "bis"))
"""Words before a day that ends a period."""
