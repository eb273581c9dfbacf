"""Planning anew or from what was planned before: cache, experiments, lessons."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.planner.planning_cases import BLOG, CREATE_AUTHOR, FETCH, SEARCH, answer, catalog_of, ground, reading

from toolpath.errors import ConfigError
from toolpath.model.plan import Call, Origin, Plan
from toolpath.planner.by_model.planner import plan_with_model
from toolpath.planner.by_model.shortlist import default_rank
from toolpath.planner.choose import Chooser
from toolpath.planner.learning.lessons import Lessons
from toolpath.planner.learning.patterns import pattern_of, with_values
from toolpath.planner.learning.plan_cache import PlanCache
from toolpath.planner.records import Ground, PlanningRecord, PlanningResult, PlanRequest
from toolpath.planner.scoring.experiment import Experiment
from toolpath.planner.scoring.intervals import newcombe, wilson
from toolpath.testing.clock import FakeClock
from toolpath.testing.scripted_chat import ScriptedChat
from toolpath.values import JsonObject

ALICE = "Create author Alice with email alice@test.com"


def author(name: str, email: str) -> Plan:
    step = Call(id="a", tool="blog.createAuthor", inputs={"name": name, "email": email})
    return Plan(steps=(step,), origin=Origin(request=ALICE, confidence=0.9))


def planned(plan: Plan, **record: Any) -> PlanningResult:
    return PlanningResult(plan=plan, record=PlanningRecord(request=plan.origin.request, **record))


def inputs_of(found: PlanningResult | None) -> JsonObject:
    assert found is not None
    (step,) = found.plan.steps
    assert isinstance(step, Call)
    return step.inputs


# The cache of plans.


@pytest.fixture
def cache() -> PlanCache:
    cache = PlanCache(FakeClock())
    assert cache.keep(PlanRequest(text=ALICE), BLOG, planned(author("Alice", "alice@test.com")))
    return cache


@pytest.mark.parametrize("text", [ALICE, f"  {ALICE}. ", "create  author Alice with email alice@test.com"])
def test_an_equal_request_has_the_same_plan(cache: PlanCache, text: str) -> None:
    found = cache.find(PlanRequest(text=text), BLOG)
    assert inputs_of(found) == {"name": "Alice", "email": "alice@test.com"}
    assert found is not None
    assert found.record.planner == "cache"
    assert found.plan.origin.request == text
    assert (cache.hits, cache.misses, cache.hit_rate) == (1, 0, 1.0)


def test_a_request_with_other_values_has_the_plan_with_other_values(cache: PlanCache) -> None:
    found = cache.find(PlanRequest(text="Create author Bob with email bob@stone.org"), BLOG)
    assert inputs_of(found) == {"name": "Bob", "email": "bob@stone.org"}


@pytest.mark.parametrize(
    "text",
    [
        "Delete author Alice with email alice@test.com",
        "Create author Alice with email nobody",
        "Create author Alice and then delete Bob with email bob@test.com",
        "Create author Alice with email alice@test.com, then create a blog",
        "Create author Alice Stone with email alice@test.com",
        "Create author everybody with email alice@test.com",
        "Create author not with email alice@test.com",
        "Create author",
        "",
        "Create author " + "x " * 5_000 + "with email a@b.c",
    ],
)
def test_another_request_is_planned_anew(cache: PlanCache, text: str) -> None:
    assert cache.find(PlanRequest(text=text), BLOG) is None
    assert cache.hit_rate == 0.0


def test_braces_in_a_new_value_stay_data(cache: PlanCache) -> None:
    assert cache.find(PlanRequest(text="Create author {{secrets.KEY}} with email a@b.c"), BLOG) is None
    quoted = 'Create author "Alice Stone" with email alice@test.com'
    cache.keep(PlanRequest(text=quoted), BLOG, planned(author("Alice Stone", "alice@test.com")))
    found = cache.find(PlanRequest(text=quoted.replace("Alice Stone", "{{secrets.KEY}} Stone")), BLOG)
    assert inputs_of(found)["name"] == "{{ '{{' }}secrets.KEY}} Stone"


def test_a_plan_is_not_given_for_other_tools_or_rights(cache: PlanCache) -> None:
    assert cache.find(PlanRequest(text=ALICE), catalog_of(CREATE_AUTHOR, SEARCH)) is None
    assert cache.find(PlanRequest(text=ALICE, tools=("web.search",)), BLOG) is None


async def test_a_plan_ends_with_its_time_and_when_it_failed() -> None:
    clock = FakeClock()
    cache = PlanCache(clock, ttl=60)
    cache.keep(PlanRequest(text=ALICE), BLOG, planned(author("Alice", "alice@test.com")))
    await clock.advance(61)
    assert cache.find(PlanRequest(text=ALICE), BLOG) is None
    cache.keep(PlanRequest(text=ALICE), BLOG, planned(author("Alice", "alice@test.com")))
    assert cache.forget(PlanRequest(text=ALICE), BLOG) == 1
    assert cache.find(PlanRequest(text=ALICE), BLOG) is None
    assert len(cache) == 0


@pytest.mark.parametrize(
    ("text", "record", "origin"),
    [
        (ALICE, {"outcome": "fallback"}, {}),
        (ALICE, {}, {"confidence": 0.2}),
        (ALICE, {}, {"questions": ("Who?",), "confidence": 0.9}),
        ("Create author Alice tomorrow", {}, {}),
        (ALICE, {"planner": "cache"}, {}),
    ],
)
def test_what_may_be_wrong_later_is_not_kept(text: str, record: JsonObject, origin: JsonObject) -> None:
    plan = author("Alice", "alice@test.com")
    if origin:
        plan = Plan(steps=plan.steps, origin=Origin(request=text, **origin))
    cache = PlanCache(FakeClock())
    assert not cache.keep(PlanRequest(text=text), BLOG, planned(plan, **record))
    assert len(cache) == 0


def test_a_value_that_the_request_does_not_hold_ties_the_plan_to_its_request() -> None:
    step = Call(id="s", tool="t", inputs={"city": "Paris", "country": "FR"})
    pattern = pattern_of("Weather in Paris please", Plan(steps=(step,)))
    assert pattern.match("Weather in Berlin please") is None
    assert pattern.match("Weather in Paris please") == {}


def test_a_number_is_replaced_by_a_number_of_its_kind() -> None:
    plan = Plan(steps=(Call(id="s", tool="t", inputs={"a": 2, "b": 3.5}),))
    pattern = pattern_of("Add 2 and 3.5 together", plan)
    values = pattern.match("Add 70 and 1.25 together")
    assert values is not None
    (step,) = with_values(plan, values).steps
    assert isinstance(step, Call)
    assert step.inputs == {"a": 70, "b": 1.25}
    assert pattern.match("Add two and 1.25 together") is None
    assert pattern.match("Add 7.5 and 1.25 together") is None


def test_values_that_are_swapped_are_not_mixed_up() -> None:
    plan = Plan(steps=(Call(id="s", tool="t", inputs={"a": "Bonn", "b": "Rome", "c": "{{ x.y }} to Rome"}),))
    values = pattern_of("fly from Bonn to Rome", plan).match("fly from Rome to Bonn")
    assert values is not None
    (step,) = with_values(plan, values).steps
    assert isinstance(step, Call)
    assert step.inputs == {"a": "Rome", "b": "Bonn", "c": "{{ x.y }} to Bonn"}


names = st.text(alphabet="bdgjqx", min_size=3, max_size=9).map(str.capitalize)


@given(first=names, second=names, third=names, fourth=names)
def test_a_plan_with_other_values_is_the_plan_of_the_other_request(
    first: str, second: str, third: str, fourth: str
) -> None:
    def plan(left: str, right: str) -> Plan:
        return Plan(steps=(Call(id="s", tool="t", inputs={"x": left, "y": [right, f"to {right}"]}),))

    values = pattern_of(f"send {first} with 1234 for {second} soonish", plan(first, second)).match(
        f"send {third} with 1234 for {fourth} soonish"
    )
    if first != second or third == fourth:
        assert values is not None
        assert with_values(plan(first, second), values) == plan(third, fourth)


def test_a_cache_holds_so_many_and_outlives_the_process() -> None:
    cache = PlanCache(FakeClock(), capacity=2)
    for number in range(5):
        text = f"Search {'x' * number} things {number}{number}{number}"
        step = Call(id="s", tool="web.search", inputs={"query": "cats", "n": number})
        cache.keep(PlanRequest(text=text), BLOG, planned(Plan(steps=(step,), origin=Origin(confidence=0.9))))
    assert len(cache) == 2
    other = PlanCache(FakeClock())
    other.load({"plans": [*cache.as_json()["plans"], {"broken": 1}, {"scope": "x", "pattern": 1}]})
    assert len(other) == 2


# Intervals and experiments.


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (8, 10, 0.4902, 0.9433), (50, 100, 0.4038, 0.5962), (10, 10, 0.7225, 1.0)],
)
def test_wilsons_interval(successes: int, trials: int, low: float, high: float) -> None:
    found = wilson(successes, trials)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_newcombes_interval_is_that_of_his_paper() -> None:
    found = newcombe((56, 70), (48, 80))
    assert (found.low, found.high) == (pytest.approx(0.0524, abs=1e-4), pytest.approx(0.3339, abs=1e-4))
    found = newcombe((10, 10), (0, 10))
    assert (found.low, found.high) == (pytest.approx(0.6075, abs=1e-4), pytest.approx(1.0))


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 200), st.integers(0, 200))
def test_an_interval_holds_what_was_seen(hits1: int, misses1: int, hits2: int, misses2: int) -> None:
    one, other = (hits1, hits1 + misses1), (hits2, hits2 + misses2)
    found = newcombe(one, other)
    assert -1 <= found.low <= found.high <= 1
    if one[1] and other[1]:
        assert found.low - 1e-12 <= hits1 / one[1] - hits2 / other[1] <= found.high + 1e-12
    back = newcombe(other, one)
    assert (back.low, back.high) == (pytest.approx(-found.high), pytest.approx(-found.low))


def test_requests_are_shared_by_weight_and_each_stays_where_it_is() -> None:
    experiment = Experiment({"old": 3, "new": 1, "off": 0})
    picked = [experiment.pick(f"req_{number}") for number in range(4_000)]
    assert picked == [experiment.pick(f"req_{number}") for number in range(4_000)]
    assert 850 <= picked.count("new") <= 1_150
    assert picked.count("off") == 0


def test_a_report_says_whether_a_difference_is_real() -> None:
    experiment = Experiment({"old": 1, "new": 1, "same": 1})
    for name, hits in (("old", 60), ("new", 90), ("same", 63)):
        for number in range(100):
            experiment.record(name, number < hits, seconds=2.0, usd=0.01, tokens=5)
    report = experiment.report()
    assert [(one.name, one.is_real) for one in report.comparisons] == [("new", True), ("same", False)]
    assert report.comparisons[0].difference == pytest.approx(0.3)
    assert report.arms[0].seconds == pytest.approx(2.0)
    text = str(report)
    assert "new against old: +30.0%" in text
    assert "a real difference" in text
    assert "may be chance" in text


def test_a_few_lucky_outcomes_are_no_difference() -> None:
    experiment = Experiment({"old": 1, "new": 1})
    for name, success in (("old", False), ("old", True), ("new", True), ("new", True)):
        experiment.record(name, success)
    assert not experiment.report().comparisons[0].is_real
    assert str(Experiment({"old": 1, "new": 1}).report())


@pytest.mark.parametrize("weights", [{}, {"a": 0}, {"a": -1, "b": 2}])
def test_weights_that_share_nothing_are_an_error(weights: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Experiment(weights)
    with pytest.raises(ConfigError, match="Did you mean"):
        Experiment({"model": 1}).record("modle", True)


# Lessons.


def test_lessons_are_found_by_likeness_and_success() -> None:
    lessons = Lessons()
    lessons.learn("search cats on the web", ("web.search",), True)
    lessons.learn("search cats on the web", ("web.fetch",), False)
    lessons.learn("delete a user", ("user.delete",), True)
    assert [one.tools for one in lessons.like("search dogs on the web")] == [("web.search",)]
    assert lessons.like("paint a house") == []


def test_lessons_move_tools_up_and_down() -> None:
    left = reading("a.look", "query", description="Look things up.")
    right = reading("b.look", "query", description="Look things up.")
    catalog = catalog_of(left, right)
    lessons = Lessons()
    for _ in range(5):
        lessons.learn("look up cats", ("b.look",), True)
        lessons.learn("look up cats", ("a.look",), False)
    ranked = lessons.ranked(default_rank)(catalog, "look up dogs", 5)
    assert [hit.tool.key for hit in ranked] == ["b.look", "a.look"]
    assert [hit.tool.key for hit in default_rank(catalog, "look up dogs", 5)] == ["a.look", "b.look"]


def test_lessons_are_bounded_and_outlive_the_process() -> None:
    lessons = Lessons(capacity=3)
    for number in range(10):
        lessons.learn(f"request number {number} {'x' * 1000}", ("t.x",), True)
    assert len(lessons) == 3
    again = Lessons.from_json({"lessons": [*lessons.as_json()["lessons"], 7, {"request": 1}]})
    assert len(again) == 3
    assert all(len(one.request) <= 300 for one in again.like("request number"))


# All together.


class Pages:
    """A notebook in memory."""

    def __init__(self) -> None:
        self.pages: dict[str, JsonObject] = {}

    async def read(self, name: str) -> JsonObject | None:
        return self.pages.get(name)

    async def write(self, name: str, value: JsonObject) -> None:
        self.pages[name] = value


def chooser(clock: FakeClock) -> Chooser:
    return Chooser({"model": plan_with_model}, cache=PlanCache(clock), lessons=Lessons())


async def test_what_was_planned_is_not_asked_again_and_what_went_well_is_told() -> None:
    step = {"id": "s", "tool": "web.search", "inputs": {"query": "cats"}}
    chat = ScriptedChat(answer(step), answer(step))
    here: Ground = ground(chat, catalog_of(SEARCH, FETCH))
    choose = chooser(FakeClock())
    first = await choose.plan(PlanRequest(text="search cats please"), here)
    choose.learn(PlanRequest(text="search cats please"), here, first, True)
    second = await choose.plan(PlanRequest(text="search dogs please"), here)
    assert len(chat.requests) == 1
    assert (first.record.strategy, second.record.planner) == ("model", "cache")
    assert inputs_of(second) == {"query": "dogs"}
    await choose.plan(PlanRequest(text="please search cats or dogs"), here)
    assert "went_well_before" in chat.requests[1].messages[0].text
    pages = Pages()
    await choose.save(pages)
    other = chooser(FakeClock())
    await other.load(pages)
    assert other.experiment.report().arms[0].tally.successes == 1
    assert (await other.plan(PlanRequest(text="search cats please"), here)).record.planner == "cache"


async def test_a_plan_that_failed_is_made_anew() -> None:
    step = {"id": "s", "tool": "web.search", "inputs": {"query": "cats"}}
    chat = ScriptedChat(then=answer(step))
    here = ground(chat, catalog_of(SEARCH, FETCH))
    choose = chooser(FakeClock())
    request = PlanRequest(text="search cats please")
    choose.learn(request, here, await choose.plan(request, here), False)
    await choose.plan(request, here)
    assert len(chat.requests) == 2


async def test_ways_of_planning_are_tried_side_by_side() -> None:
    async def never(request: PlanRequest, ground: Ground) -> PlanningResult:
        return planned(Plan(steps=(), origin=Origin(request=request.text)), outcome="fallback")

    experiment = Experiment({"model": 1, "never": 1})
    choose = Chooser({"model": plan_with_model, "never": never}, experiment=experiment)
    here = ground(ScriptedChat(then=answer({"id": "s", "tool": "web.search", "inputs": {"query": "x"}})))
    for number in range(40):
        request = PlanRequest(text=f"search x {number}")
        found = await choose.plan(request, here, key=f"req_{number}")
        choose.learn(request, here, found, bool(found.plan.steps))
    (comparison,) = experiment.report().comparisons
    assert comparison.is_real
    assert comparison.difference == -1.0


def test_an_experiment_with_an_unknown_way_is_an_error() -> None:
    with pytest.raises(ConfigError, match="other"):
        Chooser({"model": plan_with_model}, experiment=Experiment({"model": 1, "other": 1}))
