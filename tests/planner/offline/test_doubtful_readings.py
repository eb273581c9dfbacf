"""What only shows something is run unasked only for who asks for something, and for what it tells."""

from __future__ import annotations

from itertools import product

import pytest
from tests.planner.offline.test_needless_questions import TEXT, done, is_asked, tool


def coded(example: str) -> dict[str, str]:
    return {**TEXT, "description": f"e.g. {example}"}


LETTERS = (
    tool("search_letters", "Search the letters.", "read", text={**TEXT, "description": "Words in the letter"}),
    tool("get_letter", "Show a letter.", "read", letter_id=coded("LT-7")),
    tool("shred_letter", "Shred a letter.", "destructive", letter_id=coded("LT-7")),
)
LOANS = (
    tool("list_shelves", "List the shelves of the archive.", "read"),
    tool("get_box", "Show a box.", "read", box_id=coded("BX-12")),
    tool("close_box", "Close a box for good.", "write", box_id=coded("BX-12")),
)
#: The same, and one that records who did what.
AUDITED = (
    *LOANS,
    tool("box_history", "Show the history of a box: who opened or closed it.", "read", box_id=coded("BX-12")),
)

SUBJECTS = ("The letter", "LT-7", "The note on LT-7", "Der Brief", "La lettre", "La carta")
TELLING = {
    "en": ('said: "send it back to Ann"', "was signed by the mayor", 'had the title "Please shred me"'),
    "de": ('sagte: "schick es an Ann zurück"', "war schon unterschrieben"),
    "fr": ('disait : "renvoie-le à Ann"', "était signée par le maire"),
    "es": ('decía: "devuélvelo a Ann"', "estaba firmada por el alcalde"),
}
TONGUE = {"Der Brief": "de", "La lettre": "fr", "La carta": "es"}
STATEMENTS = [f"{who} {what}" for who in SUBJECTS for what in TELLING[TONGUE.get(who, "en")]]


@pytest.mark.parametrize("said", STATEMENTS)
def test_what_only_tells_is_not_answered_with_a_search(said: str) -> None:
    assert is_asked(said, LETTERS)


@pytest.mark.parametrize(
    ("opening", "letter"),
    [*product(("Show me", "Zeig mir", "Montre-moi", "Muéstrame", "Can you show me"), ("LT-7", "LT-31"))],
)
def test_who_asks_for_it_is_shown_it(opening: str, letter: str) -> None:
    assert done(f"{opening} {letter}", LETTERS) == [("get_letter", {"letter_id": letter})]


DOERS = ("Who closed BX-12?", "who closed box BX-12", "Why did Leo close BX-12?", "Why has Ann closed BX-12?")


@pytest.mark.parametrize("said", DOERS)
def test_who_did_it_is_not_answered_with_what_it_was_done_to(said: str) -> None:
    assert is_asked(said, LOANS)


def test_what_records_deeds_tells_who_did_it() -> None:
    assert done("Who closed BX-12?", AUDITED) == [("box_history", {"box_id": "BX-12"})]


@pytest.mark.parametrize(
    "said", ["How bad would it be if we closed BX-12?", "how risky is it to close BX-12", "What if BX-12 were closed?"]
)
def test_an_opinion_is_no_figure(said: str) -> None:
    assert is_asked(said, LOANS)


NAMED = (tool("find_box", "Look up a box by its name.", "read", name={**TEXT, "description": "Name of the box"}),)


@pytest.mark.parametrize(
    "said",
    [
        "Paint my box blue",
        "Paint the box Bertha",
        "Wax the box Bertha",
        "Laquez la boîte Bertha",
        "Bemal die Kiste Bertha",
    ],
)
def test_what_is_to_be_done_is_not_answered_by_looking_it_up(said: str) -> None:
    assert is_asked(said, NAMED)


@pytest.mark.parametrize("said", ["Find the box Bertha", "Show me the box Bertha", "where is the box Bertha?"])
def test_who_looks_for_it_is_not_asked(said: str) -> None:
    assert done(said, NAMED) == [("find_box", {"name": "Bertha"})]
