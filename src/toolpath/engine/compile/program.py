"""A checked plan compiled to indexed, immutable records: nothing of the plan is parsed or looked up per event. Pure.

A plan becomes a block of nodes; a branch, a loop's body and the body of a composite are blocks too. `Program` holds the
outermost block and compiles the bodies of nested plans once each.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import msgspec

from toolpath.catalog.statistics import Statistics
from toolpath.checks.check_result import Checked, Expressions
from toolpath.checks.memory import Memory
from toolpath.checks.start import DeclaredInputs
from toolpath.config import Settings
from toolpath.engine.compile.agent_calls import AGENT, agent_tool
from toolpath.engine.compile.environment import Environment
from toolpath.engine.compile.links import link, order
from toolpath.engine.compile.nodes import TO_END, BlockProgram, Node, Target
from toolpath.engine.compile.own_tools import OWN
from toolpath.engine.compile.selection import Tools, getter, selected_tools, settled_plan, settled_step
from toolpath.errors import SchemaError, ToolNotFound, ToolpathError
from toolpath.expressions.compile import Compiled
from toolpath.expressions.names import Names, Root, inner_names, plan_names, retry_counts
from toolpath.json_schema.nulls import admits_null
from toolpath.json_schema.validate import Validator, null_over_default
from toolpath.model.language_model import MARK
from toolpath.model.plan import (
    END,
    Agent,
    Ask,
    Block,
    Call,
    Loop,
    OutputValidation,
    Parallel,
    Plan,
    Retry,
    Step,
    block_pointers,
    blocks_of,
    freeze,
)
from toolpath.model.policy import is_guarded
from toolpath.model.tool import Body, Tool, as_called, called_inside
from toolpath.values import JsonObject, pointer

_ANY_OBJECT: JsonObject = {"type": "object"}
#: Where a call stands that a running tool makes: in no block of the plan.
_NO_NAMES = plan_names(Plan())
_NO_BLOCK = BlockProgram(id="", flow="graph", nodes=(), index_of={}, missing=[], roots=(), sinks=(), names=_NO_NAMES)


class Program:
    """A plan ready to run against the tools of one catalogue."""

    def __init__(
        self,
        plan: Plan,
        tools: Tools,
        settings: Settings,
        *,
        by_id: bool = False,
        memory: Memory | None = None,
        checked: Checked | None = None,
    ) -> None:
        """`memory`: what the check found of the tools' schemas, so that none is made ready twice. `checked`: the
        expressions that it read.
        """
        self.plan = plan
        self.settings = settings
        self.tools = tools
        self.bodies: dict[str, BlockProgram] = {}
        self.used: dict[str, Tool] = {}
        self.models: dict[str, str] = {}
        """Fingerprints of the models that its agents ask, by their marked names."""
        self._settled: dict[int, Agent] = {}
        """Agents with the tools that they may call, by the identity of their steps."""
        self._frozen: JsonObject | None = None
        self._dynamic: dict[str, Node] = {}
        self._compiling: list[str] = []
        self._memory = memory or Memory()
        self.has_exclusive = False
        """A step of it, or of a plan in it, lets nothing run beside it."""
        self._targets: dict[tuple[int, OutputValidation, bool], Target] = {}
        self._bodies_read = checked.bodies if checked is not None else {}
        self.root = self._plan_block(plan, checked.expressions if checked is not None else {}, by_id=by_id)
        self._bodies_read = {}
        self._is_flat = not any(node.blocks for node in self.root.nodes)
        """No step of the plan holds others."""
        self.concurrency = min(plan.concurrency or settings.parallel_limit, settings.max_concurrency)
        self.revised: Program | None = None
        """The program that takes its place where the run was planned anew."""
        self.revision = 0
        """How many came before it."""

    @property
    def latest(self) -> Program:
        """The program that the run goes by in the end: this one, or the last one that took its place."""
        program = self
        while program.revised is not None:
            program = program.revised
        return program

    def revise(self, program: Program) -> None:
        """Let another one take the place of the latest."""
        last = self.latest
        last.revised, program.revision = program, last.revision + 1

    def prepare(self) -> None:
        """Make what a run begins with, which takes as long as the plan is large."""
        _ = self.frozen, self.frozen_bodies, self.fingerprints, self.secrets

    @property
    def frozen(self) -> JsonObject:
        """The plan as the journal keeps it."""
        if self._frozen is None:
            self._frozen = freeze(settled_plan(self.plan, self._settled))
        return self._frozen

    @cached_property
    def declared(self) -> DeclaredInputs:
        """The inputs that a run may be given."""
        return DeclaredInputs(self.plan)

    @cached_property
    def frozen_bodies(self) -> dict[str, JsonObject]:
        """Nested bodies as the journal keeps them, by tool key."""
        bodies = {key: tool.body for key, tool in self.used.items() if isinstance(tool.body, Plan)}
        return {key: self.frozen_body(body) for key, body in bodies.items()}

    def frozen_body(self, body: Plan) -> JsonObject:
        """The plan inside a tool as the journal keeps it."""
        return freeze(settled_plan(body, self._settled))

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """Fingerprints by key: of its tools, of those that a journal tells of beside them, of the models it asks."""
        return {**{key: tool.fingerprint for key, tool in self.used.items()}, **self.models}

    def reached(self, key: str) -> dict[str, Tool]:
        """The tool of a call that a running tool makes, and what that may call in turn, by key."""
        found: dict[str, Tool] = {}
        blocks: list[BlockProgram] = []
        nodes = [self.dynamic(key)]
        while nodes:
            node = nodes.pop()
            blocks.extend(node.blocks)
            nodes.extend(call for call in node.may_call if call.targets[0].key not in found)
            for target in node.targets:
                if target.key not in found and target.key not in OWN and target.key != AGENT:
                    found[target.key] = target.tool
                    blocks.extend(() if target.plan is None else (target.plan,))
            while blocks:
                nodes.extend(blocks.pop().nodes)
        return found

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secrets that the plan reads."""
        found: set[str] = set()
        blocks = [self.root, *self.bodies.values()]
        while blocks:
            for node in blocks.pop().nodes:
                blocks.extend(node.blocks)
                for target in node.targets:
                    roots = [reference.root for reference in target.inputs.references]
                    found |= {root.key for root in roots if isinstance(root, Root) and root.kind == "secrets"}
        return tuple(sorted(found))

    @cached_property
    def limited(self) -> tuple[Tool, ...]:
        """The tools that may not be called as often or as many at once as the plan would."""
        return tuple(
            tool
            for tool in self.used.values()
            if tool.max_concurrency is not None or tool.rate is not None or tool.server
        )

    def dynamic(self, key: str, tools: Tools | None = None) -> Node:
        """A node for a call that a running tool makes, of `tools` where it is not known yet. Raises `ToolNotFound`."""
        node = self._dynamic.get(key)
        if node is None:
            self.tools = tools or self.tools
            step = Call(id="call", tool=key)
            node = self._node(0, step, Environment(self.plan, _NO_NAMES), _NO_BLOCK)
            self._dynamic[key] = node
        return node

    def _plan_block(self, plan: Plan, read: Expressions, *, by_id: bool = False) -> BlockProgram:
        environment = Environment(plan, plan_names(plan), "", read)
        properties = plan.inputs.get("properties", {})
        block = self._block(plan.block, environment)
        block.retry_counts = {index: name for name, index in retry_counts(plan).items()}
        block.outputs = None if plan.outputs is None else environment.value(plan.outputs, "/outputs")
        block.composite = plan.composite
        block.by_id = by_id
        block.initial = plan.state
        block.plan = plan
        block.timeout = plan.timeout
        block.optional = tuple(properties)
        block.nullable = null_over_default(plan.inputs)
        block.defaults = {
            name: schema["default"]
            for name, schema in properties.items()
            if isinstance(schema, dict) and "default" in schema
        }
        return block

    def _block(self, block: Block, environment: Environment) -> BlockProgram:
        plan, names = environment.plan, environment.names
        built = BlockProgram(
            id=block.id,
            flow=block.flow,
            nodes=(),
            index_of={step.id: index for index, step in enumerate(block.steps)},
            missing=[],
            roots=(),
            sinks=(),
            names=names,
            is_chain=block.flow == "chain",
            single=len(block.steps) == 1 and block.steps[0].id == block.id,
            mode=plan.failure_mode,
            has_state=names.has_state,
            max_visits=min(plan.limits.step_visits, self.settings.max_step_visits),
            plan=plan,
        )
        nodes = [self._node(index, step, environment, built) for index, step in enumerate(block.steps)]
        built.nodes = tuple(nodes)
        if block.flow == "graph":
            link(built)
        else:
            built.roots = (0,) if nodes else ()
            built.missing = [0] * len(nodes)
        return built

    def _node(self, index: int, step: Step, environment: Environment, block: BlockProgram) -> Node:
        plan, names, at = environment.plan, environment.names, f"{environment.path}/steps/{index}"
        node = Node(id=step.id, index=index, kind=step.shape.kind, step=step)
        node.when = None if step.when is None or step.when is True else environment.condition(step.when, f"{at}/when")
        if step.requires_approval is True:
            node.always_approve = True
        elif step.requires_approval:
            node.approval = environment.condition(step.requires_approval, f"{at}/requires_approval")
        node.on_unresolved = step.on_unresolved or plan.on_unresolved
        self.has_exclusive = self.has_exclusive or step.exclusive
        node.critical, node.exclusive, node.timeout = step.critical, step.exclusive, step.timeout
        node.map_outputs = tuple(step.on_success.map_outputs.items())
        node.transform = tuple(
            (key, environment.value(value, f"{at}/on_success/transform{pointer(key)}"))
            for key, value in step.on_success.transform.items()
        )
        node.after_success = _jump(step.on_success.next, block, names)
        node.after_failure = _jump(step.on_failure.next, block, names)
        node.continues = step.on_failure.action == "continue" or (
            step.on_failure.action is None and (step.on_failure.next is not None or plan.failure_mode == "continue")
        )
        inner = inner_names(step, names)
        if inner:
            node.blocks = tuple(
                self._block(block, environment.inside(inside, at + where))
                for block, where, inside in zip(blocks_of(step), block_pointers(step), inner, strict=True)
            )
        match step:
            case Call():
                self._call(node, step, environment, at)
            case Loop():
                node.over = environment.value(step.over, f"{at}/loop/over")
                node.concurrency = min(step.concurrency, self.settings.max_concurrency)
                if step.collect is not None:
                    collecting = environment.inside(inner[0].collecting(), at)
                    node.collect = collecting.value(step.collect, f"{at}/loop/collect")
                node.light = _is_light(node.blocks[0])
            case Ask():
                node.form = environment.value(step.form, f"{at}/ask")
            case Agent():
                self._agent(node, step, environment, at)
            case Parallel():
                pass
        node.plain = node.kind == "call" and not (
            node.when or node.approval or node.always_approve or node.exclusive or node.cached or node.targets[0].asks
        )
        return node

    def _call(self, node: Node, step: Call, environment: Environment, at: str) -> None:
        inputs = environment.value(step.inputs, f"{at}/inputs", allow_secrets=True)
        main = self._target(step, step.tool, step.inputs, inputs, environment.plan)
        if main.droppable and not step.fallback and None in step.inputs.values():
            main = _without_nulls(main, step, environment, at)
            inputs = main.inputs
        node.targets = (main, *self._fallbacks(step, (step.inputs, inputs), environment, at))
        if main.plan is not None:
            node.kind = "nested"
        elif (inner := called_inside(main.tool, step.inputs, getter(self.tools))) is not None:
            before = dict(self.used)
            try:
                # What the tool calls in turn is known before it runs, but where its plan comes back to here.
                node.may_call = () if inner.key in self._compiling else (self.dynamic(inner.key),)
            except (RecursionError, ToolpathError):
                self.used = before
        cache = step.cache or main.tool.cache
        # `cache: false` on a step is a time to live of 0: never, also where the tool would keep its results.
        ttl = self.settings.cache_ttl if cache is None or cache.ttl is None else cache.ttl
        if cache is not None and ttl > 0 and self.settings.cache_enabled:
            node.cached, node.cache_ttl = True, ttl
            node.cache_key = None if cache.key is None else environment.value(cache.key, f"{at}/cache/key")

    def _fallbacks(
        self, step: Call | Agent, own: tuple[JsonObject, Compiled], environment: Environment, at: str
    ) -> Iterator[Target]:
        """The targets that are asked when the step's own has failed; `own`: the inputs of those that say none."""
        for number, fallback in enumerate(step.fallback):
            given, compiled = own
            if fallback.inputs is not None:
                given = fallback.inputs
                compiled = environment.value(given, f"{at}/fallback/{number}/inputs", allow_secrets=True)
            target = self._target(step, fallback.tool, given, compiled, environment.plan)
            yield msgspec.structs.replace(target, condition=fallback.condition, threshold=fallback.threshold)

    def _agent(self, node: Node, step: Agent, environment: Environment, at: str) -> None:
        """The agent as a call, and the calls that it may make: all that is known before it runs."""
        callable_: list[Tool] = []
        for tool in selected_tools(step, self.tools):
            if not step.tools and tool.key in self._compiling:
                continue
            try:
                self.dynamic(tool.key)
            except (RecursionError, ToolpathError):
                if step.tools:
                    raise
                # It cannot be called, or its plan comes back to this agent: of all tools it is one that is not for it.
                self.used.pop(tool.key, None)
                continue
            callable_.append(tool)
        node.may_call = tuple(self.dynamic(tool.key) for tool in callable_)
        settled = settled_step(step, callable_, self._model(step))
        if settled is not step:
            self._settled[id(step)] = settled
        given: JsonObject = {"requirement": step.requirement, "instructions": step.instructions}
        if step.context is not None:
            given["context"] = step.context
        inputs = environment.value(given, f"{at}/agent")
        tool = agent_tool(
            settled,
            tuple(callable_),
            settings=self.settings,
            model_print=self.models.get(MARK + (settled.model or ""), ""),
        )
        target = self._first_target(tool, step.output_validation or tool.output_validation, environment.plan, inputs)
        retry = step.retry or target.retry
        target = msgspec.structs.replace(target, retry=retry, explicit_retry=step.retry is not None)
        if step.timeout is not None:
            target = msgspec.structs.replace(target, timeout=step.timeout)
        # What an agent is given is no tool's input: a fallback that says nothing is given nothing.
        nothing = environment.value({}, f"{at}/fallback")
        node.targets = (target, *self._fallbacks(step, ({}, nothing), environment, at))
        node.kind = "call"

    def _model(self, step: Agent) -> str:
        """The name of the model that the step asks, which goes with the run from here on."""
        known = self.tools.models
        name = known.settled(step.model)
        if name and not known.takes_any:
            self.models[MARK + name] = known.fingerprint(name) or "gone"
        elif known.prints.get(name):
            self.models[MARK + name] = known.prints[name]
        return name

    def _target(self, step: Call | Agent, name: str, given: JsonObject, inputs: Compiled, plan: Plan) -> Target:
        own = OWN.get(name)
        tool = self.tools.find(name) if own is None else own()
        if own is None:
            self.used[tool.key] = tool
            tool = as_called(tool, given, getter(self.tools))
        validation = step.output_validation or tool.output_validation
        mark = (id(tool), validation, plan.composite)
        known = self._targets.get(mark)
        if known is None:
            known = self._targets[mark] = self._first_target(tool, validation, plan, inputs)
        return msgspec.structs.replace(
            known,
            inputs=inputs,
            droppable=_droppable(given, tool.input_schema),
            timeout=step.timeout if step.timeout is not None else tool.timeout,
            retry=step.retry or known.retry,
            explicit_retry=known.explicit_retry or step.retry is not None,
        )

    def _first_target(self, tool: Tool, validation: OutputValidation, plan: Plan, inputs: Compiled) -> Target:
        """The tool as it is called where the step says nothing of its own."""
        body = tool.body
        accepts = self._validator(tool.input_schema or _ANY_OBJECT, tool)
        checks_output = tool.output_schema is not None and validation != "off"
        return Target(
            tool=tool,
            key=tool.key,
            body=body if isinstance(body, Body) else None,
            plan=self._nested(tool, body) if isinstance(body, Plan) else None,
            inputs=inputs,
            droppable=(),
            accepts=accepts,
            returns=self._validator(tool.output_schema or {}, tool) if checks_output else None,
            validation=validation,
            timeout=tool.timeout,
            retry=tool.retry or _default_retry(tool, plan, self.settings),
            explicit_retry=tool.retry is not None,
            repeatable=tool.is_repeatable,
            guarded=is_guarded(tool),
            asks=tool.requires.approval,
            reads=tool.is_read,
            is_valid=accepts.is_valid_json,
            wants_context=isinstance(body, Body) and body.wants_context,
            runs=body.runs if isinstance(body, Body) else "loop",
            invoke=body.invoke if isinstance(body, Body) else None,
        )

    def _validator(self, schema: JsonObject, tool: Tool) -> Validator:
        """One for all tools with the same schema: fewer to build, and a busy one stays at hand."""
        found = self._memory.validator(schema, formats=tool.strict_formats)
        if isinstance(found, SchemaError):
            raise found
        return found

    def _nested(self, tool: Tool, body: Plan) -> BlockProgram:
        known = self.bodies.get(tool.key)
        if known is not None:
            return known
        if tool.key in self._compiling:
            raise RecursionError(f"{' → '.join([*self._compiling, tool.key])}: a plan calls itself.")
        self._compiling.append(tool.key)
        try:
            block = self._plan_block(body, self._bodies_read.get(tool.key, {}))
        finally:
            self._compiling.pop()
        self.bodies[tool.key] = block
        return block

    def rank(self, known: Statistics) -> None:
        """Weigh every node by what its tool took so far, for 'critical path first'."""
        if not self.bodies and self._is_flat and self.concurrency >= len(self.root.nodes):
            # Everything that is ready starts at once: there is nothing to choose.
            return
        for block in self.bodies.values():
            rank_nodes(block, known)
        rank_nodes(self.root, known)


