"""Sentences beside a command: what is said of the deed takes it back, what is said of its thing is a reason for it."""

from __future__ import annotations

import pytest
from tests.checks.test_disturbed_commands import COMMANDS, capital, written

#: Said of the deed: somebody does it, it is off, or all is well.
OF_THE_DEED = {
    "en": """
Tom did.
Nora has.
Somebody else will.
I have.
We are too late.
You're too late.
Already happened.
Happened yesterday.
It stays.
The request was denied.
Request denied.
Permission denied.
Approval was withdrawn.
Legal stopped that.
The boss vetoed this.
Tom took care of it.
Tom has taken care of it.
Tom's on it.
Tom is doing it.
I got it.
It happened this morning.
We're good.
It's fine.
Everything is fine as it is.
It's sorted.
It's on hold.
It's off the table.
It's just an idea.
It's a bad idea.
The deal is off.
Plans have changed.
It won't happen.
Another day.
All sorted.
Change of plans.
Stop.
""",
    "de": """
Der Chef verbietet das.
Der Chef blockiert das.
Tom hat.
Sie bleibt.
Antrag abgelehnt.
Die Freigabe wurde zurückgezogen.
Vergessen Sie es.
Lassen Sie es.
Das macht Tom.
Ich mache es selbst.
Es bleibt dabei.
Alles bleibt wie es ist.
Ich nehme es zurück.
Wir werden sehen.
Halt!
Ein andermal.
""",
    "fr": """
C'était l'ancien plan.
Je retire ça.
Il reste.
Le chef interdit ça.
Demande refusée.
Laisse tomber.
C'est fait.
C'est bon.
Je m'en occupe.
Je le ferai.
Tout va bien.
C'était pour rire.
Une autre fois.
Arrête.
""",
    "es": """
Ese era el plan viejo.
Se queda.
El jefe prohíbe eso.
Solicitud rechazada.
Déjalo.
Olvídalo.
Ya está.
Está bien así.
Yo me encargo.
Lo haré yo.
Es solo una sugerencia.
Otro día.
Luego.
Alto.
""",
}
#: Said of its thing, or of the world.
OF_THE_THING = {
    "en": (
        "Tom lost it.",
        "It's broken.",
        "Anna found it this morning.",
        "It's a mess.",
        "We have another one.",
        "The guest wants that.",
    ),
    "de": ("Es ist doppelt.", "Es ist kaputt."),
    "fr": ("C'est urgent.", "Tom l'a perdu."),
    "es": ("Ya está roto.", "Es urgente."),
}


@pytest.mark.parametrize("language", COMMANDS)
def test_what_is_said_of_the_deed_takes_it_back(language: str) -> None:
    sentences = OF_THE_DEED[language].strip().splitlines()
    commands = COMMANDS[language]
    # Each sentence with two of the commands, each command with many of the sentences.
    pairs = [
        (where, f"{capital(command)}. {one}")
        for at, one in enumerate(sentences)
        for where, command in (commands[at % len(commands)], commands[(at + 1) % len(commands)])
    ]
    assert [said for where, said in pairs if written(where, said)] == []


@pytest.mark.parametrize("language", COMMANDS)
def test_what_is_said_of_its_thing_is_a_reason(language: str) -> None:
    commands = COMMANDS[language]
    pairs = [(*commands[at % len(commands)], one) for at, one in enumerate(OF_THE_THING[language])]
    said = [(where, f"{capital(command)}. {one}") for where, command, one in pairs]
    assert [one for where, one in said if not written(where, one)] == []
