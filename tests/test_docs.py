"""Every page tells the truth: what it shows as code runs, and gives what it says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from pages import ROOT, Player, blocks_of

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
STORIES = sorted(path.parent for path in (ROOT / "examples").glob("*/README.md"))
#: `checks.md` shows plans that are wrong, each below the code of its finding: test_reference_pages.py plays it.
PLAYED = [page for page in PAGES if page.name != "checks.md"]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", PLAYED, ids=named)
def test_what_a_page_shows_is_what_happens(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    folder.mkdir()
    Player(named(page), folder).play(blocks_of(page.read_text(encoding="utf-8")))


@pytest.mark.slow
@pytest.mark.parametrize("story", STORIES, ids=named)
def test_an_example_does_what_its_page_says(story: Path, tmp_path: Path) -> None:
    folder = tmp_path / story.name
    shutil.copytree(story, folder, ignore=shutil.ignore_patterns(".toolpath", "__pycache__", "*.db"))
    page = story / "README.md"
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    assert any(block.language == "console" for block in blocks)
    Player(named(page), folder).play(blocks)


@pytest.mark.parametrize("page", [*PAGES, *(story / "README.md" for story in STORIES)], ids=named)
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (page.parent / file).resolve() if file else page
        assert there.exists(), target
        if anchor:
            assert anchor in anchors_of(there.read_text(encoding="utf-8")), target


def anchors_of(page: str) -> set[str]:
    """The anchors of a page's headings, as forges make them."""
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_can_be_reached_from_the_first_one() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    missing = [
        str(page.relative_to(ROOT / "docs"))
        for page in PAGES[1:]
        if page.name != "index.md" and f"({page.relative_to(ROOT / 'docs')})" not in index
    ]
    assert not missing


@pytest.mark.parametrize("file", ["blog_tools.py", "publish.plan.yaml", "publish.py"])
def test_the_files_on_the_page_of_the_first_example_are_those_beside_it(file: str) -> None:
    first = ROOT / "examples" / "first"
    blocks = {block.file: block.text for block in blocks_of((first / "README.md").read_text(encoding="utf-8"))}
    assert blocks[file] == (first / file).read_text(encoding="utf-8")
