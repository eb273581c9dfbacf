"""Ranks of nodes: how long the way from each to the end of its block is expected to take. Pure."""

from __future__ import annotations

from toolpath.catalog.statistics import Statistics
from toolpath.engine.compile.links import order
from toolpath.engine.compile.nodes import BlockProgram, Node


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
