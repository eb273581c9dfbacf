"""`toolpath generate`: a composite in YAML becomes a typed Python module and its test."""

from __future__ import annotations

from pathlib import Path

from toolpath.cli.exits import ExitCode, UsageError, writing
from toolpath.cli.findings import finding_line, findings_of, show_findings
from toolpath.cli.inputs import read_text
from toolpath.cli.options import GlobalOptions
from toolpath.cli.output import Output
from toolpath.cli.project.factory.generating import Generated, generate
from toolpath.cli.requests import load_with_requests
from toolpath.cli.session import CommandSession, perform
from toolpath.errors import PlanInvalid, ReadError
from toolpath.model.plan import Plan
from toolpath.notation.composite import read_composite

_NO_TOOLS = (
    "No tools are known here, so that the tests cannot tell what they take and give. Name them with `--tools FILE`, "
    "or in `toolpath.toml` of the working folder."
)


def generate_tool(options: GlobalOptions, file: str, into: str, *, package: str = "", force: bool = False) -> int:
    """Check the composite, and write the module and the test; neither where one of them is there already."""

    async def work(session: CommandSession) -> int:
        name = "stdin" if file == "-" else file
        try:
            tool = read_composite(read_text(file), file="" if file == "-" else file)
        except ReadError as error:
            return show_findings(findings_of(error, file), file, session.output, left="written")
        catalog = await load_with_requests(session.tp, tool.body) if isinstance(tool.body, Plan) else None
        has_tools = catalog is not None and bool(catalog.tools)
        if not has_tools:
            session.output.tell(_NO_TOOLS, "yellow")
        try:
            generated = generate(tool, source_file=name, package=package, catalog=catalog)
        except PlanInvalid as error:
            return show_findings(error.findings, file, session.output, left="written")
        for finding in generated.findings:
            if finding.severity == "warning" and not (
                finding.code == "unknown_type" and not (catalog and catalog.tools)
            ):
                session.output.tell(finding_line(file, finding))
        return _write(generated, Path(into), session.output, force=force)

    return perform(options, work, journal=False)


def _write(generated: Generated, folder: Path, output: Output, *, force: bool) -> int:
    targets = {
        folder / f"{generated.name}.py": generated.module,
        folder / f"test_{generated.name}.py": generated.tests,
    }
    there = [str(path) for path in targets if path.exists()]
    if there and not force:
        raise UsageError(f"{' and '.join(there)} would be written over.", hint="--force does it.")
    with writing(str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in targets.items():
            path.write_text(text, encoding="utf-8")
    if output.options.json:
        output.result([str(path) for path in targets])
    else:
        output.write("\n".join(str(path) for path in targets))
    return ExitCode.DONE
