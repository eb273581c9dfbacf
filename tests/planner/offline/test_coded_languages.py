"""Languages and countries in words, where tools take their codes: which way each is meant, in four tongues."""

from __future__ import annotations

from typing import Any

import pytest
from tests.planner.made_tools import tool

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.model.tool import Effect
from toolpath.planner.offline.planner import plan_offline

#: How schemas say that two letters are taken.
CODED: tuple[dict[str, Any], ...] = (
    {"type": "string", "minLength": 2, "maxLength": 2},
    {"type": "string", "description": "ISO 639-1 code"},
    {"type": "string", "description": "Two letters, e.g. `en`"},
    {"type": "string", "pattern": "^[a-z]{2}$"},
)
NAMES = (("source_language", "target_language"), ("from_lang", "to_lang"), ("original_language", "output_language"))
PAIRS = (
    ("from German into Polish", "de", "pl"),
    ("from Danish to Dutch", "da", "nl"),
    ("aus dem Deutschen ins Polnische", "de", "pl"),
    ("von Englisch nach Tschechisch", "en", "cs"),
    ("de l'anglais vers le japonais", "en", "ja"),
    ("du néerlandais à l'espagnol", "nl", "es"),
    ("del inglés al portugués", "en", "pt"),
    ("del francés al alemán", "fr", "de"),
)
#: Two parameters of which nothing but their order says which is which.
UNLED = "German, Polish"


def translator(first: str, last: str, schema: dict[str, Any], effect: Effect = "read") -> Catalog:
    fields = {"text_id": {"type": "string", "description": "e.g. TX-1"}, first: schema, last: schema}
    made = tool("translate_text", "Translate a text.", effect, **fields)
    return Catalog({made.key: made})


@pytest.mark.parametrize("schema", CODED, ids=lambda one: str(one)[18:40])
@pytest.mark.parametrize("names", NAMES, ids=lambda one: one[0])
def test_where_from_and_where_to_are_told_by_what_leads_to_them(names: tuple[str, str], schema: dict[str, Any]) -> None:
    verbs = {"from": "Translate", "aus": "Übersetze", "von": "Übersetze", "de": "Traduis", "du": "Traduis"}
    for said, source, target in PAIRS:
        request = f"{verbs.get(said.split()[0], 'Traduce')} TX-7 {said}"
        (step,) = plan_offline(request, translator(*names, schema)).steps
        assert isinstance(step, Call)
        assert step.inputs == {"text_id": "TX-7", names[0]: source, names[1]: target}, request


def test_which_of_two_languages_is_which_is_asked_where_nothing_leads_to_them() -> None:
    catalog = translator("lang_a", "lang_b", CODED[0], "write")
    assert plan_offline(f"Translate TX-7, {UNLED}", catalog).questions


def test_a_variety_of_a_language_is_asked_about() -> None:
    catalog = translator("source_language", "target_language", CODED[0])
    assert plan_offline("Translate TX-7 from English to Brazilian Portuguese", catalog).questions


def test_a_country_in_words_becomes_its_code() -> None:
    for schema in ({"type": "string", "maxLength": 2}, {"type": "string", "description": "ISO 3166 code"}):
        made = tool("list_depots", "List the depots of a country.", "read", country=schema)
        for request in ("List the depots in Croatia", "Liste die Depots in Kroatien", "Liste les dépôts en Croatie"):
            (step,) = plan_offline(request, Catalog({made.key: made})).steps
            assert isinstance(step, Call)
            assert step.inputs == {"country": "HR"}, request
