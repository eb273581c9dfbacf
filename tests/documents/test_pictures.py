"""Pictures in the pages show what the program shows."""

from __future__ import annotations

import html
import re
import runpy
import shutil
import sys
from pathlib import Path

from tests.pages import ROOT

from toolpath import Toolpath

PICTURES = ROOT / "docs" / "pictures"
DEMO = ROOT / "src" / "toolpath" / "cli" / "project" / "demo" / "files" / "report.plan.yaml"


def words(picture: str) -> set[str]:
    """The texts of an SVG, each without the blanks around it."""
    return {
        html.unescape(text).replace("\xa0", " ").strip() for text in re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    }


def test_the_live_view_in_the_readme_has_the_steps_of_the_demo_and_nothing_from_elsewhere() -> None:
    picture = (PICTURES / "live-view.svg").read_text(encoding="utf-8")
    assert {step.id for step in Toolpath().read(DEMO).steps} <= words(picture)
    assert re.findall(r"https?://[^\"\s]+", picture) == ["http://www.w3.org/2000/svg"]


def test_the_picture_of_the_live_view_can_be_made_again(tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "examples" / "fan_out", tmp_path / "fan_out")
    made = runpy.run_path(str(PICTURES / "live_view.py"))
    command = f"cd '{folder}' && exec '{sys.executable}' -m toolpath run count.plan.yaml"
    shown = words(made["drawn"](made["busiest"](made["written_by"](["sh", "-c", command]))))
    assert {"count", "files", "counts", "table"} <= {word.removeprefix("● ").removeprefix("✓ ") for word in shown}
