"""A checked plan compiled to indexed, immutable records: nothing of the plan is parsed or looked up per event. Pure.

A plan becomes a block of nodes; a branch, a loop's body and the body of a composite are blocks too. `Program` holds the
outermost block, and what its run is begun with; `compiler.py` makes the blocks.
"""

from __future__ import annotations

from functools import cached_property

from toolpath.catalog.statistics import Statistics
from toolpath.checks.check_result import Checked
from toolpath.checks.memory import SchemaMemory
from toolpath.checks.start import DeclaredInputs
from toolpath.config import Settings
from toolpath.engine.compile.agent_calls import AGENT
from toolpath.engine.compile.compiler import Compiler
from toolpath.engine.compile.nodes import BlockProgram, Node
from toolpath.engine.compile.own_tools import OWN
from toolpath.engine.compile.ranks import rank_nodes
from toolpath.engine.compile.selection import Tools, settled_plan
from toolpath.expressions.names import Root
from toolpath.model.plan import Plan, freeze
from toolpath.model.tool import Tool
from toolpath.values import JsonObject


class Program:
    """A plan ready to run against the tools of one catalogue."""

    def __init__(
        self,
        plan: Plan,
        tools: Tools,
        settings: Settings,
        *,
        by_id: bool = False,
        memory: SchemaMemory | None = None,
        checked: Checked | None = None,
    ) -> None:
        """`memory`: what the check found of the tools' schemas, so that none is made ready twice. `checked`: the
        expressions that it read.
        """
        self.plan = plan
        self.settings = settings
        self._compiler = Compiler(plan, tools, settings, memory or SchemaMemory())
        self.root = self._compiler.whole(checked, by_id=by_id)
        self.bodies = self._compiler.bodies
        self.used = self._compiler.used
        self.models = self._compiler.models
        self._called = self._compiler.called
        # Asked for with every call: an attribute, not a property.
        self.has_exclusive = self._compiler.has_exclusive
        self._frozen: JsonObject | None = None
        self._is_flat = not any(node.blocks for node in self.root.nodes)
        """No step of the plan holds others."""
        self.concurrency = min(plan.concurrency or settings.parallel_limit, settings.max_concurrency)
        self.revised: Program | None = None
        """The program that takes its place where the run was planned anew."""
        self.revision = 0
        """How many came before it."""

    @property
    def tools(self) -> Tools:
        """The tools that it was compiled against last."""
        return self._compiler.tools

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
            self._frozen = freeze(settled_plan(self.plan, self._compiler.settled))
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
        return freeze(settled_plan(body, self._compiler.settled))

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

    def dynamic(self, key: str, tools: Tools | None = None) -> Node:
        """A node for a call that a running tool makes, of `tools` where it is not known yet.

        Raises `ToolNotFound`, and `ToolFailed` for a plan with a fault.
        """
        node = self._called.get(key)
        if node is None:
            node = self._compiler.dynamic(key, tools)
            self.has_exclusive = self._compiler.has_exclusive
        return node

    def rank(self, known: Statistics) -> None:
        """Weigh every node by what its tool took so far, for 'critical path first'."""
        if not self.bodies and self._is_flat and self.concurrency >= len(self.root.nodes):
            # Everything that is ready starts at once: there is nothing to choose.
            return
        for block in self.bodies.values():
            rank_nodes(block, known)
        rank_nodes(self.root, known)
