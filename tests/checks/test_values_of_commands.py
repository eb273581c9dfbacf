"""Values that no command means as they stand: an id to be filled in, two ids as one, any day, a day gone."""

from __future__ import annotations

from itertools import product

import pytest
from tests.checks.test_disturbed_commands import written

#: A command with a place for an id, where plain ids are taken.
OF_IDS = (
    *(("gym", "Delete member {}"), ("vet", "Cancel visit {}"), ("brewery", "Clean tank {}")),
    *(("servers", "Lösche den Server {}"), ("gym", "Supprime le membre {}"), ("vet", "Cancela la visita {}")),
)
IDS = ("M-31", "VS-31", "web-31")
NO_IDS = ("BK-XX", "BK-??", "<member>", "'BK-12 or BK-13'", "'BK-12 and BK-13'")


@pytest.mark.parametrize(("where", "frame"), OF_IDS)
def test_what_is_to_be_filled_in_and_two_in_one_are_no_id(where: str, frame: str) -> None:
    assert any(written(where, frame.format(one)) for one in IDS)
    assert [one for one in NO_IDS if written(where, frame.format(one))] == []


TO_DAYS = ("Move visit VS-31 to {}", "Verschiebe den Besuch VS-31 auf {}", "Déplace la visite VS-31 au {}")
DAYS = ("2027-03-05", "2028-01-02")
NO_DAYS = ("2020-03-05", "2027-02-14", "a Friday", "some Friday", "einen Freitag", "2027-03-05 at 15:00")


@pytest.mark.parametrize("frame", TO_DAYS)
def test_any_day_and_a_day_that_is_over_are_asked_about(frame: str) -> None:
    assert any(written("vet", frame.format(one)) for one in DAYS)
    assert [one for one in NO_DAYS if written("vet", frame.format(one))] == []


WAITS = ("in an hour", "in half an hour", "in einer Stunde", "dans une heure", "dentro de una hora", "in two days")


def test_what_is_to_be_done_later_is_not_done_at_once() -> None:
    commands = (("servers", "Restart server web-31"), ("gym", "Delete member M-31"), ("vet", "Cancel visit VS-31"))
    assert [said for where, said in commands if not written(where, said)] == []
    assert [(said, wait) for (where, said), wait in product(commands, WAITS) if written(where, f"{said} {wait}")] == []


ALIKE = [
    ("gym", "Change the tariff of member M-31, a student, to plus"),
    ("brewery", "Pay 99999999999999999999 euros for invoice INV-31"),
    ("brewery", "Pay 5 euros each for invoice INV-31"),
    ("brewery", "Pay some 50 euros for invoice INV-31"),
    ("brewery", "Paga unos 50 euros por la factura INV-31"),
    ("brewery", "Paga 50 euros al mes por la factura INV-31"),
    ("brewery", "Zahle je 50 Euro für die Rechnung INV-31"),
    ("servers", "Scale the service billing 3 replicas lower"),
    ("servers", "Scale the service billing below 3 replicas"),
    ("vet", "Move visit VS-31 to the Friday after"),
    ("vet", "Verschiebe den Besuch VS-31 auf den Freitag danach"),
    ("gym", "Change the tariff of member M-31 to student-like"),
    ("brewery", "Pay half for invoice INV-31"),
    ("servers", "Scale the service that calls billing to 3 replicas"),
    ("brewery", "Regnet es, reinige den Tank T-31"),
    ("brewery", "Reinige allenfalls den Tank T-31"),
    ("brewery", "Who knows, clean tank T-31"),
    ("gym", "Delete member M-31 and you're fired"),
]


@pytest.mark.parametrize(("where", "request_"), ALIKE)
def test_what_is_said_in_passing_is_no_value_and_no_command(where: str, request_: str) -> None:
    assert written(where, request_) == [], request_
