"""A server whose interpreter does not have it says which interpreter that was, and what to do."""

from __future__ import annotations

import sys

import pytest

from toolpath.errors import ToolUnavailable
from toolpath.providers.mcp.provider import McpProvider

pytestmark = pytest.mark.mcp


async def test_an_interpreter_without_the_server_is_named() -> None:
    provider = McpProvider("stock", command=sys.executable, args=["-m", "no_such_stock_server"])
    try:
        with pytest.raises(ToolUnavailable) as caught:
            await provider.list_tools()
    finally:
        await provider.close()
    assert f"the interpreter {sys.executable}, which has no 'no_such_stock_server'" in caught.value.hint
    assert "with its whole path" in caught.value.hint
