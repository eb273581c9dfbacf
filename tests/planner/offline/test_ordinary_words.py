"""Ordinary words of a request are never read as words of the tools, in none of the four languages."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolpath.catalog.snapshot import Catalog
from toolpath.model.plan import Call
from toolpath.model.tool import Tool
from toolpath.planner.offline.planner import plan_offline
from toolpath.planner.offline.request.spelling import ordinary_words, spelled
from toolpath.planner.scoring.people.shipped import FOLDER, TOOL_SETS
from toolpath.testing.scripted import scripted

#: Near to these is many an ordinary word: white, black, border, apple, leads, weather.
NAMES = "write_note|block_user|order_item|apply_label|read_leads|send_letter|set_whether|book_flight|list_projects"


def tools_named(names: str) -> list[Tool]:
    schema = {"type": "object", "properties": {"title": {"type": "string"}, "address": {"type": "string"}}}
    return [
        scripted(name, then={}, effect="write", description=f"{name.replace('_', ' ')}.", input_schema=schema)
        for name in names.split("|")
    ]


def shipped_tools() -> list[list[Tool]]:
    sets = map(json.loads, (FOLDER / TOOL_SETS).read_text(encoding="utf-8").splitlines())
    return [
        [
            scripted(tool["name"], then={}, description=tool["description"], input_schema=tool["parameters"])
            for tool in one["tools"]
        ]
        for one in sets
    ]


TOOL_LISTS = [tools_named(NAMES), *shipped_tools()]


@pytest.mark.parametrize("tools", TOOL_LISTS[:4], ids=len)
def test_no_word_of_english_is_read_as_another(tools: list[Tool]) -> None:
    words = sorted(ordinary_words())
    for at in range(0, len(words), 150):
        text = f"please show {' '.join(words[at : at + 150])} to me"
        assert spelled(text, tools, ()).changes == ()


#: Nouns, adjectives and verbs of everyday requests, many of them near to English words of tools.
DE = """Adresse adresse projekt produkt kontakt kalender datei dateien weiß weiss weite schwarz blatt karte konto
kunde kunden rechnung termin termine liste listen bericht brief briefe nachricht nummer ordner paket preis rabatt
lösche loesche schreibe zeige bestelle buche storniere verschiebe schicke erstelle öffne schließe setze ändere fuege
teilnehmer flug flüge zimmer haus lampe musik wetter morgen heute gestern freitag straße stadt gruppe meldung notiz
nutzer benutzer kategorie etikett status priorität beschreibung titel betrag währung artikel lieferung warenkorb"""
FR = """adresse projet produit contacte contacter calendrier fichier fichiers blanc blanche noir noire carte compte
client clients facture rendez liste listes rapport lettre lettres message numéro dossier paquet prix remise
supprime supprimer écris écrire montre commande commander réserve réserver annule annuler déplace envoie envoyer crée
créer ouvre fermer ajoute ajouter participant vols chambre maison lampe musique météo demain hier vendredi ville groupe
alerte note notes utilisateur catégorie étiquette statut priorité titre montant devise article livraison
panier mettre"""
ES = """dirección direcciones proyecto producto contacto contactos calendario archivo archivos blanco blanca negro carta
cuenta cliente clientes factura cita citas lista listas informe mensaje número carpeta paquete precio descuento
borra borrar escribe escribir muestra pedir reserva reservar cancela cancelar mueve mover envía enviar crea crear abre
abrir cierra cerrar añade añadir vuelo vuelos habitación casa lámpara música tiempo mañana ayer viernes ciudad grupo
alerta nota notas usuario categoría etiqueta estado prioridad título importe moneda artículo entrega
carrito notificar"""
FRAMES = {
    "de": ("Lösche {}", "Schreibe {}", "Zeig mir bitte {} von der Liste", "Buche {} für morgen", "{} absagen"),
    "fr": ("Supprime {}", "Envoie {}", "Montre-moi {} de la liste", "Réserve {} pour demain", "Annule {}"),
    "es": ("Borra {}", "Envía {}", "Muéstrame {} de la lista", "Reserva {} para mañana", "Cancela {}"),
}


@settings(max_examples=600)
@given(data=st.data())
def test_no_word_of_german_french_and_spanish_is_read_as_a_word_of_the_tools(data: st.DataObject) -> None:
    tongue = data.draw(st.sampled_from(["de", "fr", "es"]))
    words = {"de": DE, "fr": FR, "es": ES}[tongue].split()
    said = " ".join(data.draw(st.lists(st.sampled_from(words), min_size=1, max_size=4)))
    text = data.draw(st.sampled_from(FRAMES[tongue])).format(said)
    tools = data.draw(st.sampled_from(TOOL_LISTS))
    assert spelled(text, tools, ()).changes == ()


@pytest.mark.parametrize("word", ["white", "black", "border", "apple", "weather", "leads", "flights"])
def test_a_plan_takes_an_ordinary_word_as_it_stands(word: str) -> None:
    tools = tools_named("write_note|order_item|block_user|apply_label")
    plan = plan_offline(f"Order the item {word}", Catalog({tool.key: tool for tool in tools}))
    assert "Read" not in plan.reasoning
    assert not any("spelled" in one for one in plan.questions)
    said = " ".join(str(step.inputs) for step in plan.steps if isinstance(step, Call))
    assert not re.search(r"write|order|apply|whether|reads", said)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Wrtie a note", "write"),
        ("wriet a note", "write"),
        ("Plese show my adress", "please"),
        ("Boook a flihgt", "flight"),
    ],
)
def test_what_is_no_word_is_still_mended(text: str, meant: str) -> None:
    assert meant in dict(spelled(text, tools_named(NAMES), ()).changes).values()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hsip the order", "ship"),
        ("list the opne orders", "open"),
        ("Lösceh die Datei alt.txt", "lösche"),
        ("Stroniere die Bestellung", "storniere"),
    ],
)
def test_letters_the_wrong_way_round_are_mended_in_short_words_and_in_the_verbs_of_other_tongues(
    text: str, meant: str
) -> None:
    assert meant in dict(spelled(text, tools_named("ship_order|open_order"), ()).changes).values()


@pytest.mark.parametrize("word", ["form", "sing", "past", "best", "tied", "used", "slat", "diary"])
def test_a_short_word_that_is_one_is_not_turned_into_another(word: str) -> None:
    tools = tools_named("send_from|sign_letter|send_post|cancel_bets|set_tide|book_salt|list_dairy")
    assert spelled(f"please show the {word} to me", tools, ()).changes == ()
