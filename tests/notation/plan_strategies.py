"""Plans of every kind, for laws."""

from __future__ import annotations

from hypothesis import strategies as st

from toolpath.expressions.names import KEYWORDS, RESERVED
from toolpath.model.plan import (
    Agent,
    AgentBudget,
    Ask,
    Block,
    Budget,
    Cache,
    Call,
    Fallback,
    Field,
    Limits,
    Loop,
    OnFailure,
    OnSuccess,
    Origin,
    Parallel,
    Plan,
    Retry,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
named = texts.filter(bool)
names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True).filter(
    lambda name: name not in RESERVED | KEYWORDS
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
    | st.sampled_from(["null", "yes", "on", "1", "1.0", "0x1F", "~", "- a", "a: b", "# c", "{{ x }}", "a\nb", "a\nb\n",
                       " a\nb", "a\n\n", "1e3", ".5", "=", "<<", "2020-01-01", "5m", "\u2028", "\x85", "\ufeff", "\t"])
)  # fmt: skip
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=6
)
objects = st.dictionaries(texts, values, max_size=3)
durations = st.floats(0.001, 1e6) | st.integers(1, 100_000).map(float)
delays = st.just(0.0) | durations
retries = st.builds(
    Retry,
    max_retries=st.integers(0, 9),
    backoff=st.sampled_from(["exponential", "fixed", "none"]),
    initial_delay=delays,
    factor=st.floats(0, 10),
    max_delay=delays,
    jitter=st.booleans(),
    retry_on=st.none() | st.lists(texts, max_size=2).map(tuple),
)
fallbacks = st.builds(
    Fallback,
    tool=named,
    inputs=st.none() | objects,
    condition=st.sampled_from(["on_error", "on_low_confidence"]),
    threshold=st.floats(0, 1),
)
caches = st.builds(Cache, ttl=delays, key=st.none() | texts)
successes = st.builds(
    OnSuccess,
    map_outputs=st.dictionaries(texts, named, max_size=2),
    transform=objects,
    next=st.none() | texts,
)
failures = st.builds(OnFailure, action=st.sampled_from([None, "stop", "continue"]), next=st.none() | texts)
unresolved = st.sampled_from(["error", "keep", "null", "skip"])
fields = st.builds(
    Field,
    name=named,
    label=texts,
    type=st.sampled_from(["text", "number", "email", "select", "checkbox"]),
    required=st.booleans(),
    options=st.lists(values, max_size=2).map(tuple),
    placeholder=texts,
    default=values,
)


plan_fields = st.fixed_dictionaries(
    {"name": named},
    optional={
        "description": texts,
        "version": named,
        "inputs": st.dictionaries(texts, st.just({"type": "string"}), max_size=2).map(
            lambda properties: {"type": "object", "properties": properties}
        ),
        "outputs": values,
        "failure_mode": st.sampled_from(["stop", "isolate", "continue"]),
        "concurrency": st.integers(1, 50),
        "timeout": durations,
        "budget": st.builds(Budget, calls=st.integers(0, 9), cost=st.none() | st.floats(0, 9)),
        "limits": st.builds(Limits, step_visits=st.integers(1, 9), depth=st.integers(1, 9)),
        "on_unresolved": unresolved,
        "origin": st.builds(
            Origin,
            reasoning=texts,
            confidence=st.none() | st.floats(0, 1),
            questions=st.lists(texts, max_size=2).map(tuple),
            estimates=objects,
        ),
        "composite": st.booleans(),
        "state": objects,
        "policy": objects,
        "metadata": objects,
    },
)
step_fields = {
    "derived_id": st.booleans(),
    "depends_on": st.lists(names, max_size=2, unique=True).map(tuple),
    "when": st.booleans() | texts,
    "exclusive": st.booleans(),
    "timeout": durations,
    "retry": retries,
    "fallback": st.lists(fallbacks, max_size=2).map(tuple),
    "critical": st.booleans(),
    "cache": caches,
    "requires_approval": st.booleans() | named,
    "on_success": successes,
    "on_failure": failures,
    "on_unresolved": unresolved,
    "output_validation": st.sampled_from(["strict", "warn", "off"]),
}
agent_budgets = st.builds(
    AgentBudget,
    calls=st.none() | st.integers(0, 9),
    cost=st.none() | st.floats(0, 9),
    tokens=st.none() | st.integers(0, 9),
    time=st.none() | durations,
)
said = st.sets(st.sampled_from(sorted(step_fields)), max_size=4)
flows = st.sampled_from(["graph", "chain"])
few = st.integers(1, 2)
kinds = st.sampled_from(["call", "call", "agent", "ask", "parallel", "loop"])
leaf_kinds = st.sampled_from(["call", "call", "agent", "ask"])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    taken: set[str] = set()

    def fresh() -> str:
        stem = name = draw(names)
        while name in taken:
            name = f"{stem}{len(taken)}"
        taken.add(name)
        return name

    flow = draw(flows)
    return Plan(flow=flow, steps=_steps(draw, fresh, flow, 2), **draw(plan_fields))


def _common(draw: st.DrawFn, fresh) -> dict:
    return {"id": fresh()} | {name: draw(step_fields[name]) for name in sorted(draw(said))}


def _steps(draw: st.DrawFn, fresh, flow: str, depth: int) -> tuple:
    return tuple(_step(draw, fresh, flow, depth) for _ in range(draw(few)))


def _step(draw: st.DrawFn, fresh, flow: str, depth: int):
    kind = draw(kinds if depth else leaf_kinds)
    common = _common(draw, fresh)
    match kind:
        case "call":
            return Call(tool=draw(names), inputs=draw(objects), **common)
        case "agent":
            return Agent(
                requirement=draw(named),
                tools=draw(st.lists(names, max_size=2).map(tuple)),
                model=draw(st.none() | texts),
                output=draw(st.lists(names, max_size=2).map(tuple)),
                max_rounds=draw(st.integers(1, 50)),
                budget=draw(agent_budgets),
                instructions=draw(texts),
                **common,
            )
        case "ask":
            form = draw(st.lists(fields, max_size=2, unique_by=lambda field: field.name))
            return Ask(title=draw(texts), description=draw(texts), fields=tuple(form), **common)
        case "parallel":
            branches = tuple(_branch(draw, fresh, flow, depth - 1) for _ in range(draw(few)))
            return Parallel(
                branches=branches, wait_for=draw(st.sampled_from(["all", "any", "first_success"])), **common
            )
        case _:
            inner = draw(flows)
            return Loop(
                over=draw(texts | st.lists(values, max_size=2) | objects),
                item=draw(names),
                body=Block(flow=inner, steps=_steps(draw, fresh, inner, depth - 1)),
                concurrency=draw(st.integers(1, 5)),
                collect=draw(values),
                **common,
            )


def _branch(draw: st.DrawFn, fresh, flow: str, depth: int) -> Block:
    if draw(st.booleans()):
        step = _step(draw, fresh, flow, depth)
        return Block(id=step.id, flow=flow, steps=(step,))
    inner = draw(flows)
    return Block(id=fresh(), flow=inner, steps=_steps(draw, fresh, inner, depth))
