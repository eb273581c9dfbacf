"""Worlds made by grammar: of what is framed, only commands write; of what is said beside them, nothing is dropped."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date
from functools import cache
from pathlib import Path

import pytest
from tests.checks.frames import ACTS, COMMANDS, NO_COMMANDS, request_of

from toolpath import Settings
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, every_step
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import catalog_of, read_tool_set

TOOL_SETS = Path(__file__).parent.parent / "planner/offline/everyday/tool_sets.jsonl"
TODAY = date(2026, 6, 10)


@cache
def tool_sets() -> dict[str, Catalog]:
    return {one.toolset: catalog_of(one.tools) for one in map(read_tool_set, TOOL_SETS.read_bytes().splitlines())}


def writes(request: str, catalog: Catalog) -> bool:
    try:
        plan = plan_offline(request, catalog, today=TODAY)
    except NoToolFits:
        return False
    calls = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    acts = any(not catalog.tools[call.tool].is_read for call in calls)
    return acts and not plan.questions and (plan.confidence or 0.0) >= Settings().planner_floor


def framed(language: str, seed: int, *, share: int) -> Iterator[tuple[str, Catalog]]:
    """Every so many of the frames with every act."""
    chance = random.Random(seed)
    frames = [one for one in NO_COMMANDS[language].splitlines() if one]
    for name, acts in ACTS.items():
        for frame in chance.sample(frames, len(frames) // share):
            yield request_of(frame, acts[language], chance.randint(2, 9_999)), tool_sets()[name]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_no_frame_but_a_command_writes(language: str) -> None:
    assert [request for request, catalog in framed(language, 1, share=8) if writes(request, catalog)] == []


@pytest.mark.soak
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_no_frame_of_all_writes(language: str) -> None:
    assert [request for request, catalog in framed(language, 2, share=1) if writes(request, catalog)] == []


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_a_command_writes_and_its_negation_does_not(language: str) -> None:
    nots = {"en": "Do not {v} {o}", "de": "{V} {o} nicht", "fr": "Ne {v} pas {o}", "es": "No {v} {o}"}
    for name, acts in ACTS.items():
        assert not writes(request_of(nots[language], acts[language], 7), tool_sets()[name])
        for frame in COMMANDS[language]:
            request = request_of(frame, acts[language], 7)
            assert writes(request, tool_sets()[name]), request


#: Requests that say more than any call of theirs takes, or take it otherwise: none of them may run as it stands.
MORE_IS_SAID = {
    "bank": (
        "Transfer half of the 50 euros from AC-1 to AC-2",
        "Transfer 50 euros plus 3 euros from AC-1 to AC-2",
        "Transfer 50 euros twice from AC-1 to AC-2",
        "Transfer 50 to 60 euros from AC-1 to AC-2",
        "Transfer at least 50 euros from AC-1 to AC-2",
        "Transfer 5 percent of 200 euros from AC-1 to AC-2",
        "Transfer 50 euros to AC-2",
        "Transfer 1.000.50 euros from AC-1 to AC-2",
        "Transfer 12,345.678 euros from AC-1 to AC-2",
        "Transfer 50 yen from AC-1 to AC-2",
        "Transfer 50 euros and 20 dollars from AC-1 to AC-2",
        "Transfer 50 euros from AC-1 and AC-3 to AC-2",
        "Transfer 50 euros from AC-1 to AC-2 and AC-3",
        "Transfer 50 euros from AC-1 to Tom",
        "Transfer 50 euros from AC-1 to AC-2 tomorrow",
        "Transfer 50 euros monthly from AC-1 to AC-2",
        "Transfer 50 euros from AC-1 to AC-2 for 3 months",
        "Transfer -50 euros from AC-1 to AC-2",
        "Block the card of AC-5",
        "Block card 18",
        "Block XCD-18",
        "Block the card ending in 4242",
        "Block CD-18 or CD-19",
        "Block all cards but CD-18",
        "Block CD-18 for 24 hours",
        "Block Tom's card CD-18",
        "Raise the limit of CD-8 by 900",
        "Set the limit of CD-8 to 900 or 1000",
        "Set the limit of CD-8 to twice 900",
        "Set the limit of CD-8 to 900 dollars a week",
        "Pay half of BL-3 from AC-1",
        "Pay BL-3 from AC-1 on 3 July 2026",
        "Sperre CD-18 bis Freitag",
        "Überweise die Hälfte von 50 Euro von AC-1 auf AC-2",
        "Vire la moitié de 50 euros de AC-1 vers AC-2",
        "Überweise höchstens 50 Euro von AC-1 auf AC-2",
    ),
    "hr": (
        "Change the salary of EMP-6 to 4300 a month",
        "Approve LR-11 except its last day",
        "Approve LR-11 for Tom",
        "Approve LR-1 to LR-5",
        "Request leave for EMP-5 from 3 August 2026",
        "Request leave for EMP-5 from 14 August 2026 to 3 August 2026",
        "Request leave for EMP-5 from 30 February 2026 to 3 March 2026",
        "Remove EMP-5 and EMP-6's leave request",
        "Ändere das Gehalt von EMP-6 um 500",
        "Augmente le salaire de EMP-6 de 500",
        "Sube el salario de EMP-6 en 500",
    ),
    "tasks": (
        "Assign TSK-9 to Miriam or Jonas",
        "Assign TSK-9 to Miriam's boss",
        "Assign TSK-9 to everybody",
        "Assign TSK-9 to somebody",
        "Set the priority of TSK-3 to anything but high",
        "Set the priority of TSK-3 to medium",
        "Delete TSK-1 to TSK-9",
        "Delete the first 3 tasks",
        "Delete TSK-1, which replaces TSK-2",
        "Delete the comment on TSK-1",
        "Delete the subtasks of TSK-1",
        "Complete half of TSK-1",
        "Delete TSK-1's attachment",
        "Delete task 1",
        "Delete the task TSK-4 of project PRJ-9",
        "Lösche TSK-1 bis TSK-9",
        "Lösche alle Aufgaben außer TSK-1",
    ),
    "parcels": (
        "Cancel one of the parcels of SH-4",
        "Cancel the pickup of SH-4",
        "Print 3 labels of SH-2",
        "Schedule the pickup of SH-6 for 19 or 20 June 2026",
        "Schedule the pickup of SH-6 before 19 June 2026",
        "Schedule the pickup of SH-6 for 19 June 2026 at 5 pm",
        "Schedule the pickup of SH-6 for 31 June 2026",
    ),
    "kitchen": (
        "Set a timer for 10 to 12 minutes",
        "Set a timer for 90 seconds",
        "Set two timers for 5 minutes",
        "Preheat the oven to 350 F",
        "Preheat the oven to 180 degrees for 10 minutes",
        "Remove the milk but not the eggs from the shopping list",
        "Clear the shopping list except milk",
    ),
    "library": (
        "Renew LN-6 until 3 July 2026",
        "Reserve BK-1 or BK-2 for MB-3",
        "Block MB-9 for 2 weeks",
        "Block MB-9 and all others",
        "Block the member who borrowed BK-9",
    ),
    "music": (
        "Set the volume up by 30",
        "Set the volume to half",
        "Skip two tracks",
        "Add SG-1 to every playlist",
        "Delete PL-9 from 2019",
    ),
    "clinic": (
        "Move AP-8 to 22 June 2026 after 3 pm",
        "Move AP-8 by 2 days",
        "Cancel AP-8 of PT-4",
        "Cancel the appointment of PT-4",
        "Überweise nicht 50, sondern 20 Euro",
    ),
}


@pytest.mark.parametrize("tools", MORE_IS_SAID)
def test_what_is_said_and_not_done_is_asked_about(tools: str) -> None:
    assert [one for one in MORE_IS_SAID[tools] if writes(one, tool_sets()[tools])] == []
