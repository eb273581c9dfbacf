"""`toolpath mcp` at work: standard output is the protocol's alone."""

from __future__ import annotations

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.session import CommandSession, perform


def serve_mcp(options: GlobalOptions) -> int:
    """Serve the client at the other end of the pipe until it hangs up. Raises `UsageError` without the extra."""
    try:
        from toolpath.server.mcp.stdio import serve_stdio  # its libraries are an extra
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("toolpath"):
            raise
        raise UsageError(
            f"`toolpath mcp` needs {error.name}, which is not installed.", hint="pip install 'toolpath[server]'"
        ) from None

    async def work(session: CommandSession) -> int:
        await serve_stdio(session.tp, session.output.results)
        return ExitCode.DONE

    return perform(options, work, begins=True)
