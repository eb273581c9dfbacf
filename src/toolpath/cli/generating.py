"""`toolpath generate`: a composite in YAML becomes a typed Python module and its test."""

from __future__ import annotations

from pathlib import Path

from toolpath.cli.exits import ExitCode, UsageError, writing
from toolpath.cli.inputs import read_text
from toolpath.cli.options import Options
from toolpath.cli.output import Output
from toolpath.factory import generate
from toolpath.language.composite import read_composite


def generate_tool(options: Options, file: str, into: str, *, package: str = "", force: bool = False) -> int:
    """Write the module and the test; neither is written where one of them is there already."""
    output = Output(options)
    tool = read_composite(read_text(file), file="" if file == "-" else file)
    generated = generate(tool, source_file="stdin" if file == "-" else file, package=package)
    folder = Path(into)
    targets = {
        folder / f"{generated.name}.py": generated.module,
        folder / f"test_{generated.name}.py": generated.tests,
    }
    there = [str(path) for path in targets if path.exists()]
    if there and not force:
        raise UsageError(f"{' and '.join(there)} would be written over.", hint="--force does it.")
    with writing(into):
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in targets.items():
            path.write_text(text, encoding="utf-8")
    if options.json:
        output.result([str(path) for path in targets])
    else:
        output.write("\n".join(str(path) for path in targets))
    return ExitCode.DONE
