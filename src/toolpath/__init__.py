"""Toolpath: a request becomes a checked plan of tool calls, run in parallel, durable, auditable.

What is public stands in `__all__`; it is loaded when it is first asked for, so that importing the package costs little.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolpath.app import Toolpath
    from toolpath.chains import ChainExecutor
    from toolpath.config import Settings
    from toolpath.errors import (
        Finding,
        NoToolFits,
        PlanInvalid,
        PlanningFailed,
        ToolFailed,
        ToolpathError,
        ToolRetry,
    )
    from toolpath.model.plan import Plan
    from toolpath.model.run import RunContext, RunResult
    from toolpath.model.tool import Tool, ToolResult
    from toolpath.model_output.model_text import read_tool_calls
    from toolpath.ports import ToolContext
    from toolpath.providers.functions import tool

__all__ = [
    "ChainExecutor",
    "Finding",
    "NoToolFits",
    "Plan",
    "PlanInvalid",
    "PlanningFailed",
    "RunContext",
    "RunResult",
    "Settings",
    "Tool",
    "ToolContext",
    "ToolFailed",
    "ToolResult",
    "ToolRetry",
    "Toolpath",
    "ToolpathError",
    "read_tool_calls",
    "tool",
]

_HOMES = {
    "ChainExecutor": "toolpath.chains",
    "Finding": "toolpath.errors",
    "NoToolFits": "toolpath.errors",
    "Plan": "toolpath.model.plan",
    "PlanInvalid": "toolpath.errors",
    "PlanningFailed": "toolpath.errors",
    "RunContext": "toolpath.model.run",
    "RunResult": "toolpath.model.run",
    "Settings": "toolpath.config",
    "Tool": "toolpath.model.tool",
    "ToolContext": "toolpath.ports",
    "ToolFailed": "toolpath.errors",
    "ToolResult": "toolpath.model.tool",
    "ToolRetry": "toolpath.errors",
    "Toolpath": "toolpath.app",
    "ToolpathError": "toolpath.errors",
    "read_tool_calls": "toolpath.model_output.model_text",
    "tool": "toolpath.providers.functions",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolpath' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
