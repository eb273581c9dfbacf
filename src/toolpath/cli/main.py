"""The command `toolpath`: its global options, its verbs, and what every error becomes.

Only typer is imported here, so that help and completion come at once.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, Any

import typer

from toolpath.cli.access import commands as access
from toolpath.cli.conversations import commands as conversations
from toolpath.cli.files import commands as files
from toolpath.cli.groups import Commands
from toolpath.cli.mcp_servers import commands as mcp_servers
from toolpath.cli.models import commands as models
from toolpath.cli.options import GlobalOptions, hoisted, named_sources
from toolpath.cli.plans import commands as plans
from toolpath.cli.project import commands as project
from toolpath.cli.runs import answering_commands as people
from toolpath.cli.runs import commands as runs
from toolpath.cli.schedules import commands as schedules
from toolpath.cli.service import commands as service
from toolpath.cli.settings import commands as settings
from toolpath.cli.templates import commands as templates
from toolpath.cli.tools import commands as tools
from toolpath.providers.source_kinds import SOURCE_KINDS

app = typer.Typer(
    cls=Commands,
    name="toolpath",
    help="Turns a request into a checked plan of tool calls and runs it: parallel, durable, auditable.",
    epilog="Global options may stand anywhere. Exit codes: 0 done, 1 run failed, 2 usage, "
    "3 plan does not check or asks, 4 waits for a person, 5 cancelled, 6 budget, 7 policy, 124 timeout, "
    "130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 120},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"toolpath {version('toolpath')}")
        raise typer.Exit


def _with_sources(command: Callable[..., None]) -> Callable[..., None]:
    """The command with an option for each kind of source of tools, in the place of its `**sources`."""
    signature = inspect.signature(command, eval_str=True)
    given = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    options = [
        inspect.Parameter(
            kind.option.removeprefix("--"),
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[list[str] | None, typer.Option(metavar=kind.metavar, help=kind.help)],
        )
        for kind in SOURCE_KINDS
    ]
    # After those that say where the journal and the settings are.
    command.__signature__ = signature.replace(parameters=[*given[:3], *options, *given[3:]])  # type: ignore[attr-defined]
    return command


@app.callback()
@_with_sources
def options(
    ctx: typer.Context,
    *,
    store: Annotated[
        str, typer.Option(metavar="FILE|URL", help="Journal: a file or postgresql://…  [.toolpath/runs.db]")
    ] = "",
    config: Annotated[str, typer.Option(metavar="FILE", help="Settings.  [toolpath.toml]")] = "",
    json: Annotated[bool, typer.Option("--json", help="Results as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say where an error came from.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="The version.")] = False,
    **sources: list[str] | None,
) -> None:
    """Keep the global options for the verb."""
    ctx.obj = GlobalOptions(
        store=store,
        config=config,
        sources=named_sources(sources),
        json=json,
        quiet=quiet,
        verbose=verbose,
    )


app.command()(plans.plan)
app.command()(plans.run)
app.command()(plans.validate)
app.command("check", hidden=True)(plans.validate)
app.command()(plans.explain)
app.command("eval")(plans.evaluate)
app.add_typer(runs.app, name="runs")
app.add_typer(tools.app, name="tools")
app.add_typer(templates.app, name="templates")
app.add_typer(schedules.app, name="schedules")
app.add_typer(files.app, name="files")
app.add_typer(models.app, name="models")
app.add_typer(mcp_servers.app, name="mcp-servers")
app.add_typer(settings.app, name="settings")
app.command()(conversations.chat)
app.add_typer(conversations.app, name="conversations")
app.command()(people.approve)
app.command()(people.deny)
app.command()(people.answer)
app.command()(people.settle)
app.command()(service.serve)
app.command()(service.mcp)
app.command()(service.worker)
app.add_typer(access.keys, name="keys")
app.add_typer(access.audit, name="audit")
app.command()(project.generate)
app.command()(project.demo)
app.command()(project.backup)
app.command()(project.doctor)


@cache
def command_line() -> Any:
    """The verbs with their options, read off the functions once: that takes longer than many a command."""
    return typer.main.get_command(app)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    given = hoisted(sys.argv[1:] if arguments is None else arguments)
    try:
        command_line()(args=given, prog_name="toolpath")
    except Exception as error:  # noqa: BLE001  # the last door: every error becomes words and a code
        sys.exit(_explained(error, verbose=not {"-v", "--verbose"}.isdisjoint(given)))


def _explained(error: Exception, *, verbose: bool) -> int:
    from toolpath.cli.failures import explain_error

    return explain_error(error, verbose=verbose)
