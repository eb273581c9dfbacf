"""The checker judged by gold plans: what is known to be wrong must be reported, what is right must pass."""

from __future__ import annotations

import re
from collections import Counter

import msgspec

from benchmarks.conversion import plan_data, tools_of
from benchmarks.records import Record, ToolData
from toolpath.catalog.registry import Registry
from toolpath.catalog.snapshot import Catalog
from toolpath.checks.check import check
from toolpath.errors import Finding
from toolpath.notation.plan import read_plan

#: A defect that does not contradict an open schema: the schema admits more arguments than it names.
_SURPLUS = "argument not in the schema"
_DEFECT = re.compile(r"(?P<step>[^:]+): (?P<what>.*)", re.DOTALL)


class Verdict(msgspec.Struct, kw_only=True):
    """What the checker said of one gold plan, and what it should have said."""

    record: str
    codes: dict[str, int] = {}
    """`severity code` → how often."""
    defects: int = 0
    reported: int = 0
    """Known defects that were reported: as errors, or as warnings where the schema is open."""
    faults: list[str] = []
    """Defects not reported, and errors in plans without defects."""


def catalog_of(described: list[tuple[str, ToolData]]) -> Catalog:
    """The described tools, as a plan is checked against them."""
    registry = Registry()
    for tool in tools_of(described):
        registry.add(tool)
    return registry.snapshot()


def judge(record: Record, catalog: Catalog) -> Verdict:
    """Check the record's gold plan against its own tools and compare with its known defects."""
    findings = check(read_plan(plan_data(record)), catalog)
    verdict = Verdict(record=record.id, defects=len(record.defects))
    verdict.codes = dict(Counter(f"{finding.severity} {finding.code}" for finding in findings))
    steps = {gold.step: number for number, gold in enumerate(record.gold_plan)}
    for defect in record.defects:
        if is_reported(defect, findings, steps):
            verdict.reported += 1
        else:
            verdict.faults.append(f"not reported: {defect}")
    if not record.defects:
        verdict.faults += [str(finding) for finding in findings if finding.severity == "error"]
    return verdict


def is_reported(defect: str, findings: list[Finding] | tuple[Finding, ...], steps: dict[str, int]) -> bool:
    """Whether a finding about the step of this defect says so with the severity that it deserves."""
    found = _DEFECT.fullmatch(defect)
    number = steps.get(found["step"]) if found else None
    enough = ("error", "warning") if _SURPLUS in defect else ("error",)
    return any(
        finding.severity in enough and (number is None or f"{finding.path}/".startswith(f"/steps/{number}/"))
        for finding in findings
    )
