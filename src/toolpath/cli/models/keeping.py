"""`toolpath models …` at work."""

from __future__ import annotations

import os
import sys
from typing import Any

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import Options
from toolpath.cli.output import table
from toolpath.cli.questions import person
from toolpath.cli.session import Session, perform
from toolpath.model.language_model import LanguageModel
from toolpath.workspace.models.models import ModelDraft


class Typed(msgspec.Struct, frozen=True, kw_only=True):
    """Words that were typed of a model."""

    model: str
    api: str
    base_url: str
    key_from: str
    headers: tuple[str, ...]
    temperature: float | None
    top_p: float | None
    completions_path: str
    description: str

    def draft(self, name: str | None = None) -> ModelDraft:
        """The same as a draft; secrets are read from where they are. Raises `UsageError`."""
        return ModelDraft(
            name=name,
            model=self.model or None,
            api=self.api or None,
            base_url=self.base_url or None,
            key=_key(self.key_from) if self.key_from else None,
            headers=dict(map(_header, self.headers)) if self.headers else None,
            temperature=self.temperature,
            top_p=self.top_p,
            completions_path=self.completions_path or None,
            description=self.description or None,
        )


def list_models(options: Options) -> int:
    """The models, one a line."""

    async def work(session: Session) -> int:
        found = await session.tp.models.list()
        if options.json:
            session.output.result([msgspec.to_builtins(model) for model in found])
        elif not found:
            session.output.say(
                "No models. `toolpath models add NAME --base-url URL --key-from VARIABLE` adds one.", "dim"
            )
        else:
            rows = [(_marked(each), each.model, each.base_url or each.api, each.description) for each in found]
            session.output.paragraph(table(rows, ("model", "provider's name", "where", "description")))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def show_model(options: Options, name: str) -> int:
    """All that is kept of one but its key."""

    async def work(session: Session) -> int:
        session.output.result(_shown(await session.tp.models.get(name)))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def add_model(options: Options, name: str, typed: Typed, *, default: bool) -> int:
    """Keep one."""
    draft = typed.draft(name)

    async def work(session: Session) -> int:
        made = await session.tp.models.add(draft, user=person())
        if default:
            made = await session.tp.models.set_default(made, user=person())
        return _told(session, options, made, "is kept")

    return perform(options, work, begins=True, sources=False)


def change_model(options: Options, name: str, typed: Typed) -> int:
    """Change what was typed."""
    draft = typed.draft()

    async def work(session: Session) -> int:
        known = await session.tp.models.get(name)
        return _told(session, options, await session.tp.models.change(known, draft, user=person()), "is changed")

    return perform(options, work, sources=False)


def remove_model(options: Options, name: str) -> int:
    """Forget one."""

    async def work(session: Session) -> int:
        known = await session.tp.models.get(name)
        await session.tp.models.remove(known, user=person())
        session.output.say(f"{known.name} is gone.", "green")
        return ExitCode.DONE

    return perform(options, work, sources=False)


def default_model(options: Options, name: str) -> int:
    """Make one the default."""

    async def work(session: Session) -> int:
        known = await session.tp.models.get(name)
        return _told(session, options, await session.tp.models.set_default(known, user=person()), "is the default")

    return perform(options, work, sources=False)


def validate_model(options: Options, name: str) -> int:
    """Try one; 1 where it does not work."""

    async def work(session: Session) -> int:
        trial = await session.tp.models.validate(ModelDraft(), model=await session.tp.models.get(name))
        if options.json:
            session.output.result(msgspec.to_builtins(trial))
        else:
            session.output.say(trial.message, "green" if trial.valid else "red")
        return ExitCode.DONE if trial.valid else ExitCode.FAILED

    return perform(options, work, sources=False)


def _told(session: Session, options: Options, model: LanguageModel, what: str) -> int:
    session.output.say(f"{model.name} {what}.", "green")
    if options.json:
        session.output.result(_shown(model))
    return ExitCode.DONE


def _key(source: str) -> str:
    # Never an argument: those stand in the history of the shell, and in the list of processes.
    if source == "-":
        return sys.stdin.readline().strip()
    value = os.environ.get(source, "").strip()
    if not value:
        raise UsageError(f"The variable {source} is not set.", hint="--key-from names the variable that holds the key.")
    return value


def _header(text: str) -> tuple[str, str]:
    name, _, variable = text.partition("=")
    if not name or not variable:
        raise UsageError(f"{text!r} is no header.", hint="Write --header X-Team=VARIABLE.")
    return name, _key(variable)


def _marked(model: LanguageModel) -> str:
    return f"{model.name} (default)" if model.is_default else model.name


def _shown(model: LanguageModel) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(model)
    return shown
