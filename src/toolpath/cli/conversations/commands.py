"""`toolpath chat` and `toolpath conversations …`: talk to an agent that has the tools, and what was said."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands
from toolpath.cli.run_options import InputFile, Inputs, Permissions

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Conversations: what was said in `toolpath chat`, over REST, or from Python.",
)

_Id = Annotated[str, typer.Argument(metavar="CONVERSATION", help="Its id.")]


def chat(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT|-", help="What is said, once; '-': stdin. None: talk.")] = "",
    *,
    conversation: Annotated[
        str, typer.Option("--conversation", "-c", metavar="ID", help="Go on with this one; 'last': the newest.")
    ] = "",
    template: Annotated[str, typer.Option(metavar="NAME", help="A plan template answers.")] = "",
    inputs: Inputs = None,
    input_file: InputFile = "",
    tool: Annotated[
        list[str] | None, typer.Option("--tool", "-t", metavar="NAME", help="It may call this one; none: all.")
    ] = None,
    model: Annotated[str, typer.Option(metavar="NAME", help="Model.  [that of the settings]")] = "",
    permission: Permissions = None,
    no_input: Annotated[bool, typer.Option("--no-input", help="Ask nothing: exit with 4 where a person is needed.")] = (
        False
    ),
) -> None:
    """Talk to an agent that may call the tools. It asks before it writes."""
    from toolpath.cli.conversations.talk import Talk, talk

    wanted = Talk(
        text=text,
        conversation=conversation,
        template=template,
        inputs=tuple(inputs or ()),
        input_file=input_file,
        tools=tuple(tool or ()),
        model=model,
        permissions=tuple(permission or ()),
        no_input=no_input,
    )
    raise typer.Exit(talk(ctx.obj, wanted))


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """All conversations, newest first."""
    from toolpath.cli.conversations.conversation_verbs import list_conversations

    raise typer.Exit(list_conversations(ctx.obj))


@app.command()
def show(ctx: typer.Context, conversation: _Id) -> None:
    """The messages of a conversation."""
    from toolpath.cli.conversations.conversation_verbs import show_conversation

    raise typer.Exit(show_conversation(ctx.obj, conversation))


@app.command()
def search(ctx: typer.Context, text: Annotated[str, typer.Argument(help="What is looked for.")]) -> None:
    """Where a text stands in titles and messages."""
    from toolpath.cli.conversations.conversation_verbs import search_conversations

    raise typer.Exit(search_conversations(ctx.obj, text))


@app.command()
def rename(ctx: typer.Context, conversation: _Id, title: Annotated[str, typer.Argument(help="Its new title.")]) -> None:
    """Give it another title."""
    from toolpath.cli.conversations.conversation_verbs import rename_conversation

    raise typer.Exit(rename_conversation(ctx.obj, conversation, title))


@app.command()
def save(
    ctx: typer.Context,
    conversation: _Id,
    *,
    title: Annotated[str, typer.Option(help="The template's title.  [the conversation's]")] = "",
    group: Annotated[str, typer.Option(help="The template's group.")] = "",
) -> None:
    """Keep what its runs called, in order, as a plan template."""
    from toolpath.cli.conversations.conversation_verbs import save_conversation

    raise typer.Exit(save_conversation(ctx.obj, conversation, title, group))


@app.command()
def delete(ctx: typer.Context, conversation: _Id) -> None:
    """Forget it with its messages; its runs stay."""
    from toolpath.cli.conversations.conversation_verbs import delete_conversation

    raise typer.Exit(delete_conversation(ctx.obj, conversation))
