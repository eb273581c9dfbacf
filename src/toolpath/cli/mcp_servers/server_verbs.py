"""`toolpath mcp-servers …` at work."""

from __future__ import annotations

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.inputs import read_text
from toolpath.cli.kept import add_kept, change_kept, forget_kept, list_kept, show_kept
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import table
from toolpath.cli.questions import person
from toolpath.cli.session import CommandSession, perform
from toolpath.cli.typed_secrets import named_secret
from toolpath.model.mcp_server import McpServer
from toolpath.values import decode
from toolpath.workspace.mcp_servers.checking import ServerDraft


class TypedServer(msgspec.Struct, frozen=True):
    """Words that were typed of a server."""

    url: str
    command: str
    args: tuple[str, ...]
    env: tuple[str, ...]
    headers: tuple[str, ...]
    timeout: float | None
    trust: bool | None

    def draft(self, name: str | None = None, *, enabled: bool | None = None) -> ServerDraft:
        """The same as a draft; secrets are read from where they are. Raises `UsageError`."""
        return ServerDraft(
            name=name,
            url=self.url or None,
            command=self.command or None,
            args=self.args or None,
            env=dict(named_secret(text, option="--env") for text in self.env) if self.env else None,
            headers=dict(named_secret(text, option="--header") for text in self.headers) if self.headers else None,
            enabled=enabled,
            timeout=self.timeout,
            trust_annotations=self.trust,
        )


def list_servers(options: GlobalOptions) -> int:
    """The servers, one a line."""
    return list_kept(
        options,
        lambda tp: tp.mcp_servers.list(),
        lambda each: (each.name, "on" if each.enabled else "off", _where(each)),
        header=("server", "its tools", "where"),
        none="No servers. `toolpath mcp-servers add NAME --url URL` adds one.",
    )


def show_server(options: GlobalOptions, name: str) -> int:
    """All that is kept of one, its secrets masked."""
    return show_kept(options, lambda tp: tp.mcp_servers.get(name))


def add_server(options: GlobalOptions, name: str, typed: TypedServer, *, enabled: bool) -> int:
    """Keep one."""
    draft = typed.draft(name, enabled=enabled)
    # A name that the settings give to tools is taken: their sources have to be known.
    return add_kept(
        options,
        lambda tp: tp.mcp_servers.add(draft, user=person()),
        lambda made: f"{made.name} is kept.",
        sources=True,
    )


def change_server(options: GlobalOptions, name: str, typed: TypedServer) -> int:
    """Change what was typed."""
    draft = typed.draft()
    return change_kept(
        options,
        lambda tp: tp.mcp_servers.get(name),
        lambda tp, known: tp.mcp_servers.change(known, draft, user=person()),
        lambda made: f"{made.name} is changed.",
    )


def import_servers(options: GlobalOptions, file: str) -> int:
    """Keep those of a document, all or none."""
    text = read_text(file)
    try:
        document = decode(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no JSON: {error}", hint='Write {"mcpServers": {"NAME": {"url": …}}}.') from None

    async def work(session: CommandSession) -> int:
        made = await session.tp.mcp_servers.import_all(document, user=person())
        for server in made:
            session.output.say(f"{server.name} is kept.", "green")
        if options.json:
            session.output.result([msgspec.to_builtins(server) for server in made])
        return ExitCode.DONE

    return perform(options, work, begins=True)


def switch_server(options: GlobalOptions, name: str, *, enabled: bool) -> int:
    """Have its tools be there, or not."""
    return change_kept(
        options,
        lambda tp: tp.mcp_servers.get(name),
        lambda tp, known: tp.mcp_servers.enable(known, enabled=enabled, user=person()),
        lambda made: f"{made.name} is {'on' if enabled else 'off'}.",
    )


def tools_of_server(options: GlobalOptions, name: str) -> int:
    """Print the tools of a server; 1 where it cannot be asked."""

    async def work(session: CommandSession) -> int:
        server = await session.tp.mcp_servers.get(name)
        found = await session.tp.mcp_servers.tools(server)
        problem = None if found.problem is None else session.tp.redact(str(found.problem))
        if options.json:
            told = [{"key": tool.key, "description": tool.description, "effect": tool.effect} for tool in found.tools]
            session.output.result({"enabled": server.enabled, "tools": told, "problem": problem})
        elif problem is not None:
            session.output.say(problem, "red")
        elif not server.enabled:
            session.output.say(f"{server.name} is off: `toolpath mcp-servers enable {server.name}`.", "dim")
        else:
            rows = [(tool.key, tool.effect, tool.description) for tool in found.tools]
            session.output.paragraph(table(rows, ("tool", "effect", "description")))
        return ExitCode.DONE if problem is None else ExitCode.FAILED

    return perform(options, work)


def remove_server(options: GlobalOptions, name: str) -> int:
    """Forget one."""
    return forget_kept(
        options,
        lambda tp: tp.mcp_servers.get(name),
        lambda tp, known: tp.mcp_servers.remove(known, user=person()),
        lambda known: known.name,
    )


def _where(server: McpServer) -> str:
    return server.url or " ".join((server.command, *server.args))
