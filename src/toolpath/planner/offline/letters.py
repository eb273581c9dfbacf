"""Letters in place of numbers: a formula is asked for, which no call gives. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.model.plan import Call, Plan, every_step
from toolpath.planner.offline.request.toolbox import Toolbox

_LETTER: Final = re.compile(r"(?<!\w)(['\"])[A-Za-z]\1(?!\w)")


def is_of_letters(text: str, plan: Plan, box: Toolbox) -> bool:
    """Whether letters stand for all numbers that the tool needs: a formula is asked for, which no call gives."""
    kits = {kit.key: kit for kit in box.kits}
    made = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    if len(made) != 1 or made[0].inputs or made[0].tool not in kits:
        return False
    needed = kits[made[0].tool].required
    letters = {found.group() for found in _LETTER.finditer(text)}
    return bool(needed) and len(letters) >= len(needed) and all(one.kind == "number" for one in needed)
