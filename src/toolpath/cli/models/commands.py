"""`toolpath models …`: language models that the store keeps, with their keys sealed."""

from __future__ import annotations

from typing import Annotated

import typer

from toolpath.cli.groups import Commands

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Language models: what their names in plans mean, and with which key they are asked.",
)

_Name = Annotated[str, typer.Argument(metavar="MODEL", help="Its name or id.")]
_Model = Annotated[str, typer.Option(help="What the provider calls it.  [its name]")]
_Api = Annotated[str, typer.Option(help="anthropic, openai, openai-responses, google, ollama.  [openai]")]
_Url = Annotated[str, typer.Option("--base-url", metavar="URL", help="Its server; without it the provider's own.")]
_KeyFrom = Annotated[
    str, typer.Option("--key-from", metavar="VARIABLE", help="Variable with its key; '-': it is read from stdin.")
]
_Headers = Annotated[
    list[str] | None, typer.Option("--header", metavar="NAME=VARIABLE", help="A header, its value from a variable.")
]
_Temperature = Annotated[float | None, typer.Option(min=0, max=2, help="How freely it chooses its words.")]
_TopP = Annotated[float | None, typer.Option("--top-p", min=0, max=1, help="The same in another way.")]
_Path = Annotated[
    str, typer.Option("--completions-path", metavar="PATH", help="Path of requests, where it is unusual.")
]
_Description = Annotated[str, typer.Option(help="What it is for.")]


@app.command("list")
def list_(ctx: typer.Context) -> None:
    """All models."""
    from toolpath.cli.models.model_verbs import list_models

    raise typer.Exit(list_models(ctx.obj))


@app.command()
def show(ctx: typer.Context, model: _Name) -> None:
    """One model, without its key."""
    from toolpath.cli.models.model_verbs import show_model

    raise typer.Exit(show_model(ctx.obj, model))


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What plans call it.")],
    *,
    model: _Model = "",
    api: _Api = "",
    base_url: _Url = "",
    key_from: _KeyFrom = "",
    header: _Headers = None,
    temperature: _Temperature = None,
    top_p: _TopP = None,
    completions_path: _Path = "",
    description: _Description = "",
    default: Annotated[bool, typer.Option("--default", help="It is asked where nobody names a model.")] = False,
) -> None:
    """Keep a model."""
    from toolpath.cli.models.model_verbs import TypedModel, add_model

    typed = TypedModel(
        model=model,
        api=api,
        base_url=base_url,
        key_from=key_from,
        headers=tuple(header or ()),
        temperature=temperature,
        top_p=top_p,
        completions_path=completions_path,
        description=description,
    )
    raise typer.Exit(add_model(ctx.obj, name, typed, default=default))


@app.command()
def change(
    ctx: typer.Context,
    name: _Name,
    *,
    model: _Model = "",
    api: _Api = "",
    base_url: _Url = "",
    key_from: _KeyFrom = "",
    header: _Headers = None,
    temperature: _Temperature = None,
    top_p: _TopP = None,
    completions_path: _Path = "",
    description: _Description = "",
) -> None:
    """Change what is given of a model."""
    from toolpath.cli.models.model_verbs import TypedModel, change_model

    typed = TypedModel(
        model=model,
        api=api,
        base_url=base_url,
        key_from=key_from,
        headers=tuple(header or ()),
        temperature=temperature,
        top_p=top_p,
        completions_path=completions_path,
        description=description,
    )
    raise typer.Exit(change_model(ctx.obj, name, typed))


@app.command()
def remove(ctx: typer.Context, model: _Name) -> None:
    """Forget a model, with its key."""
    from toolpath.cli.models.model_verbs import remove_model

    raise typer.Exit(remove_model(ctx.obj, model))


@app.command()
def default(ctx: typer.Context, model: _Name) -> None:
    """Have a model asked where nobody names one."""
    from toolpath.cli.models.model_verbs import default_model

    raise typer.Exit(default_model(ctx.obj, model))


@app.command()
def validate(ctx: typer.Context, model: _Name) -> None:
    """Ask the provider whether it takes the key and has the model; 1 where not."""
    from toolpath.cli.models.model_verbs import validate_model

    raise typer.Exit(validate_model(ctx.obj, model))
