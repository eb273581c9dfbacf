"""`toolpath templates …` at work."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.findings import findings_of, show_findings
from toolpath.cli.inputs import read_text
from toolpath.cli.kept import change_kept, forget_kept, list_kept
from toolpath.cli.options import GlobalOptions
from toolpath.cli.questions import person
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import PlanInvalid, ReadError, closest
from toolpath.model.template import PlanTemplate
from toolpath.notation.nodes import plain
from toolpath.notation.template import read_template
from toolpath.notation.template_config import DEFAULT_GROUP, is_config, read_config
from toolpath.notation.tree import read_tree
from toolpath.values import decode
from toolpath.workspace.template_exchange import TemplateExchange
from toolpath.workspace.templates import CHANNELS, TemplateDraft


def save_template(options: GlobalOptions, file: str, *, run: str, title: str, group: str, comment: str) -> int:
    """Keep a file, or the plan of a run; a title that is taken has a further version then."""
    if bool(file) == bool(run):
        raise UsageError("There must be a file or --run, and not both.", hint="toolpath templates save FILE")
    text = read_text(file) if file else ""
    draft = TemplateDraft(title=title or None, group=group or None, comment=comment)

    async def work(session: CommandSession) -> int:
        templates = session.tp.templates
        try:
            if run:
                made = await templates.from_run(run, draft, user=person())
            else:
                known = await templates.titled(*_names(text, file, draft), tenant="")
                made = await templates.save(text, draft, template=known, user=person())
        except (PlanInvalid, ReadError) as error:
            found = error.findings if isinstance(error, PlanInvalid) else findings_of(error, file)
            return show_findings(found, file or run, session.output, left="kept")
        session.output.done(f"{made.key} is at version {made.version}.", made)
        return ExitCode.DONE

    return perform(options, work, begins=True, sources=False)


def _names(text: str, file: str, draft: TemplateDraft) -> tuple[str, str]:
    """Title and group that the document is kept under."""
    document: Any = plain(read_tree(text, file=file))
    if is_config(read_tree(text, file=file)):
        config = read_config(document)
        return draft.title or config.title, draft.group or config.group
    return draft.title or read_template(text, file=file).plan().name, draft.group or DEFAULT_GROUP


def list_templates(options: GlobalOptions, group: str) -> int:
    """The templates, one a line."""
    return list_kept(
        options,
        lambda tp: tp.templates.newest(group=group or None, limit=1_000),
        lambda each: (each.template_id, each.key, each.version, each.published or "draft", " ".join(each.channels)),
        header=("template", "name", "version", "published", "channels"),
        none="No templates. `toolpath templates save FILE` keeps one.",
    )


def show_template(options: GlobalOptions, name: str, version: int) -> int:
    """Show all that is kept of one."""

    async def work(session: CommandSession, template: PlanTemplate) -> int:
        number = version or template.version
        needed = await session.tp.templates.parameters(template, version=number)
        session.output.result(
            {
                **msgspec.to_builtins(template),
                "shown": number,
                "parameters": msgspec.to_builtins(needed.parameters),
                "document": await session.tp.templates.document(template, number),
            }
        )
        return ExitCode.DONE

    return _with(options, name, work)


def diff_template(options: GlobalOptions, name: str, earlier: int, later: int) -> int:
    """Print the changes of a version against an earlier one."""

    async def work(session: CommandSession, template: PlanTemplate) -> int:
        last = later or template.version
        found = await session.tp.templates.diff(template, earlier or max(last - 1, 1), last)
        if options.json:
            session.output.result(msgspec.to_builtins(found))
            return ExitCode.DONE
        for what, steps in (("added", found.added), ("removed", found.removed), ("changed", tuple(found.changed))):
            for step in steps:
                fields = ", ".join(found.changed.get(step, ()))
                session.output.say(f"{what} {step}{f': {fields}' if fields else ''}")
        session.output.paragraph(found.text)
        return ExitCode.DONE

    return _with(options, name, work)


def roll_back(options: GlobalOptions, name: str, version: int) -> int:
    """Have an earlier version back."""
    return change_kept(
        options,
        lambda tp: tp.templates.get(name),
        lambda tp, template: tp.templates.roll_back(template, version, user=person()),
        lambda made: f"{made.key} is at version {made.version}, which is as version {version}.",
    )


def publish_template(options: GlobalOptions, name: str, channels: Sequence[str], version: int) -> int:
    """Let a version be run in channels; 3 where it does not check."""
    unknown = next((name for name in channels if name not in CHANNELS), None)
    if unknown is not None:
        raise UsageError(
            f"{unknown!r} is no channel.",
            hint=f"There are {', '.join(CHANNELS)}.",
            suggestions=closest(unknown, CHANNELS),
        )

    async def work(session: CommandSession, template: PlanTemplate) -> int:
        try:
            made = await session.tp.templates.publish(template, channels, version=version or None, user=person())
        except PlanInvalid as error:
            return show_findings(error.findings, template.key, session.output, left="published")
        session.output.done(f"Version {made.published} of {made.key} is published: {', '.join(made.channels)}.", made)
        return ExitCode.DONE

    return _with(options, name, work, sources=True)


def withdraw_template(options: GlobalOptions, name: str) -> int:
    """Make it a draft."""
    return change_kept(
        options,
        lambda tp: tp.templates.get(name),
        lambda tp, template: tp.templates.withdraw(template, user=person()),
        lambda made: f"{made.key} is a draft.",
    )


def delete_template(options: GlobalOptions, name: str) -> int:
    """Forget it."""
    return forget_kept(
        options,
        lambda tp: tp.templates.get(name),
        lambda tp, template: tp.templates.delete(template, user=person()),
        lambda template: template.key,
    )


def export_templates(options: GlobalOptions, group: str) -> int:
    """All of them as JSON."""

    async def work(session: CommandSession) -> int:
        exported = await TemplateExchange(session.tp.templates).exported(group=group or None)
        session.output.result(list(exported))
        return ExitCode.DONE

    return perform(options, work, sources=False)


def import_templates(options: GlobalOptions, file: str) -> int:
    """Take what was exported; 1 where one of them was not taken."""
    text = read_text(file)
    try:
        documents: Any = decode(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no JSON: {error}") from None
    documents = documents.get("templates") if isinstance(documents, dict) else documents
    if not isinstance(documents, list) or not all(isinstance(each, dict) for each in documents):
        raise UsageError(f"{file} holds no list of templates.", hint="`toolpath templates export` writes one.")

    async def work(session: CommandSession) -> int:
        taken = await TemplateExchange(session.tp.templates).import_all(documents, user=person())
        for each in taken:
            if each.error:
                session.output.tell(f"{each.title or 'One without a title'}: {each.error}", "red")
        failed = any(each.error for each in taken)
        count = sum(1 for each in taken if each.template_id)
        session.output.say(f"{count} of {len(taken)} are kept.", "red" if failed else "green")
        if options.json:
            session.output.result([msgspec.to_builtins(each) for each in taken])
        return ExitCode.FAILED if failed else ExitCode.DONE

    return perform(options, work, begins=True)


def _with(
    options: GlobalOptions,
    name: str,
    work: Callable[[CommandSession, PlanTemplate], Coroutine[Any, Any, int]],
    *,
    sources: bool = False,
) -> int:
    async def found(session: CommandSession) -> int:
        return await work(session, await session.tp.templates.get(name))

    return perform(options, found, sources=sources)
