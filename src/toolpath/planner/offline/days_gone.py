"""Days that are over, where what is to come is fixed: `Move V-3 to 2020-03-05`. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import date

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.request.ends_of_periods import lasts_to
from toolpath.checks.request.origins import is_planning
from toolpath.model.plan import Call, Plan, every_step


def days_gone(plan: Plan, catalog: Catalog, today: date | None) -> Iterator[str]:
    """A question for each day before today to which something is to last, or that a call takes which books or moves."""
    for _, step in every_step(plan.block) if today is not None else ():
        tool = catalog.get(step.tool) if isinstance(step, Call) else None
        if not isinstance(step, Call) or tool is None or tool.is_read:
            continue
        names = step.inputs if is_planning(tool) else [*filter(lasts_to, step.inputs)]
        for name in names:
            value = step.inputs[name]
            with contextlib.suppress(ValueError):
                if isinstance(value, str) and today is not None and date.fromisoformat(value[:10]) < today:
                    yield f"{step.id}: {value!r} is over. Which day is meant for {name!r}?"