def _default_retry(tool: Tool, plan: Plan, settings: Settings) -> Retry:
    if plan.composite or isinstance(tool.body, Plan) or not tool.is_repeatable:
        return Retry(max_retries=0)
    return Retry(max_retries=settings.max_retries, backoff=settings.retry_backoff)


def _is_light(body: BlockProgram) -> bool:
    """Whether an item is one call that needs no block of its own as long as it succeeds."""
    if len(body.nodes) != 1 or body.has_state:
        return False
    (node,) = body.nodes
    if not node.plain or len(node.targets) != 1:
        return False
    (target,) = node.targets
    return (
        target.plan is None
        and target.invoke is not None
        and not (target.wants_context or target.guarded or target.inputs.uses_secrets)
        and not (node.map_outputs or node.transform)
        and node.after_success is None
    )


def _jump(target: str | None, block: BlockProgram, names: Names) -> int | None:
    if target is None:
        return None
    if target == END:
        return TO_END
    index = block.index_of.get(names.ids.get(target, target))
    if index is None:
        raise ToolNotFound(f"There is no step {target!r} to jump to.")
    return index


def _droppable(inputs: JsonObject, schema: JsonObject) -> tuple[str, ...]:
    """Arguments with a template that the tool neither requires nor admits as null."""
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    return tuple(
        [
            name
            for name, value in inputs.items()
            if (value is None or (type(value) is str and "{{" in value))
            and name not in required
            and name in properties
            and not admits_null(schema, name)
        ]
    )


