"""Compiler of one program: a plan, and the plans in it, become blocks of nodes; a call becomes its targets. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from toolpath.checks.check_result import Checked, Expressions
from toolpath.checks.memory import SchemaMemory
from toolpath.config import Settings
from toolpath.engine.compile.agent_calls import agent_tool
from toolpath.engine.compile.environment import Environment
from toolpath.engine.compile.links import link
from toolpath.engine.compile.nodes import TO_END, BlockProgram, CallTarget, Node
from toolpath.engine.compile.own_tools import OWN
from toolpath.engine.compile.selection import Tools, getter, selected_tools, settled_step
from toolpath.errors import SchemaError, ToolFailed, ToolNotFound, ToolpathError
from toolpath.expressions.compile import Compiled
from toolpath.expressions.names import Names, inner_names, plan_names, retry_counts
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
)
from toolpath.model.policy import is_guarded
from toolpath.model.tool import Body, Tool, as_called, called_inside
from toolpath.values import JsonObject, pointer

_ANY_OBJECT: JsonObject = {"type": "object"}
#: Where a call stands that a running tool makes: in no block of the plan.
_NO_NAMES = plan_names(Plan())
_NO_BLOCK = BlockProgram(id="", flow="graph", nodes=(), index_of={}, missing=[], roots=(), sinks=(), names=_NO_NAMES)


class Compiler:
    """Compiles the plan of one program, each plan in it once, and the calls that its running tools come to make."""

    def __init__(self, plan: Plan, tools: Tools, settings: Settings, memory: SchemaMemory) -> None:
        self.plan = plan
        self.tools = tools
        self.settings = settings
        self._memory = memory
        self.bodies: dict[str, BlockProgram] = {}
        """Plans inside tools, by tool key."""
        self.used: dict[str, Tool] = {}
        self.models: dict[str, str] = {}
        """Fingerprints of the models that its agents ask, by their marked names."""
        self.settled: dict[int, Agent] = {}
        """Agents with the tools that they may call, by the identity of their steps."""
        self.called: dict[str, Node] = {}
        """Calls that running tools make, by tool key."""
        self.has_exclusive = False
        """A step of it, or of a plan in it, lets nothing run beside it."""
        self._compiling: list[str] = []
        """Keys of the plans that are being compiled, each inside the one before it."""
        self._targets: dict[tuple[int, OutputValidation, bool], CallTarget] = {}
        self._bodies_read: Mapping[str, Expressions] = {}

    def whole(self, checked: Checked | None, *, by_id: bool) -> BlockProgram:
        """The outermost block; `checked`: the expressions that a check has read, of which none is read again."""
        self._bodies_read = checked.bodies if checked is not None else {}
        block = self._plan_block(self.plan, checked.expressions if checked is not None else {}, by_id=by_id)
        self._bodies_read = {}
        return block

    def dynamic(self, key: str, tools: Tools | None = None) -> Node:
        """A node for a call that a running tool makes, of `tools` where it is not known yet.

        Raises `ToolNotFound`, and `ToolFailed` for a plan with a fault: no check has seen who calls it.
        """
        node = self.called.get(key)
        if node is None:
            self.tools = tools or self.tools
            if key not in OWN:
                _refuse_faults(self.tools.find(key))
            step = Call(id="call", tool=key)
            node = self.called[key] = self._node(0, step, Environment(self.plan, _NO_NAMES), _NO_BLOCK)
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
        node.writes = bool(node.map_outputs or node.transform)
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
        self._by_kind(node, step, environment, at)
        node.plain = node.kind == "call" and not (
            node.when or node.approval or node.always_approve or node.exclusive or node.cached or node.targets[0].asks
        )
        return node

    def _by_kind(self, node: Node, step: Step, environment: Environment, at: str) -> None:
        """Compile the fields of its kind alone; its blocks are compiled already."""
        match step:
            case Call():
                self._call(node, step, environment, at)
            case Loop():
                node.over = environment.value(step.over, f"{at}/loop/over")
                node.concurrency = min(step.concurrency, self.settings.max_concurrency)
                if step.collect is not None:
                    (inside,) = inner_names(step, environment.names)
                    collecting = environment.inside(inside.collecting(), at)
                    node.collect = collecting.value(step.collect, f"{at}/loop/collect")
                node.light = _is_light(node.blocks[0])
            case Ask():
                node.form = environment.value(step.form, f"{at}/ask")
            case Agent():
                self._agent(node, step, environment, at)
            case Parallel():
                pass

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
            before = set(self.used)
            try:
                # What the tool calls in turn is known before it runs, but where its plan comes back to here.
                node.may_call = () if inner.key in self._compiling else (self.dynamic(inner.key),)
            except (RecursionError, ToolpathError):
                for key in self.used.keys() - before:
                    del self.used[key]
        cache = step.cache or main.tool.cache
        # `cache: false` on a step is a time to live of 0: never, also where the tool would keep its results.
        ttl = self.settings.cache_ttl if cache is None or cache.ttl is None else cache.ttl
        if cache is not None and ttl > 0 and self.settings.cache_enabled:
            node.cached, node.cache_ttl = True, ttl
            node.cache_key = None if cache.key is None else environment.value(cache.key, f"{at}/cache/key")

    def _fallbacks(
        self, step: Call | Agent, own: tuple[JsonObject, Compiled], environment: Environment, at: str
    ) -> Iterator[CallTarget]:
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
            self.settled[id(step)] = settled
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

    def _target(self, step: Call | Agent, name: str, given: JsonObject, inputs: Compiled, plan: Plan) -> CallTarget:
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

    def _first_target(self, tool: Tool, validation: OutputValidation, plan: Plan, inputs: Compiled) -> CallTarget:
        """The tool as it is called where the step says nothing of its own."""
        body = tool.body
        accepts = self._validator(tool.input_schema or _ANY_OBJECT, tool)
        checks_output = tool.output_schema is not None and validation != "off"
        returns = self._validator(tool.output_schema or {}, tool) if checks_output else None
        return CallTarget(
            tool=tool,
            key=tool.key,
            body=body if isinstance(body, Body) else None,
            plan=self._nested(tool, body) if isinstance(body, Plan) else None,
            inputs=inputs,
            droppable=(),
            accepts=accepts,
            returns=returns,
            validation=validation,
            timeout=tool.timeout,
            retry=tool.retry or _default_retry(tool, plan, self.settings),
            explicit_retry=tool.retry is not None,
            repeatable=tool.is_repeatable,
            guarded=is_guarded(tool),
            asks=tool.requires.approval,
            reads=tool.is_read,
            is_valid=accepts.is_valid_json,
            gives=None if returns is None else returns.is_valid_json,
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
        and not node.writes
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


def _without_nulls(target: CallTarget, step: Call, environment: Environment, at: str) -> CallTarget:
    """The target without the arguments that are written as null and left out of each call: looked at once."""
    given = {name: value for name, value in step.inputs.items() if value is not None or name not in target.droppable}
    inputs = environment.value(given, f"{at}/inputs", allow_secrets=True)
    droppable = tuple([name for name in target.droppable if name in given])
    return msgspec.structs.replace(target, inputs=inputs, droppable=droppable)


def _refuse_faults(tool: Tool) -> None:
    if isinstance(tool.body, Plan):
        fault = next((one for one in tool.body.source.findings if one.severity == "error"), None)
        if fault is not None:
            raise ToolFailed(f"{tool.key} has a fault at {fault.path}: {fault.message}", hint=fault.hint)
