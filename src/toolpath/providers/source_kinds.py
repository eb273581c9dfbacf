"""Kinds of sources of tools that settings, command lines and recorded runs name. Light: every command reads this.

What a kind is made of is imported when a source of it is added: `tool_sources.py` does that.
"""

from __future__ import annotations

from typing import NamedTuple


class SourceKind(NamedTuple):
    """One kind: how it is named, and what gives its tools."""

    setting: str
    """The setting that lists such sources: a field of `Settings`."""
    option: str
    """The command line's option for one more."""
    metavar: str
    help: str
    described: str
    """Key under which `describe` names it, as `{"folder": path}`; empty: the record of a run never brings it back."""
    loader: str
    """`module:function` that gives its tools and providers, for what the setting names."""
    restorer: str = ""
    """The same for a description; empty: the loader, for what stands under `described`."""
    unnamed: str = ""
    """A file that is read where it is there and nothing else is named."""
    is_whole: bool = False
    """The setting is a table, which is handed over in one piece."""
    is_surrounded: bool = False
    """Its loader and restorer are given the `Surroundings` besides: its tools use parts of the Toolpath."""


SOURCE_KINDS = (
    SourceKind(
        setting="tools",
        option="--tools",
        metavar="MODULE",
        help="Python module or file with tools.",
        described="module",
        loader="toolpath.providers.functions:tools_of_module",
    ),
    SourceKind(
        setting="folders",
        option="--folder",
        metavar="DIR",
        help="Folder of composites and plans.",
        described="folder",
        loader="toolpath.providers.files:folder_providers",
    ),
    SourceKind(
        setting="mcp",
        option="--mcp",
        metavar="FILE",
        help="MCP servers.  [mcp.json]",
        described="mcp",
        loader="toolpath.providers.mcp.config:read_mcp_config",
        restorer="toolpath.providers.mcp.config:providers_again",
        unnamed="mcp.json",
        is_surrounded=True,
    ),
    SourceKind(
        setting="builtin",
        option="--builtin",
        metavar="GROUP",
        help="Built-in tools to switch on.",
        described="",
        loader="toolpath.providers.builtin.provider:builtin_providers",
        is_whole=True,
        is_surrounded=True,
    ),
)
