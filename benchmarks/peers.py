"""The floors of an outside comparison of engines, where the environment names it: the same graphs, other code."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.workloads import Graph, Map

VARIABLE = "TOOLPATH_PEERS"


def load() -> ModuleType | None:
    """The comparison's module of workloads and floors; None where the environment names no folder."""
    named = os.environ.get(VARIABLE)
    if not named or not (Path(named) / "common.py").is_file():
        return None
    spec = importlib.util.spec_from_file_location("toolpath_peers_common", Path(named) / "common.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PeerGraph(Graph):
    """A graph of the comparison as one of ours, with its own tools."""

    def __init__(self, name: str, dag: Any) -> None:
        super().__init__(name, dag.deps, dag.dur, dag.limit)
        self.dag = dag
        assert self.expected == dag.expected

    def tool(self, step: int) -> Any:
        """The comparison's tool of this step."""
        return self.dag.tool(step)


class PeerMap(Map):
    """A map of the comparison as one of ours."""

    def __init__(self, spec: Any) -> None:
        super().__init__(spec.n, spec.limit)
        self.spec = spec
        assert self.expected == spec.expected

    def tool(self, item: int) -> Any:
        """The comparison's tool."""
        return self.spec.tool(item)
