"""Dependencies of each node of a graph, read out of `depends_on` and of every expression in it. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from toolpath.engine.compile.nodes import BlockProgram, Node
from toolpath.expressions.compile import Compiled, Reference
from toolpath.expressions.names import Root, variables_of

_OF_STEPS = frozenset({"output", "steps"})


def link(block: BlockProgram) -> None:
    """Find what each node of a graph waits for, and who waits for it."""
    nodes = block.nodes
    writers: dict[str, list[int]] = {}
    for node in nodes:
        for variable in variables_of(node.step):
            writers.setdefault(variable, []).append(node.index)
    dependents: list[list[int]] = [[] for _ in nodes]
    for node in nodes:
        hard: set[int] = set()
        soft: set[int] = set()
        for name in node.step.depends_on:
            index = block.index_of.get(block.names.ids.get(name, name))
            if index is not None:
                hard.add(index)
        for compiled in _own_expressions(node):
            for reference in compiled.references:
                _link_reference(reference, 0, block, writers, hard, soft)
        for reference, up in _inner_references(node):
            _link_reference(reference, up, block, writers, hard, soft)
        hard.discard(node.index)
        soft -= hard | {node.index}
        node.deps, node.soft = tuple(sorted(hard)), tuple(sorted(soft))
        for index in (*node.deps, *node.soft):
            dependents[index].append(node.index)
    for node in nodes:
        node.dependents = tuple(dependents[node.index])
    block.missing = [len(node.deps) + len(node.soft) for node in nodes]
    block.roots = tuple(node.index for node in nodes if not block.missing[node.index])
    block.sinks = tuple(node.index for node in nodes if not node.dependents)


def _link_reference(
    reference: Reference,
    up: int,
    block: BlockProgram,
    writers: Mapping[str, list[int]],
    hard: set[int],
    soft: set[int],
) -> None:
    root = reference.root
    if type(root) is not Root:
        return
    if root.kind == "state":
        # The state of a graph: what is read is written first.
        hard.update(writers.get(root.key, ()))
    elif root.kind in _OF_STEPS and root.up == up:
        index = block.index_of.get(block.names.ids.get(root.key, root.key))
        if index is not None:
            (soft if reference.aspect in ("status", "error") else hard).add(index)


def _inner_references(node: Node) -> list[tuple[Reference, int]]:
    """Every reference in the blocks inside the node, with how many frames further in it stands."""
    found: list[tuple[Reference, int]] = []
    for block in node.blocks:
        if node.collect is not None:
            found += [(reference, 1) for reference in node.collect.references]
        for inner in block.nodes:
            found += [(reference, 1) for compiled in _own_expressions(inner) for reference in compiled.references]
            found += [(reference, up + 1) for reference, up in _inner_references(inner)]
    return found


def _own_expressions(node: Node) -> list[Compiled]:
    compiled = [target.inputs for target in node.targets]
    compiled += [c for c in (node.when, node.approval, node.over, node.cache_key, node.form) if c is not None]
    return compiled + [c for _, c in node.transform]


def order(block: BlockProgram) -> list[int]:
    """The nodes in an order in which each comes after what it waits for."""
    missing = list(block.missing)
    ready = list(block.roots)
    for index in ready:
        for dependent in block.nodes[index].dependents:
            missing[dependent] -= 1
            if not missing[dependent]:
                ready.append(dependent)
    return ready
