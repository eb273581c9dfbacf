"""`--dry-run`: what a run would call, as people and machines read it."""

from __future__ import annotations

import msgspec

from toolpath.catalog.snapshot import Catalog
from toolpath.checks.preview import Planned, planned
from toolpath.cli.exits import ExitCode
from toolpath.cli.output import Output, short
from toolpath.model.plan import Plan
from toolpath.values import JsonObject


def preview(plan: Plan, catalog: Catalog, inputs: JsonObject, output: Output) -> int:
    """Show what would be called, and say what nobody can know before the run."""
    entries = planned(plan, catalog, inputs)
    if output.options.json:
        output.result([msgspec.to_builtins(entry) for entry in entries])
        return ExitCode.DONE
    for entry in entries:
        output.paragraph(_line(entry))
    calls = [entry for entry in entries if entry.kind == "call" and entry.condition != "skipped"]
    writes = sum(entry.effect in ("write", "destructive") for entry in calls)
    output.say(f"{len(calls)} calls are planned, {writes} of them write; nothing was called.", "bold")
    open_ends = _open_ends(entries)
    if open_ends:
        output.say("Not known before the run: " + "; ".join(open_ends) + ".")
    return ExitCode.DONE


def _line(entry: Planned) -> str:
    depth = "  " * entry.path.count("/")
    name = entry.path.rpartition("/")[2]
    text = f"{depth}{name}  {entry.tool or entry.kind}"
    if entry.effect:
        text += f"  [{entry.effect}]"
    if entry.approval:
        text += "  [asks for approval]"
    if entry.condition:
        text += f"  [{entry.condition if entry.condition in ('runs', 'skipped') else f'when {entry.condition}'}]"
    if entry.kind == "loop":
        text += f"  over {entry.items} items" if entry.items is not None else f"  over {short(entry.inputs, 120)}"
    elif entry.inputs not in (None, {}):
        text += f"  {short(entry.inputs, 300)}"
    if entry.waits_for:
        text += f"  after {', '.join(entry.waits_for)}"
    return text


def _open_ends(entries: list[Planned]) -> list[str]:
    found = [
        f"whether {entry.path} runs"
        for entry in entries
        if entry.condition and entry.condition not in ("runs", "skipped")
    ]
    found += [f"how often {entry.path} loops" for entry in entries if entry.kind == "loop" and entry.items is None]
    return found
