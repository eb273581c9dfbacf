"""A participle is of its verb, whatever words other tongues have: `closed` is of no French `clos`."""

from __future__ import annotations

import re

import pytest

from toolpath.checks.request.participles import bases_of, done
from toolpath.checks.request.verbs import all_english_verbs


def past_of(verb: str) -> str:
    if verb.endswith("e"):
        return f"{verb}d"
    return f"{verb[:-1]}ied" if re.search(r"[^aeiou]y$", verb) else f"{verb}ed"


def test_the_regular_past_of_every_verb_is_of_it() -> None:
    verbs = [verb for verb in all_english_verbs() if verb.isalpha()]
    assert len(verbs) > 300
    assert [verb for verb in verbs if verb not in bases_of(past_of(verb))] == []


@pytest.mark.parametrize(
    ("said", "verb"),
    [
        ("closed", "close"),
        ("cancelled", "cancel"),
        ("copied", "copy"),
        ("merging", "merge"),
        ("dropped", "drop"),
        ("paid", "pay"),
        ("vetted", "vet"),  # no verb that is known here
        ("transcribed", "transcribe"),
        ("bottled", "bottle"),
    ],
)
def test_a_participle_is_of_its_verb(said: str, verb: str) -> None:
    assert done(said) == verb


@pytest.mark.parametrize("said", ["red", "bed", "king", "close", "T-31", "ed", "ing", ""])
def test_what_is_none_is_of_no_verb(said: str) -> None:
    assert done(said) == said.casefold()
