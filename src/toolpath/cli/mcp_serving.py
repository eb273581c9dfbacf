"""`toolpath mcp` at work: standard output is the protocol's alone."""

from __future__ import annotations

from toolpath.cli.exits import ExitCode
from toolpath.cli.options import Options
from toolpath.cli.session import Session, perform
from toolpath.server.mcp.stdio import serve_stdio


def serve_mcp(options: Options) -> int:
    """Serve the client at the other end of the pipe until it hangs up."""

    async def work(session: Session) -> int:
        await serve_stdio(session.tp, session.output.results)
        return ExitCode.DONE

    return perform(options, work, begins=True)
