"""Requests that command a write, and the same ones taken back: templates, acts, four languages, eight tool sets."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from toolpath.catalog.snapshot import Catalog
from toolpath.model.tool import Tool
from toolpath.values import JsonObject


class Said(NamedTuple):
    """How an act is said in one language."""

    verb: str
    """As a command has it."""
    infinitive: str
    doing: str
    done: str
    thing: str


class Act(NamedTuple):
    """A write, and how it is asked for."""

    tool: str
    inputs: JsonObject
    english: Said
    german: Said
    french: Said
    spanish: Said


def tool(key: str, description: str, effect: Any = "write", **properties: str) -> Tool:
    group, _, name = key.partition(".")
    schema = {
        "type": "object",
        "properties": {one: {"type": kind} for one, kind in properties.items()},
        "required": list(properties),
    }
    return Tool(group=group, name=name, description=description, effect=effect, input_schema=schema)


SETS: dict[str, tuple[Tool, ...]] = {
    "crm": (
        tool("crm.delete_contact", "Delete a contact.", "destructive", contact_id="string"),
        tool("crm.create_contact", "Create a contact.", name="string", email="string"),
        tool("crm.get_contact", "Get a contact.", "read", contact_id="string"),
    ),
    "travel": (
        tool("travel.cancel_booking", "Cancel a booking.", "destructive", booking_id="string"),
        tool("travel.book_room", "Book a room in a hotel.", hotel="string", nights="integer"),
        tool("travel.find_flights", "Find flights to a city.", "read", city="string"),
    ),
    "mail": (
        tool("mail.send_email", "Send an email.", to="string", subject="string"),
        tool("mail.archive_message", "Archive a message.", message_id="string"),
        tool("mail.list_messages", "List the messages of a folder.", "read", folder="string"),
    ),
    "files": (
        tool("files.remove_file", "Remove a file.", "destructive", path="string"),
        tool("files.rename_file", "Rename a file.", path="string", new_name="string"),
        tool("files.read_file", "Read a file.", "read", path="string"),
    ),
    "git": (
        tool("git.merge_branch", "Merge a branch.", branch="string"),
        tool("git.close_issue", "Close an issue.", issue_id="string"),
        tool("git.list_issues", "List the issues of a repository.", "read", repository="string"),
    ),
    "shop": (
        tool("shop.refund_order", "Refund an order.", order_id="string"),
        tool("shop.publish_product", "Publish a product.", product_id="string"),
        tool("shop.get_order", "Get an order.", "read", order_id="string"),
    ),
    "bank": (
        tool("bank.pay_invoice", "Pay an invoice.", invoice_id="string"),
        tool("bank.block_card", "Block a card.", card_id="string"),
        tool("bank.get_balance", "Get the balance of an account.", "read", account_id="string"),
    ),
    "calendar": (
        tool("calendar.update_event", "Update the title of an event.", event_id="string", title="string"),
        tool("calendar.invite_guest", "Invite a guest to an event.", event_id="string", email="string"),
        tool("calendar.list_events", "List the events of a day.", "read", day="string"),
    ),
}


def acts(seed: random.Random) -> Iterator[tuple[str, Act]]:
    """One act of each kind with values of its own, and the tool set it belongs to."""

    def number(prefix: str) -> str:
        return f"{prefix}-{seed.randint(2, 99_999)}"

    contact, booking, message = number("C"), number("BR"), number("M")
    yield (
        "crm",
        Act(
            "crm.delete_contact",
            {"contact_id": contact},
            Said("delete", "delete", "deleting", "deleted", f"contact {contact}"),
            Said("lösche", "löschen", "", "gelöscht", f"den Kontakt {contact}"),
            Said("supprime", "supprimer", "", "supprimé", f"le contact {contact}"),
            Said("elimina", "eliminar", "eliminando", "eliminado", f"el contacto {contact}"),
        ),
    )
    yield (
        "travel",
        Act(
            "travel.cancel_booking",
            {"booking_id": booking},
            Said("cancel", "cancel", "cancelling", "cancelled", f"booking {booking}"),
            Said("storniere", "stornieren", "", "storniert", f"die Buchung {booking}"),
            Said("annule", "annuler", "", "annulé", f"la réservation {booking}"),
            Said("cancela", "cancelar", "cancelando", "cancelado", f"la reserva {booking}"),
        ),
    )
    yield (
        "mail",
        Act(
            "mail.archive_message",
            {"message_id": message},
            Said("archive", "archive", "archiving", "archived", f"message {message}"),
            Said("archiviere", "archivieren", "", "archiviert", f"die Nachricht {message}"),
            Said("archive", "archiver", "", "archivé", f"le message {message}"),
            Said("archiva", "archivar", "archivando", "archivado", f"el mensaje {message}"),
        ),
    )
    file = f"/srv/{seed.choice(('a', 'data', 'old-logs'))}/report-{seed.randint(1, 99)}.txt"
    yield (
        "files",
        Act(
            "files.remove_file",
            {"path": file},
            Said("remove", "remove", "removing", "removed", f"the file {file}"),
            Said("entferne", "entfernen", "", "entfernt", f"die Datei {file}"),
            Said("efface", "effacer", "", "effacé", f"le fichier {file}"),
            Said("borra", "borrar", "borrando", "borrado", f"el archivo {file}"),
        ),
    )
    issue, order, invoice, card = number("IS"), number("ORD"), number("INV"), number("K")
    yield (
        "git",
        Act(
            "git.close_issue",
            {"issue_id": issue},
            Said("close", "close", "closing", "closed", f"issue {issue}"),
            Said("schließe", "schließen", "", "geschlossen", f"das Ticket {issue}"),
            Said("ferme", "fermer", "", "fermé", f"le ticket {issue}"),
            Said("cierra", "cerrar", "cerrando", "cerrado", f"el ticket {issue}"),
        ),
    )
    yield (
        "shop",
        Act(
            "shop.refund_order",
            {"order_id": order},
            Said("refund", "refund", "refunding", "refunded", f"order {order}"),
            Said("erstatte", "erstatten", "", "erstattet", f"die Bestellung {order}"),
            Said("rembourse", "rembourser", "", "remboursé", f"la commande {order}"),
            Said("reembolsa", "reembolsar", "reembolsando", "reembolsado", f"el pedido {order}"),
        ),
    )
    yield (
        "bank",
        Act(
            "bank.pay_invoice",
            {"invoice_id": invoice},
            Said("pay", "pay", "paying", "paid", f"invoice {invoice}"),
            Said("bezahle", "bezahlen", "", "bezahlt", f"die Rechnung {invoice}"),
            Said("paie", "payer", "", "payé", f"la facture {invoice}"),
            Said("paga", "pagar", "pagando", "pagado", f"la factura {invoice}"),
        ),
    )
    yield (
        "bank",
        Act(
            "bank.block_card",
            {"card_id": card},
            Said("block", "block", "blocking", "blocked", f"card {card}"),
            Said("sperre", "sperren", "", "gesperrt", f"die Karte {card}"),
            Said("bloque", "bloquer", "", "bloqué", f"la carte {card}"),
            Said("bloquea", "bloquear", "bloqueando", "bloqueado", f"la tarjeta {card}"),
        ),
    )


COMMANDS: dict[str, tuple[str, ...]] = {
    "english": (
        "{V} {o}",
        "{V} {o}.",
        "Please {v} {o}",
        "{V} {o}, please.",
        "Kindly {v} {o}.",
        "Could you please {v} {o}?",
        "Can you please {v} {o}",
        "Go ahead and {v} {o}",
        "I want you to {v} {o}",
        "I'd like to {v} {o}.",
        "I need to {v} {o}",
        "Hi, please {v} {o}. Thanks!",
        "now {v} {o}!",
    ),
    "german": (
        "{V} {o}",
        "Bitte {v} {o}.",
        "{V} bitte {o}",
        "Bitte {o} {i}",
        "{I} Sie {o}.",
        "Kannst du bitte {o} {i}?",
    ),
    "french": (
        "{V} {o}",
        "{V} {o}, s'il te plaît.",
        "Veuillez {i} {o}",
        "Merci de {i} {o}.",
        "{I} {o}",
    ),
    "spanish": ("{V} {o}", "Por favor, {v} {o}.", "{V} {o}, por favor", "{I} {o}"),
}

#: Asks whether somebody can, and so asks for it, unless it destroys.
ASKED_OF_SOMEBODY: dict[str, tuple[str, ...]] = {
    "english": ("Can you {v} {o}?", "Could you {v} {o} for me?", "can you {v} {o}", "Hi! Could you {v} {o}? Thanks"),
    "german": ("Kannst du {o} {i}?", "Könntest du {o} {i}?", "Können Sie {o} {i}?"),
    "french": ("Peux-tu {i} {o} ?", "Pourriez-vous {i} {o} ?"),
    "spanish": ("¿Puedes {i} {o}?", "¿Podrías {i} {o}?"),
}

#: Beside a command, in its own language: why, and thanks.
REASONS: dict[str, tuple[str, ...]] = {
    "english": (
        "{V} {o}, the room flooded",
        "{V} {o}, their flight got scrapped",
        "{V} {o}, she's going for a scan",
        "{V} {o}, it's stuck again",
        "{V} {o} because the client moved away",
        "{V} {o} - nobody needs it any more",
        "Storm's coming, {v} {o}",
        "The printer broke down. {V} {o} please, thanks",
        "{V} {o} right now, ta",
    ),
    "german": (
        "{V} {o}, die Bremsen quietschen",
        "{V} {o}, der Patient hat Ausschlag bekommen",
        "{V} {o}, weil das Zimmer überflutet ist",
        "Bitte {o} {i}, das Gerät ist kaputt",
        "{V} {o}, wir brauchen es nicht mehr",
    ),
    "french": (
        "{V} {o}, l'invité s'est rétracté",
        "{V} {o}, la machine ne marche plus",
        "{V} {o} parce que le client est parti, merci",
    ),
    "spanish": (
        "{V} {o}, era un falso positivo",
        "{V} {o}, el cliente se ha ido",
        "{V} {o} porque la máquina está rota, gracias",
    ),
}

#: What sounds like a reason and puts the command in doubt.
NO_REASONS: dict[str, tuple[str, ...]] = {
    "english": (
        "{V} {o}, Tom said",
        "{V} {o}, I think",
        "{V} {o}, the boss has to decide first",
        "{V} {o}, we might need it",
        "{V} {o}, she doesn't want it",
        "{V} {o}. I'm only joking",
        "{V} {o}. That was a mistake",
        "This is an example. {V} {o}",
        "Tom's message is as follows. {V} {o}",
        "{V} {o}, it was {d} already",
        "{V} {o}, Ann must agree",
    ),
    "german": (
        "{V} {o}, sagt Tom",
        "{V} {o}, glaube ich",
        "{V} {o}, der Chef muss erst zustimmen",
        "{V} {o}, es wurde schon {d}",
        "Das ist nur ein Beispiel. {V} {o}",
    ),
    "french": (
        "{V} {o}, dit Tom",
        "{V} {o}, le chef doit d'abord décider",
        "C'est un exemple. {V} {o}",
        "{V} {o}, je plaisante",
    ),
    "spanish": (
        "{V} {o}, dice Tom",
        "{V} {o}, el jefe debe decidir primero",
        "Es un ejemplo. {V} {o}",
        "{V} {o}, es una broma",
    ),
}

TAKEN_BACK: dict[str, tuple[str, ...]] = {
    "english": (
        "Do not {v} {o}",
        "Don't {v} {o}!",
        "Don\u2019t {v} {o}",
        "dont {v} {o}",
        "Please do not {v} {o}.",
        "Please don't {v} {o}",
        "Never {v} {o}",
        "You must not {v} {o}.",
        "You cannot {v} {o}",
        "We no longer want to {v} {o}",
        "Avoid {g} {o}",
        "Stop {g} {o}.",
        "Refrain from {g} {o}",
        "Skip {g} {o}",
        "There is no need to {v} {o}",
        "No need to {v} {o}",
        "Instead of {g} {o}, wait",
        "Go on without {g} {o}",
        "I don't want you to {v} {o}",
        "I do not need to {v} {o}",
        "Make sure not to {v} {o}",
        "Make sure you never {v} {o}",
        "Under no circumstances {v} {o}",
        "Whatever happens, do not {v} {o}",
        "By no means {v} {o}",
        "Hold off on {g} {o}",
        "Forget about {g} {o}",
        "Nobody should {v} {o}",
        "{V} nothing, and certainly not {o}",
        "{V} anything but {o}",
        "{V} everything except {o}",
        "Wait, don't {v} {o} yet",
        "Undo {g} {o}",
        "What would happen if I {v} {o}?",
        "What if we {v} {o}?",
        "What happens when you {v} {o}",
        "Should I {v} {o}?",
        "Shall we {v} {o}?",
        "Can I {v} {o}?",
        "Could it {v} {o}?",
        "May I {v} {o}?",
        "Do I have to {v} {o}?",
        "Did we {v} {o}?",
        "Has anybody {d} {o}?",
        "Was {o} {d}?",
        "Is {o} {d}?",
        "Is there a way to {v} {o}?",
        "Is it possible to {v} {o}",
        "Who {d} {o}?",
        "How do I {v} {o}?",
        "How to {v} {o}",
        "Why was {o} {d}?",
        "When will you {v} {o}?",
        "{V} {o}?",
        "So you want to {v} {o}?",
        "If it rains, {v} {o}",
        "If it rains {v} {o}.",
        "{V} {o} if Ann agrees",
        "{V} {o}, if that is fine",
        "Only if Ann agrees, {v} {o}",
        "When Ann agrees, {v} {o}",
        "Whenever it rains, {v} {o}",
        "Unless Ann objects, {v} {o}",
        "{V} {o} unless Ann objects",
        "{V} {o} once Ann has agreed",
        "{V} {o} as soon as Ann agrees",
        "{V} {o} in case Ann agrees",
        "In case of rain, {v} {o}",
        "{V} {o}, provided Ann agrees",
        "{V} {o} provided that Ann agrees",
        "Assuming Ann agrees, {v} {o}",
        "Should it rain, {v} {o}",
        "Had Ann agreed, {v} {o}",
        "Ask Ann, otherwise {v} {o}",
        "Wait until Ann agrees, then {v} {o}",
        "{V} {o} after Ann agrees",
        "Either {v} {o} or wait",
        "{V} {o} or wait",
        "Ann {d} {o}",
        "I {d} {o}",
        "{D} {o}",
        "I have already {d} {o}",
        "{O} was {d} yesterday",
        "{O} has been {d}",
        "They are {g} {o}",
        "{G} {o} is fun",
        "Ann wants to {v} {o}",
        "Bob said he will {v} {o}",
        "Ann told me to {v} {o}",
        "Ann wrote: {v} {o}",
        "Email from Ann: {v} {o}",
        "Subject: {v} {o}",
        'He said "{v} {o}"',
        "She said '{v} {o}'",
        '"{V} {o}"',
        'What does "{v} {o}" mean?',
        "I might {v} {o}",
        "We could {v} {o}",
        "I would {v} {o}",
        "You may {v} {o}",
        "Maybe {v} {o}",
        "Perhaps {v} {o}",
        "It would be nice to {v} {o}",
        "Imagine we {v} {o}",
        "Suppose I {v} {o}",
        "Pretend to {v} {o}",
        "The plan was to {v} {o}",
        "I wanted to {v} {o}",
        "I was going to {v} {o}",
        "I am thinking of {g} {o}",
        "I wonder whether to {v} {o}",
        "Explain how to {v} {o}",
        "Tell me how to {v} {o}",
        "Describe what it means to {v} {o}",
        "Consider {g} {o}",
        "Thanks for {g} {o}",
        "The request to {v} {o} was refused",
        "{V} {o}, just kidding, do not",
        "{V} {o}? No.",
        "{V} {o}. Actually, don't.",
        "{V} {o}. On second thought, leave it.",
        "A note about {g} {o}",
        "To {v} {o} is a mistake",
        "{V} all but {o}",
    ),
    "german": (
        "{V} {o} nicht",
        "{V} {o} auf keinen Fall",
        "Bitte {v} {o} nicht!",
        "{V} niemals {o}",
        "Bitte {o} nicht {i}",
        "Auf keinen Fall {o} {i}",
        "Du sollst {o} nicht {i}",
        "Mach weiter, ohne {o} zu {i}",
        "Statt {o} zu {i}, warte",
        "Vermeide es, {o} zu {i}",
        "Hör auf, {o} zu {i}",
        "Es ist nicht nötig, {o} zu {i}",
        "Soll ich {o} {i}?",
        "Wie kann ich {o} {i}?",
        "Was passiert, wenn ich {o} {v}?",
        "Hat Anna {o} {d}?",
        "Wer hat {o} {d}?",
        "Wurde {o} {d}?",
        "{V} {o}?",
        "Wenn es regnet, {v} {o}",
        "Falls Anna zustimmt, {v} {o}",
        "{V} {o}, falls Anna zustimmt",
        "{V} {o}, sobald Anna zustimmt",
        "{V} {o}, es sei denn, Anna widerspricht",
        "{V} {o} nur wenn Anna zustimmt",
        "Sollte es regnen, {v} {o}",
        "Warte bis morgen, sonst {v} {o}",
        "Anna hat {o} {d}",
        "Ich habe {o} {d}",
        "{O} wurde gestern {d}",
        "Anna will {o} {i}",
        "Anna sagte: {v} {o}",
        "Er sagte „{v} {o}“",
        "Vielleicht {v} {o}",
        "Ich würde {o} {i}",
        "Man könnte {o} {i}",
        "Ich frage mich, ob ich {o} {i} soll",
        "Stell dir vor, wir {i} {o}",
        "{V} {o} oder warte",
    ),
    "french": (
        "Ne {v} pas {o}",
        "Ne {v} jamais {o}",
        "Il ne faut pas {i} {o}",
        "Merci de ne pas {i} {o}",
        "Veuillez ne pas {i} {o}",
        "Continue sans {i} {o}",
        "Au lieu de {i} {o}, attends",
        "Évite de {i} {o}",
        "Arrête de {i} {o}",
        "Inutile de {i} {o}",
        "Dois-je {i} {o} ?",
        "Faut-il {i} {o} ?",
        "Est-ce que tu peux {i} {o} ?",
        "Comment {i} {o} ?",
        "Que se passe-t-il si je {v} {o} ?",
        "Qui a {d} {o} ?",
        "Anne a-t-elle {d} {o} ?",
        "{V} {o} ?",
        "S'il pleut, {v} {o}",
        "Si Anne est d'accord, {v} {o}",
        "{V} {o} si Anne est d'accord",
        "{V} {o} quand Anne sera d'accord",
        "{V} {o} dès qu'Anne est d'accord",
        "{V} {o} à moins qu'Anne refuse",
        "{V} {o} à condition qu'Anne accepte",
        "{V} tout sauf {o}",
        "Attends Anne, sinon {v} {o}",
        "Anne a {d} {o}",
        "{O} a été {d} hier",
        "Anne veut {i} {o}",
        "Anne a dit : {v} {o}",
        "Elle a dit « {v} {o} »",
        "Peut-être {v} {o}",
        "Je pourrais {i} {o}",
        "On devrait {i} {o}",
        "Imagine que je {v} {o}",
        "{V} {o} ou attends",
    ),
    "spanish": (
        "No {v} {o}",
        "Nunca {v} {o}",
        "Por favor, no {v} {o}",
        "No hay que {i} {o}",
        "No quiero {i} {o}",
        "Sigue sin {i} {o}",
        "En vez de {i} {o}, espera",
        "En lugar de {i} {o}, espera",
        "Evita {i} {o}",
        "Deja de {i} {o}",
        "No hace falta {i} {o}",
        "¿Debo {i} {o}?",
        "¿Cómo puedo {i} {o}?",
        "¿Qué pasa si {v} {o}?",
        "¿Quién ha {d} {o}?",
        "¿{V} {o}?",
        "Si llueve, {v} {o}",
        "{V} {o} si Ana está de acuerdo",
        "{V} {o} cuando Ana esté de acuerdo",
        "{V} {o} a menos que Ana se oponga",
        "{V} {o} siempre que Ana acepte",
        "En caso de lluvia, {v} {o}",
        "{V} todo excepto {o}",
        "{V} todo menos {o}",
        "Espera a Ana; si no, {v} {o}",
        "Ana ha {d} {o}",
        "{O} fue {d} ayer",
        "Ana quiere {i} {o}",
        "Ana dijo: {v} {o}",
        "Dijo «{v} {o}»",
        "Quizás {v} {o}",
        "Tal vez {v} {o}",
        "Podría {i} {o}",
        "Estoy {g} {o}",
        "Imagina que {v} {o}",
        "{V} {o} o espera",
    ),
}


def catalog_of(name: str) -> Catalog:
    return Catalog({one.key: one for one in SETS[name]})


def said(template: str, said: Said) -> str:
    """The request that a template makes of an act."""

    def capital(text: str) -> str:
        return text[:1].upper() + text[1:]

    return template.format(
        v=said.verb,
        V=capital(said.verb),
        i=said.infinitive,
        I=capital(said.infinitive),
        g=said.doing,
        G=capital(said.doing),
        d=said.done,
        D=capital(said.done),
        o=said.thing,
        O=capital(said.thing),
    )
