"""The folder of the demo: plan, tools, MCP servers, settings and a repository, all there to be read and changed."""

from __future__ import annotations

import importlib.util
import sys
from importlib.resources import files
from pathlib import Path

import msgspec

from toolpath.cli.project.demo.repository import make_repository
from toolpath.errors import ConfigError
from toolpath.values import JsonObject

_MARK = "# Made by `toolpath demo`.\n"
#: Name of the server → the module that is the server.
_SERVERS = {
    "git": "mcp_server_git",
    "time": "mcp_server_time",
    "fetch": "mcp_server_fetch",
    "excel": "excel_mcp",
}


class Demo(msgspec.Struct, frozen=True):
    """Places of everything in the demo's folder."""

    folder: Path
    plan: Path
    settings: Path
    report: Path
    workbook: Path
    repository: Path

    def inputs(self, team_page: str) -> JsonObject:
        """The inputs that the plan is run with."""
        return {
            "repository": str(self.repository),
            "team_page": team_page,
            "report": str(self.report),
            "workbook": str(self.workbook),
        }


def missing_servers() -> tuple[str, ...]:
    """The servers' modules that are not installed beside this package."""
    return tuple(module for module in _SERVERS.values() if importlib.util.find_spec(module) is None)


def make_folder(into: str | Path) -> Demo:
    """Write the demo into a folder that is new, empty, or an earlier demo. Raises `ConfigError`."""
    folder = Path(into).resolve()
    settings = folder / "toolpath.toml"
    if folder.exists() and any(folder.iterdir()) and not _is_demo(settings):
        raise ConfigError(f"The folder {folder} is not empty and no demo.", hint="Name another one: --into DIR.")
    folder.mkdir(parents=True, exist_ok=True)
    demo = Demo(
        folder=folder,
        plan=folder / "report.plan.yaml",
        settings=settings,
        report=folder / "report.md",
        workbook=folder / "report.xlsx",
        repository=folder / "kiosk",
    )
    settings.write_text(
        f'{_MARK}store = "runs.db"\ntools = ["./report_tools.py"]\nmcp = ["mcp.json"]\n', encoding="utf-8"
    )
    (folder / "mcp.json").write_text(_mcp_config(folder), encoding="utf-8")
    shipped = files("toolpath.cli.project.demo") / "files"
    for name in ("report.plan.yaml", "report_tools.py"):
        (folder / name).write_text((shipped / name).read_text(encoding="utf-8"), encoding="utf-8")
    make_repository(demo.repository)
    return demo


def _is_demo(settings: Path) -> bool:
    try:
        return settings.read_text(encoding="utf-8").startswith(_MARK)
    except (OSError, UnicodeDecodeError):
        return False


def _mcp_config(folder: Path) -> str:
    more = {"fetch": ["--allow-private-ips"], "excel": ["stdio", "--allow-dir", str(folder)]}
    servers = {
        name: {"command": sys.executable, "args": ["-m", module, *more.get(name, [])]}
        for name, module in _SERVERS.items()
    }
    return msgspec.json.format(msgspec.json.encode({"mcpServers": servers}), indent=2).decode() + "\n"
