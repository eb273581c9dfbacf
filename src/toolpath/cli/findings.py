"""`toolpath validate` and `toolpath explain`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.text import Text

from toolpath.cli.exits import ExitCode, UsageError
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import STYLES, Output, clean
from toolpath.cli.session import CommandSession, perform
from toolpath.cli.target import find_target, is_file
from toolpath.errors import Finding, ReadError

_NO_TOOLS = "There are no tools."
_HOW_TO_NAME_TOOLS = " Name them with `--tools FILE`, or in `toolpath.toml` of the working folder."


def validate_files(options: GlobalOptions, files: Sequence[str], *, strict: bool = False) -> int:
    """Check every file and show all findings; 3 where a plan does not check."""

    async def work(session: CommandSession) -> int:
        found: list[tuple[str, Finding]] = []
        for file in files:
            if file != "-" and not is_file(file):
                raise UsageError(f"There is no file {file!r}.")
            try:
                target = await find_target(session.tp, file)
                findings: Sequence[Finding] = session.tp.check(target.plan_with({}))
            except ReadError as error:
                findings = findings_of(error, file)
            found += [(file, finding) for finding in findings]
        return _verdict(found, files, session.output, strict=strict)

    return perform(options, work, journal=False)


def _verdict(found: list[tuple[str, Finding]], files: Sequence[str], output: Output, *, strict: bool) -> int:
    if output.options.json:
        output.result([{"file": file, **msgspec.to_builtins(finding)} for file, finding in found])
    else:
        for file, finding in found:
            output.paragraph(finding_line(file, finding))
    errors = sum(1 for _, finding in found if finding.severity == "error")
    warnings = sum(1 for _, finding in found if finding.severity == "warning")
    plans = f"{len(files)} plan{'s' if len(files) != 1 else ''}"
    output.say(f"{plans}: {_count(errors, 'error')}, {_count(warnings, 'warning')}.", "red" if errors else "green")
    return ExitCode.INVALID if errors or (strict and warnings) else ExitCode.DONE


def findings_of(error: ReadError, file: str) -> Sequence[Finding]:
    """Why a file cannot be read, with the places where that is known."""
    message = error.message.removeprefix(f"{file}: ")
    return error.findings or (Finding(code=error.code, severity="error", message=message, hint=error.hint),)


def show_findings(findings: Sequence[Finding], file: str, output: Output, *, left: str = "started") -> int:
    """The findings that keep a plan from starting, on stderr; all of them as JSON on stdout with `--json`."""
    if output.options.json:
        output.result({"findings": [msgspec.to_builtins(finding) for finding in findings]})
    errors = [finding for finding in findings if finding.severity == "error"]
    for finding in errors:
        output.tell(finding_line(file, finding))
    output.tell(f"The plan has {_count(len(errors), 'error')}; nothing was {left}.", "red")
    return ExitCode.INVALID


def finding_line(file: str, finding: Finding) -> Text:
    """`file:line:column: severity code: message`, and what to do below it."""
    where = "stdin" if file == "-" else file
    if finding.line is not None:
        where += f":{finding.line}:{finding.column or 1}"
    text = Text(f"{clean(where)}: ")
    text.append(f"{finding.severity} {finding.code}", style=STYLES[finding.severity])
    text.append(f": {clean(finding.message)}")
    if finding.line is None and finding.path:
        text.append(f" (at {clean(finding.path)})")
    if finding.suggestions:
        text.append(f" Did you mean {' or '.join(repr(clean(name)) for name in finding.suggestions)}?")
    if finding.hint:
        more = _HOW_TO_NAME_TOOLS if finding.code == "unknown_tool" and finding.hint == _NO_TOOLS else ""
        text.append(f"\n    {clean(finding.hint)}{more}", style="dim")
    return text


def explain_file(options: GlobalOptions, file: str, form: str) -> int:
    """Say what a plan will do, as a tree, as a Mermaid graph or as JSON."""
    if form not in ("tree", "mermaid", "json"):
        raise UsageError(f"{form!r} is no format.", hint="Formats are tree, mermaid and json.")

    async def work(session: CommandSession) -> int:
        try:
            plan = (await find_target(session.tp, file)).plan_with({})
        except ReadError as error:
            return show_findings(findings_of(error, file), file, session.output)
        findings = session.tp.check(plan)
        explanation = session.tp.explain(plan)
        if form == "json" or options.json:
            session.output.result(explanation.as_json())
        else:
            session.output.paragraph(explanation.mermaid() if form == "mermaid" else str(explanation))
        for finding in findings:
            if finding.severity == "error":
                session.output.tell(finding_line(file, finding))
        if warnings := sum(1 for finding in findings if finding.severity == "warning"):
            session.output.say(f"{_count(warnings, 'warning')}: toolpath validate {file} shows them.")
        return ExitCode.INVALID if any(finding.severity == "error" for finding in findings) else ExitCode.DONE

    # What is known of the tools from their calls stands in the store, where there is one.
    return perform(options, work)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' if number != 1 else ''}"
