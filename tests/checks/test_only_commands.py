"""A word that takes a request back is what keeps the planner from writing: take it away, and the request is done."""

from __future__ import annotations

from functools import cache

import pytest

from toolpath import Settings
from toolpath.catalog.snapshot import Catalog
from toolpath.errors import NoToolFits
from toolpath.model.plan import Call, every_step
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.scoring.gold import catalog_of, read_tool_set
from toolpath.planner.scoring.people.shipped import FOLDER, TOOL_SETS

#: Tool set → a command in each language, as whole sentences and as what may be said against it.
COMMANDS = {
    "billing": {
        "en": ("Void INV-7", "Do not void INV-7", "Should I void INV-7?", "If Ann agrees, void INV-7"),
        "de": (
            "Storniere INV-7",
            "Storniere INV-7 nicht",
            "Soll ich INV-7 stornieren?",
            "Falls Ann zustimmt, storniere INV-7",
        ),
        "fr": ("Annule INV-7", "N'annule pas INV-7", "Dois-je annuler INV-7 ?", "Si Ann accepte, annule INV-7"),
        "es": ("Anula INV-7", "No anules INV-7", "¿Debo anular INV-7?", "Si Ann acepta, anula INV-7"),
    },
    "crm": {
        "en": (
            "Delete contact C-9",
            "Never delete contact C-9",
            "Did you delete contact C-9?",
            "Delete contact C-9 unless Bo objects",
        ),
        "de": (
            "Lösche Kontakt C-9",
            "Lösche Kontakt C-9 nicht",
            "Hast du Kontakt C-9 gelöscht?",
            "Lösche Kontakt C-9, sobald Bo zusagt",
        ),
        "fr": (
            "Supprime le contact C-9",
            "Ne supprime pas le contact C-9",
            "As-tu supprimé le contact C-9 ?",
            "Supprime le contact C-9 dès que Bo répond",
        ),
        "es": (
            "Borra el contacto C-9",
            "No borres el contacto C-9",
            "¿Borraste el contacto C-9?",
            "Borra el contacto C-9 cuando Bo responda",
        ),
    },
    "tickets": {
        "en": ("Close T-31", "Don't close T-31", "Why did you close T-31?", "Close T-31 once Mia has tested it"),
        "de": (
            "Schließe T-31",
            "Schließe T-31 noch nicht",
            "Warum hast du T-31 geschlossen?",
            "Schließe T-31, wenn Mia es getestet hat",
        ),
        "fr": (
            "Ferme le ticket T-31",
            "Ne ferme surtout pas le ticket T-31",
            "Pourquoi as-tu fermé le ticket T-31 ?",
            "Ferme le ticket T-31 quand Mia aura fini",
        ),
        "es": ("Cierra T-31", "No cierres T-31", "¿Por qué cerraste T-31?", "Cierra T-31 cuando Mia termine"),
    },
}


@cache
def tool_sets() -> dict[str, Catalog]:
    lines = (FOLDER / TOOL_SETS).read_bytes().splitlines()
    return {found.toolset: catalog_of(found.tools) for found in map(read_tool_set, lines)}


def writes(request: str, catalog: Catalog) -> bool:
    """Whether a run of the plan would change something."""
    try:
        plan = plan_offline(request, catalog)
    except NoToolFits:
        return False
    acts = [
        step for _, step in every_step(plan.block) if isinstance(step, Call) and not catalog.tools[step.tool].is_read
    ]
    return bool(acts) and not plan.questions and (plan.confidence or 0) >= Settings().planner_floor


@pytest.mark.parametrize("tools", COMMANDS)
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_only_the_command_writes(tools: str, language: str) -> None:
    command, *others = COMMANDS[tools][language]
    catalog = tool_sets()[tools]
    assert writes(command, catalog), command
    assert [one for one in others if writes(one, catalog)] == []


def test_a_condition_that_a_tool_can_tell_becomes_one_of_the_plan() -> None:
    plan = plan_offline("If INV-55 is overdue, send a reminder", tool_sets()["billing"])
    steps = [step for _, step in every_step(plan.block) if isinstance(step, Call)]
    assert [(step.tool, step.when) for step in steps] == [
        ("get_invoice", None),
        ("send_reminder", "{{ get_invoice.status == 'overdue' }}"),
    ]
    assert plan.questions == ()


@pytest.mark.parametrize("request_", ["not", "Not.", "nicht", "Delete", "it", "?!", "delete löschen supprimer borrar"])
def test_what_says_hardly_anything_writes_nothing(request_: str) -> None:
    for catalog in tool_sets().values():
        assert not writes(request_, catalog)
