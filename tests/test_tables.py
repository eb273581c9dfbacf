"""Tables that say all there is to say of a thing: each test fails with the list of what is missing."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path
from typing import get_args

from fastapi.routing import APIRoute
from tests.pages import table_rows

from toolpath.config import Settings, load_settings
from toolpath.engine.decide.starts import BEGINS
from toolpath.engine.state.fold import HANDLERS
from toolpath.model import events as ev
from toolpath.model.event_views import VIEWS
from toolpath.model.events import AnyEvent
from toolpath.model.plan import Common, Kind, Step
from toolpath.model.policy import missing as lacks
from toolpath.model.run import RunContext
from toolpath.model.tool import Requires
from toolpath.notation.reading.rules import REQUIRED_FLAGS, REQUIRED_LISTS
from toolpath.notation.tables import STEP, STEP_KINDS
from toolpath.projections.steps import CHANGES
from toolpath.providers.source_kinds import SOURCE_KINDS
from toolpath.server import rest
from toolpath.server.parts import Needs

#: They tell of something, and change nothing in a run.
TOLD_ONLY = {ev.StepProgress, ev.BudgetExceeded}
#: They change no step's result: what they tell is of the run, of its variables, or is said by another event, too.
NO_RESULT = {
    *(ev.RunStarted, ev.RunPaused, ev.RunResumed, ev.RunAuthorized, ev.RunCompleted, ev.RunFailed, ev.RunCancelled),
    *(ev.ToolsFrozen, ev.StateWritten, ev.BranchTaken, ev.InputRequested, ev.InputReceived),
    *(ev.BudgetExceeded, ev.PlanRevised, ev.Warned),
}


def test_each_event_is_folded_and_shown() -> None:
    events = set(get_args(AnyEvent))
    records = {event for event in vars(ev).values() if isinstance(event, type) and ev.Event in event.__bases__}
    missing = {
        "AnyEvent (model/events.py)": records - events,
        "HANDLERS (engine/state/fold.py)": events - set(HANDLERS) - TOLD_ONLY,
        "VIEWS (model/event_views.py)": events - set(VIEWS),
        "CHANGES (projections/steps.py)": events - set(CHANGES) - NO_RESULT,
    }
    assert {place: sorted(one.__name__ for one in left) for place, left in missing.items() if left} == {}
    assert not TOLD_ONLY & set(HANDLERS)
    assert not NO_RESULT & set(CHANGES)


def test_what_is_never_searched_for_secrets_is_a_field_of_an_event() -> None:
    fields = {name for event in get_args(AnyEvent) for name in event.__struct_fields__}
    assert {*fields, *ev.Failure.__struct_fields__} >= ev.NEVER_SECRET


def test_each_kind_of_source_has_a_setting_and_what_loads_it(tmp_path: Path) -> None:
    missing = []
    for kind in SOURCE_KINDS:
        if kind.setting not in Settings.__struct_fields__:
            missing.append(f"the setting {kind.setting} (config.py)")
        for reference in filter(None, (kind.loader, kind.restorer)):
            module, _, name = reference.partition(":")
            if not callable(getattr(importlib.import_module(module), name, None)):
                missing.append(reference)
    assert missing == []
    for kind in SOURCE_KINDS:
        # What is read from a file is meant from the place of the file of settings.
        if kind.metavar in ("FILE", "DIR"):
            (tmp_path / "toolpath.toml").write_text(f'{kind.setting} = ["some.thing"]')
            found = getattr(load_settings(tmp_path / "toolpath.toml", {}), kind.setting)
            assert found == (str(tmp_path / "some.thing"),), f"_is_path (config.py) does not know {kind.setting}"
    for each in ("setting", "option", "described"):
        named = [getattr(kind, each) for kind in SOURCE_KINDS]
        assert len(set(named)) == len(named), each


def test_each_requirement_on_callers_is_judged_and_can_be_written() -> None:
    # Whether a person must approve is no question of who calls.
    requirements = set(Requires.__struct_fields__) - {"approval"}
    nobody = RunContext(case_id="C-1", case_state="closed")
    wanted = {"auth": True, "session": True, "case": True, "permissions": ("x",), "case_states": ("open",)}
    page = (REFERENCE.parent / "howto" / "access.md").read_text(encoding="utf-8")
    missing = {
        "REQUIRED_FLAGS, REQUIRED_LISTS (notation/reading/rules.py)": requirements - {*REQUIRED_FLAGS, *REQUIRED_LISTS},
        "an example of it in this test": requirements - wanted.keys(),
        "missing (model/policy.py)": {
            name
            for name, value in wanted.items()
            if not lacks(Requires(**{name: value}), RunContext() if name == "case" else nobody)
        },
        "docs/howto/access.md": {name for name in requirements if not re.search(rf"\b{name}\b", page)},
    }
    assert {place: sorted(left) for place, left in missing.items() if left} == {}


#: Kinds that are compiled to calls.
CALLS = {"agent"}
ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
PLAN_PAGE = (REFERENCE / "plan.md").read_text(encoding="utf-8")
STRATEGIES = (ROOT / "tests" / "notation" / "plan_strategies.py").read_text(encoding="utf-8")
EXAMPLES = "".join(
    path.read_text(encoding="utf-8")
    for folder, kind in (("docs", "*.md"), ("examples", "*.yaml"), ("examples", "*.md"))
    for path in (ROOT / folder).rglob(kind)
)


def test_each_kind_of_step_is_read_printed_described_and_begun() -> None:
    records = {record.__struct_config__.tag: record for record in get_args(Step)}
    rows = {kind.word: kind for kind in STEP_KINDS}
    shown = {row[0].strip("`") for row in table_rows(PLAN_PAGE, "Step")}
    missing = {
        "STEP_KINDS (notation/tables.py)": records.keys() - rows.keys(),
        "Kind (model/plan.py)": {record.shape.kind for record in records.values()} - set(get_args(Kind)),
        "BEGINS (engine/decide/starts.py)": {record.shape.kind for record in records.values()} - set(BEGINS) - CALLS,
        "docs/reference/plan.md": records.keys() - shown,
        "an example in docs or examples": {word for word in records if not re.search(rf"\b{word}:\s", EXAMPLES)},
        "plans of the laws (tests/notation/plan_strategies.py)": {
            word for word, record in records.items() if not re.search(rf"\b{record.__name__}\(", STRATEGIES)
        },
    }
    headings = set(re.findall(r"^### (\w+)$", PLAN_PAGE, re.MULTILINE))
    missing["sections of docs/reference/plan.md"] = {
        kind.table.record.__name__ for kind in STEP_KINDS if not kind.is_inline
    } - headings
    for word, kind in rows.items():
        of_record = {name for name in records[word].__struct_fields__ if name not in Common.__struct_fields__}
        missing[f"fields of {word} (notation/tables.py)"] = of_record - {entry.target for entry in kind.table.entries}
        for _, _, attribute in records[word].shape.templates:
            if not hasattr(records[word], attribute):
                missing[f"shape of {word} (model/plan.py)"] = {attribute}
    missing["STEP (notation/tables.py)"] = set(Common.__struct_fields__) - {entry.target for entry in STEP.entries}
    assert {place: sorted(left) for place, left in missing.items() if left} == {}
    assert not CALLS & set(BEGINS)


def test_each_route_says_what_it_is_for_and_which_scope_it_needs() -> None:
    modules = [importlib.import_module(f"{rest.__name__}.{one.name}") for one in pkgutil.iter_modules(rest.__path__)]
    routes = [route for module in modules if hasattr(module, "router") for route in module.router.routes]
    shown = {
        row[0].strip("`"): row[2] for row in table_rows((REFERENCE / "rest.md").read_text(encoding="utf-8"), "Routes")
    }
    missing = []
    for route in routes:
        assert isinstance(route, APIRoute)
        for name in (f"{method} {route.path.replace(':path', '')}" for method in route.methods):
            scopes = {one.dependency.scope for one in route.dependencies if isinstance(one.dependency, Needs)}
            if name in shown and scopes != {shown[name]}:
                missing.append(f"{name}: scope {shown[name]} on the page, {scopes or None} in the code")
            if name not in shown and scopes:
                missing.append(f"{name}: docs/reference/rest.md")
            if not route.endpoint.__doc__:
                missing.append(f"{name}: docstring")
    assert len(routes) > 25
    assert missing == []
