"""`toolpath tools list|show|search|stats`: what there is to call."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from toolpath.cli.exits import ExitCode
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output, short, table
from toolpath.cli.session import CommandSession, perform
from toolpath.model.tool import Tool
from toolpath.values import JsonObject, duration_text

_HOW_TO_HAVE_TOOLS = (
    "Name Python files with --tools, folders of composites with --folder, MCP servers with --mcp,",
    "or write them into toolpath.toml. `toolpath demo` makes a folder that has all three.",
)


def list_tools(options: GlobalOptions, group: str, capability: str) -> int:
    """All tools, or those of a group or with a capability."""

    async def work(session: CommandSession) -> int:
        catalog = await session.tp.tools()
        tools: Iterable[Tool] = catalog.by_capability(capability) if capability else catalog.tools.values()
        _show(sorted((tool for tool in tools if group in ("", tool.group)), key=lambda tool: tool.key), session.output)
        _problems(session)
        return ExitCode.DONE

    return perform(options, work)


def search_tools(options: GlobalOptions, text: str, limit: int) -> int:
    """The tools that fit a text, best first."""

    async def work(session: CommandSession) -> int:
        found = [hit.tool for hit in await session.tp.search(text, limit=limit)]
        if not found and (await session.tp.tools()).tools and not options.json:
            session.output.say("No tool fits that. `toolpath tools list` shows all there are.")
        else:
            _show(found, session.output)
        _problems(session)
        return ExitCode.DONE

    return perform(options, work)


def show_tool(options: GlobalOptions, name: str) -> int:
    """Show all that is known of one tool."""

    async def work(session: CommandSession) -> int:
        tool = (await session.tp.tools()).find(name)
        session.output.result(described(tool))
        return ExitCode.DONE

    return perform(options, work)


def show_stats(options: GlobalOptions) -> int:
    """Print the statistics of the tools' calls."""

    async def work(session: CommandSession) -> int:
        known = session.tp.stats()
        if options.json:
            session.output.result({key: msgspec.to_builtins(stats) for key, stats in known.items()})
            return ExitCode.DONE
        rows = [
            (
                key,
                stats.calls,
                f"{stats.failure_rate or 0:.0%}",
                stats.timeouts,
                "" if stats.average_duration is None else duration_text(stats.average_duration),
                "" if (slow := stats.percentile(0.95)) is None else duration_text(slow),
                f"{stats.cost:.4f}" if stats.cost else "",
            )
            for key, stats in sorted(known.items())
        ]
        if rows:
            session.output.paragraph(table(rows, ("tool", "calls", "failed", "timeouts", "mean", "p95", "USD")))
        else:
            session.output.say("No tool has been called yet.")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def described(tool: Tool) -> JsonObject:
    """The tool as JSON, without what cannot be written down."""
    fields = {name: getattr(tool, name) for name in Tool.__struct_fields__ if name != "body"}
    data: JsonObject = msgspec.to_builtins({"key": tool.key, **fields, "fingerprint": tool.fingerprint})
    return {name: value for name, value in data.items() if value not in ("", None, [], {})}


def _show(tools: list[Tool], output: Output) -> None:
    if output.options.json:
        output.result([described(tool) for tool in tools])
        return
    if not tools:
        output.say("No tools.")
        output.say(
            "Name Python files with --tools, folders of composites with --folder, MCP servers with --mcp; or write"
        )
        output.say("them into toolpath.toml. `toolpath demo` shows a folder that has all three.")
        return
    room = max(20, output.paper.width - 40) if output.paper.is_terminal else 100
    rows = [(tool.key, tool.effect, short(tool.description.partition("\n")[0], room)) for tool in tools]
    output.paragraph(table(rows, ("tool", "effect", "description")))


def _problems(session: CommandSession) -> None:
    for finding in session.tp.registry.findings():
        session.output.tell(f"{finding.message} {finding.hint}".rstrip(), "yellow")
