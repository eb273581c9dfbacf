"""Ids for the steps of a plan, made of the tools' names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.planner.offline.draft import Draft

_OTHER = re.compile(r"[^A-Za-z0-9_]")
_LONGEST = 100


def identified(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, each call with an id that no other has: `name`, `name_2`."""
    taken: set[str] = set(RESERVED | KEYWORDS)
    done: list[Draft] = []
    for draft in drafts:
        ids: list[str] = []
        for _ in draft.filling.calls:
            base = _OTHER.sub("_", draft.candidate.tool.name[:_LONGEST]) or "step"
            base = base if base[0].isalpha() or base[0] == "_" else f"_{base}"
            number, made = 1, base
            while made in taken:
                number += 1
                made = f"{base}_{number}"
            taken.add(made)
            ids.append(made)
        done.append(msgspec.structs.replace(draft, ids=tuple(ids)))
    return done
