"""`toolpath models …` at work."""

from __future__ import annotations

import msgspec

from toolpath.app import Toolpath
from toolpath.cli.exits import ExitCode
from toolpath.cli.kept import add_kept, change_kept, forget_kept, list_kept, show_kept
from toolpath.cli.options import GlobalOptions
from toolpath.cli.questions import person
from toolpath.cli.session import CommandSession, perform
from toolpath.cli.typed_secrets import named_secret, secret_from
from toolpath.model.language_model import LanguageModel
from toolpath.workspace.models.models import ModelDraft


class TypedModel(msgspec.Struct, frozen=True, kw_only=True):
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
            key=secret_from(self.key_from, option="--key-from") if self.key_from else None,
            headers=dict(named_secret(text, option="--header") for text in self.headers) if self.headers else None,
            temperature=self.temperature,
            top_p=self.top_p,
            completions_path=self.completions_path or None,
            description=self.description or None,
        )


def list_models(options: GlobalOptions) -> int:
    """The models, one a line."""
    return list_kept(
        options,
        lambda tp: tp.models.list(),
        lambda each: (_marked(each), each.model, each.base_url or each.api, each.description),
        header=("model", "provider's name", "where", "description"),
        none="No models. `toolpath models add NAME --base-url URL --key-from VARIABLE` adds one.",
    )


def show_model(options: GlobalOptions, name: str) -> int:
    """All that is kept of one but its key."""
    return show_kept(options, lambda tp: tp.models.get(name))


def add_model(options: GlobalOptions, name: str, typed: TypedModel, *, default: bool) -> int:
    """Keep one."""
    draft = typed.draft(name)

    async def add(tp: Toolpath) -> LanguageModel:
        made = await tp.models.add(draft, user=person())
        return await tp.models.set_default(made, user=person()) if default else made

    return add_kept(options, add, lambda made: f"{made.name} is kept.")


def change_model(options: GlobalOptions, name: str, typed: TypedModel) -> int:
    """Change what was typed."""
    draft = typed.draft()
    return change_kept(
        options,
        lambda tp: tp.models.get(name),
        lambda tp, known: tp.models.change(known, draft, user=person()),
        lambda made: f"{made.name} is changed.",
    )


def remove_model(options: GlobalOptions, name: str) -> int:
    """Forget one."""
    return forget_kept(
        options,
        lambda tp: tp.models.get(name),
        lambda tp, known: tp.models.remove(known, user=person()),
        lambda known: known.name,
    )


def default_model(options: GlobalOptions, name: str) -> int:
    """Make one the default."""
    return change_kept(
        options,
        lambda tp: tp.models.get(name),
        lambda tp, known: tp.models.set_default(known, user=person()),
        lambda made: f"{made.name} is the default.",
    )


def validate_model(options: GlobalOptions, name: str) -> int:
    """Try one; 1 where it does not work."""

    async def work(session: CommandSession) -> int:
        trial = await session.tp.models.validate(ModelDraft(), model=await session.tp.models.get(name))
        if options.json:
            session.output.result(msgspec.to_builtins(trial))
        else:
            session.output.say(trial.message, "green" if trial.valid else "red")
        return ExitCode.DONE if trial.valid else ExitCode.FAILED

    return perform(options, work, sources=False)


def _marked(model: LanguageModel) -> str:
    return f"{model.name} (default)" if model.is_default else model.name
