"""Tables that say all there is to say of a thing: each test fails with the list of what is missing."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from fastapi.routing import APIRoute
from tests.pages import table_rows
from ui.event_texts import event_texts

from toolpath.agents.offers import Offers
from toolpath.checks.check import RULES
from toolpath.checks.shapes import of_field
from toolpath.cli.models import commands as model_commands
from toolpath.config import Settings, load_settings
from toolpath.engine.decide.people import read_answers
from toolpath.engine.decide.starts import BEGINS
from toolpath.engine.drive.commits import FRESH
from toolpath.engine.state.fold import HANDLERS, TOLD_ONLY
from toolpath.errors import SchemaError
from toolpath.json_schema.validate import Validator
from toolpath.model import events as ev
from toolpath.model.agent import FORM_INPUT, AgentTask
from toolpath.model.event_views import VIEWS
from toolpath.model.events import AnyEvent
from toolpath.model.forms import FIELD_TYPES, FieldWord
from toolpath.model.model_providers import APIS, MODEL_PROVIDERS
from toolpath.model.plan import Ask, Common, Kind, Step
from toolpath.model.policy import missing as lacks
from toolpath.model.run import RunContext, RunInfo, StepStatus
from toolpath.model.tool import Requires
from toolpath.notation.plan import read_plan
from toolpath.notation.tables import STEP, STEP_KINDS
from toolpath.ports import Store
from toolpath.projections import sub_plans
from toolpath.providers.source_kinds import SOURCE_KINDS
from toolpath.recovery import timing
from toolpath.server import rest
from toolpath.server.mcp.questions import elicitation_of, may_be_elicited
from toolpath.server.parts import Needs
from toolpath.server.rest.bodies import BODIES, Sent
from toolpath.server.rest.operation_views import OPERATION_VIEWS
from toolpath.server.rest.views import VIEWS as REST_VIEWS
from toolpath.server.rest.views import RestView, RunRow
from toolpath.values import Json, JsonObject


def test_each_event_is_folded_and_shown() -> None:
    events = set(get_args(AnyEvent))
    records = {event for event in vars(ev).values() if isinstance(event, type) and ev.Event in event.__bases__}
    missing = {
        "AnyEvent (model/events.py)": records - events,
        "HANDLERS or TOLD_ONLY (engine/state/fold.py)": events - set(HANDLERS) - TOLD_ONLY,
        "VIEWS (model/event_views.py)": events - set(VIEWS),
    }
    assert {place: sorted(one.__name__ for one in left) for place, left in missing.items() if left} == {}
    assert not TOLD_ONLY & set(HANDLERS)


def test_each_event_and_each_status_has_its_words_in_every_language() -> None:
    texts = ROOT / "ui" / "src" / "texts"
    statuses = {view.status for view in VIEWS.values() if isinstance(view.status, str) and view.status}
    # In English an event says what its view says: the service hands it to the page.
    missing = {"zh of VIEWS (model/event_views.py)": {event.__name__ for event, view in VIEWS.items() if not view.zh}}
    assert (texts / "events.zh.ts").read_text(encoding="utf-8") == event_texts(), "make ui"
    for name in ("en.ts", "zh.ts"):
        words = (texts / name).read_text(encoding="utf-8").partition("  states: {")[2].partition("}")[0]
        missing[f"states (ui/src/texts/{name})"] = statuses - set(re.findall(r"^    (\w+): '.", words, re.M))
    assert {place: sorted(left) for place, left in missing.items() if left} == {}
    assert not any("text" in event.__struct_fields__ for event in VIEWS), "a list of events gives each its `text`"


def test_each_status_that_an_event_of_a_step_brings_is_one_of_its_result() -> None:
    told = {
        view.status
        for event, view in VIEWS.items()
        if str(event.__struct_config__.tag).startswith("step.") and isinstance(view.status, str) and view.status
    }
    known = set(get_args(StepStatus))
    missing = {
        # Between two attempts a step runs.
        "StepStatus (model/run.py)": told - known - {"retrying"},
        "_STATUS (projections/sub_plans.py)": known - set(sub_plans._STATUS),
    }
    assert {place: sorted(left) for place, left in missing.items() if left} == {}


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
            assert found == (str(tmp_path / "some.thing"),), f"{kind.setting} is no FilePath (config.py)"
    for each in ("setting", "option", "described"):
        named = [getattr(kind, each) for kind in SOURCE_KINDS]
        assert len(set(named)) == len(named), each


def test_each_provider_of_models_is_known_offered_and_described() -> None:
    described = (REFERENCE.parent / "howto" / "models.md").read_text(encoding="utf-8")
    drawn = (ROOT / "ui" / "src" / "models" / "ModelsView.vue").read_text(encoding="utf-8")
    offered = get_args(model_commands._Api)[1].help.partition(".")[0]
    missing = {
        "MODEL_PROVIDERS (model/model_providers.py)": set(APIS) ^ set(MODEL_PROVIDERS),
        "docs/howto/models.md": {name for name in APIS if f"`{name}`" not in described},
        # Help is printed before any record is loaded.
        "_Api (cli/models/commands.py)": set(APIS) ^ set(re.findall(r"[\w-]+", offered)),
        "ui/src/models/ModelsView.vue": {name for name in APIS if f"'{name}'" not in drawn},
    }
    assert {place: sorted(left) for place, left in missing.items() if left} == {}


def test_each_requirement_on_callers_is_judged_and_can_be_written() -> None:
    # Whether a person must approve is no question of who calls.
    requirements = set(Requires.__struct_fields__) - {"approval"}
    nobody = RunContext(case_id="C-1", case_state="closed")
    wanted = {"auth": True, "session": True, "case": True, "permissions": ("x",), "case_states": ("open",)}
    page = (REFERENCE.parent / "howto" / "access.md").read_text(encoding="utf-8")
    missing = {
        "an example of it in this test": requirements - wanted.keys(),
        "missing (model/policy.py)": {
            name
            for name, value in wanted.items()
            if not lacks(Requires(**{name: value}), RunContext() if name == "case" else nobody)
        },
        "docs/howto/access.md": {name for name in requirements if not re.search(rf"\b{name}\b", page)},
    }
    assert {place: sorted(left) for place, left in missing.items() if left} == {}


#: What a person may answer to a field of each type without options.
ANSWERS: dict[str, Json] = {
    **dict.fromkeys(FIELD_TYPES, "some text"),
    "number": 2.5,
    "integer": 2,
    "checkbox": True,
    "date": "2031-05-30",
    "email": "ann@example.org",
    "file": {"path": "tea.csv", "name": "tea.csv", "size": 3, "type": "text/csv"},
}


@pytest.mark.parametrize("name", FIELD_TYPES)
@pytest.mark.parametrize("options", [(), ("a", "b")], ids=["typed", "chosen"])
def test_each_type_of_a_field_is_the_same_at_every_door(name: FieldWord, options: tuple[str, ...]) -> None:
    kind = FIELD_TYPES[name]
    is_chosen = bool(options) and kind.is_chosen
    several = is_chosen and kind.chooses_several
    answer: Json = ["a"] if several else "a" if is_chosen else ANSWERS[name]
    step: JsonObject = {"id": "a", "ask": {"title": "T", "inputs": [{"name": "f", "type": name}]}}
    if options:
        step["ask"]["inputs"][0]["options"] = list(options)
    plan = read_plan({"steps": [step]})
    (ask,) = plan.steps
    assert isinstance(ask, Ask)
    (field,) = ask.fields
    # What is checked before is what an answer is taken for, and what a client over MCP is told to give.
    wrong: Json = "c" if is_chosen else ["no", "text"]
    assert read_answers(ask.form, {"f": answer}) == {"f": answer}
    with pytest.raises(SchemaError):
        read_answers(ask.form, {"f": wrong})
    question = ev.InputRequested(1, 0.0, "a", ask.form)
    asked = [of_field(field)]
    assert may_be_elicited(question) is not (kind.is_secret or kind.is_file)
    if may_be_elicited(question):
        asked.append(elicitation_of(question).requested_schema["properties"]["f"])
    for schema in asked:
        assert Validator(schema).accept(answer) == answer
        with pytest.raises(SchemaError):
            Validator(schema).accept(wrong)


def test_each_type_of_a_field_is_listed_where_it_is_read_offered_shown_and_described() -> None:
    described = (REFERENCE.parent / "howto" / "people.md").read_text(encoding="utf-8").partition("Types of fields:")[2]
    (row,) = (row for row in table_rows(PLAN_PAGE, "Field") if row[0] == "`type`")
    task = AgentTask(requirement="x", may_ask=True)
    (offer,) = (spec for spec in Offers(task).specs if spec.name == FORM_INPUT)
    offered = offer.input_schema["properties"]["inputs"]["items"]["properties"]["type"]["enum"]
    drawn = "".join(
        (ROOT / "ui" / "src" / "people" / name).read_text(encoding="utf-8") for name in ("FieldInput.vue", "forms.ts")
    )
    # A text, and a whole number, are drawn as what is left.
    left = {"text", "integer"}
    missing = {
        "FieldWord (model/forms.py)": set(FIELD_TYPES) ^ set(get_args(FieldWord)),
        "agents/offers.py": set(FIELD_TYPES) ^ set(offered),
        "docs/reference/plan.md": set(FIELD_TYPES) ^ set(re.findall(r"`(\w+)`", row[1])),
        "docs/howto/people.md": {name for name in FIELD_TYPES if f"`{name}`" not in described.partition("\n\n")[0]},
        "ui/src/people/FieldInput.vue": {name for name in FIELD_TYPES if f"'{name}'" not in drawn} - left,
        "ANSWERS (this test)": set(FIELD_TYPES) ^ set(ANSWERS),
    }
    assert {place: sorted(names) for place, names in missing.items() if names} == {}


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


def test_each_rule_names_the_findings_that_it_gives() -> None:
    page = (REFERENCE / "findings.md").read_text(encoding="utf-8")
    # Those of the language of expressions are many: its parser names them.
    named = {rule.__name__: rule.__doc__ or "" for rule in RULES if rule.__name__ != "expressions_are_sound"}
    found = {name: re.match(r"((?:\w+, )*\w+): ", text) for name, text in named.items()}
    missing = {
        "codes at the beginning of its docstring": {name for name, codes in found.items() if codes is None},
        "docs/reference/findings.md": {
            code for codes in found.values() if codes for code in codes[1].split(", ") if f"`{code}`" not in page
        },
    }
    assert {place: sorted(left) for place, left in missing.items() if left} == {}


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


#: Every answer.
SHOWN = (*REST_VIEWS, *OPERATION_VIEWS)


def _kinds_of(record: type) -> set[type]:
    """The records that are made of this one, in modules of `server/rest/`."""
    found = set(record.__subclasses__())
    return {each for each in found.union(*map(_kinds_of, found)) if each.__module__.startswith(rest.__name__)}


def test_each_body_and_each_view_of_rest_is_described() -> None:
    for module in pkgutil.iter_modules(rest.__path__):
        importlib.import_module(f"{rest.__name__}.{module.name}")
    # What others hold is described with them.
    described = {name for records in (BODIES, SHOWN) for name in msgspec.json.schema_components(records)[1]}
    missing = {
        "BODIES (server/rest/bodies.py)": {one.__name__ for one in _kinds_of(Sent)} - described,
        "VIEWS (server/rest/views.py)": {one.__name__ for one in _kinds_of(RestView)} - described,
    }
    assert {place: sorted(left) for place, left in missing.items() if left} == {}
    names = [one.__name__ for one in (*BODIES, *SHOWN)]
    assert sorted(set(names)) == sorted(names)


#: What a run's row has for those who drive it alone: no surface shows it.
NOT_SHOWN = {"epoch", "driver", "driver_seen_at", "idempotency_key", "intent"}
#: What a run's row comes to later: a store need not write it with a new one.
NOT_INSERTED = {"last_seq", "intent"}


@pytest.mark.parametrize("store", ["sqlite", "postgres"])
def test_each_field_of_a_runs_row_is_written_and_read_by_each_store(store: str) -> None:
    fields = set(RunInfo.__struct_fields__)
    statements = (ROOT / "src" / "toolpath" / "store" / store / "queries.sql").read_text(encoding="utf-8")
    (inserted,) = re.findall(r"INSERT INTO runs \((.*?)\)", statements, re.DOTALL)
    assert fields - set(re.findall(r"\w+", inserted)) <= NOT_INSERTED
    selected = re.findall(r"SELECT (run_id, name,.*?)\s+FROM listed", statements, re.DOTALL)
    assert len(selected) > 4
    assert [fields ^ set(re.findall(r"\w+", columns)) for columns in selected] == [set()] * len(selected)
    migrations = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src" / "toolpath" / "store" / store / "migrations").glob("*.sql")
    )
    assert {name for name in fields if not re.search(rf"\b{name}\b", migrations)} == set()


def test_each_field_of_a_runs_row_is_shown_or_said_to_be_none_for_people() -> None:
    fields = set(RunInfo.__struct_fields__)
    assert fields - NOT_SHOWN == set(RunRow.__struct_fields__)
    bounds = {"limit", "before", "since", "until"}
    filters = set(inspect.signature(Store.list_runs).parameters) - {"self"} - bounds
    assert filters <= set(RunRow.__struct_fields__)


def test_nobody_counts_a_driver_as_gone_while_its_last_commit_shows_that_it_drives() -> None:
    gone_after = (timing.SILENT, timing.DISCONNECTED, timing.SEEN_WITHIN, timing.SWEPT_AFTER, timing.TAKEN_UP_AFTER)
    assert min(gone_after) >= FRESH
