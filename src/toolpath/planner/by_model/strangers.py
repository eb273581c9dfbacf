"""Addresses in a plan that nobody gave: a planner that writes one mixes this request up with another. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolpath.catalog.snapshot import Catalog
from toolpath.errors import Finding
from toolpath.model.plan import Call, Plan, every_step
from toolpath.model_output.page import visible
from toolpath.planner.records import PlanRequest
from toolpath.values import encode, walk

_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")


def stranger_findings(plan: Plan, request: PlanRequest, catalog: Catalog) -> Iterator[Finding]:
    """An error for each mail address in an input that neither the request nor the call's tool has.

    Other values may be worked out of a request, as a date is; an address of a person is there or is not.
    """
    given = (request.text + encode([request.context, request.inputs]).decode()).casefold()
    done = {step.id for step in request.kept}
    for at, step in every_step(plan.block):
        if not isinstance(step, Call) or step.id in done:
            continue
        tool = catalog.get(step.tool)
        known = given if tool is None else given + f"{tool.description} {encode(tool.input_schema).decode()}".casefold()
        for path, value in walk(step.inputs, f"{at}/inputs"):
            if not isinstance(value, str):
                continue
            for address in _ADDRESS.findall(value):
                if address.casefold() not in known:
                    yield Finding(
                        code="address_not_given",
                        severity="error",
                        message=f"The request does not name the address {visible(address)}.",
                        path=path,
                        hint="Take addresses from the request, or from the result of an earlier step.",
                    )