def _without_nulls(target: Target, step: Call, environment: Environment, at: str) -> Target:
    """The target without the arguments that are written as null and left out of each call: looked at once."""
    given = {name: value for name, value in step.inputs.items() if value is not None or name not in target.droppable}
    inputs = environment.value(given, f"{at}/inputs", allow_secrets=True)
    droppable = tuple([name for name in target.droppable if name in given])
    return msgspec.structs.replace(target, inputs=inputs, droppable=droppable)


def rank_nodes(block: BlockProgram, known: Statistics) -> float:
    """Set how long the way from each node to the block's end is, the node included; returns the longest."""
    nodes = block.nodes
    rank = [_weight(node, known) for node in nodes]
    if block.flow == "chain":
        for index in range(len(nodes) - 2, -1, -1):
            rank[index] += rank[index + 1]
    else:
        for index in reversed(order(block)):
            rank[index] += max([rank[dependent] for dependent in nodes[index].dependents], default=0.0)
    block.rank = rank
    return max(rank, default=0.0)


def _weight(node: Node, known: Statistics) -> float:
    """Seconds the node is expected to take; a tool never called counts as a tenth of a second."""
    if node.blocks:
        return max(rank_nodes(block, known) for block in node.blocks)
    if node.targets:
        target = node.targets[0]
        if target.plan is not None:
            return max(target.plan.rank, default=0.1)
        average = known.average(target.key)
        if average is not None:
            return average
    return 0.1
