"""Frames of requests that command nothing, and of commands, with acts of eight tool sets in four languages."""

from __future__ import annotations

from typing import NamedTuple


class Said(NamedTuple):
    """How an act is said in one language."""

    verb: str
    done: str
    """Its participle."""
    doing: str
    """English: its gerund; else its infinitive."""
    thing: str


#: Tool set → an act in each language.
ACTS: dict[str, dict[str, Said]] = {
    "tasks": {
        "en": Said("delete", "deleted", "deleting", "the task TSK-{n}"),
        "de": Said("lösche", "gelöscht", "löschen", "die Aufgabe TSK-{n}"),
        "fr": Said("supprime", "supprimé", "supprimer", "la tâche TSK-{n}"),
        "es": Said("borra", "borrado", "borrar", "la tarea TSK-{n}"),
    },
    "clinic": {
        "en": Said("cancel", "cancelled", "cancelling", "appointment AP-{n}"),
        "de": Said("storniere", "storniert", "stornieren", "den Termin AP-{n}"),
        "fr": Said("annule", "annulé", "annuler", "le rendez-vous AP-{n}"),
        "es": Said("cancela", "cancelado", "cancelar", "la cita AP-{n}"),
    },
    "bank": {
        "en": Said("block", "blocked", "blocking", "card CD-{n}"),
        "de": Said("sperre", "gesperrt", "sperren", "die Karte CD-{n}"),
        "fr": Said("bloque", "bloqué", "bloquer", "la carte CD-{n}"),
        "es": Said("bloquea", "bloqueado", "bloquear", "la tarjeta CD-{n}"),
    },
    "hr": {
        "en": Said("approve", "approved", "approving", "the leave request LR-{n}"),
        "de": Said("genehmige", "genehmigt", "genehmigen", "den Urlaubsantrag LR-{n}"),
        "fr": Said("approuve", "approuvé", "approuver", "la demande de congé LR-{n}"),
        "es": Said("aprueba", "aprobado", "aprobar", "la solicitud LR-{n}"),
    },
    "kitchen": {
        "en": Said("clear", "cleared", "clearing", "the shopping list"),
        "de": Said("leere", "geleert", "leeren", "die Einkaufsliste"),
        "fr": Said("vide", "vidé", "vider", "la liste de courses"),
        "es": Said("vacía", "vaciado", "vaciar", "la lista de la compra"),
    },
    "parcels": {
        "en": Said("cancel", "cancelled", "cancelling", "shipment SH-{n}"),
        "de": Said("storniere", "storniert", "stornieren", "die Sendung SH-{n}"),
        "fr": Said("annule", "annulé", "annuler", "l'envoi SH-{n}"),
        "es": Said("anula", "anulado", "anular", "el envío SH-{n}"),
    },
    "library": {
        "en": Said("renew", "renewed", "renewing", "loan LN-{n}"),
        "de": Said("verlängere", "verlängert", "verlängern", "die Ausleihe LN-{n}"),
        "fr": Said("prolonge", "prolongé", "prolonger", "le prêt LN-{n}"),
        "es": Said("renueva", "renovado", "renovar", "el préstamo LN-{n}"),
    },
    "music": {
        "en": Said("delete", "deleted", "deleting", "playlist PL-{n}"),
        "de": Said("lösche", "gelöscht", "löschen", "die Playlist PL-{n}"),
        "fr": Said("efface", "effacé", "effacer", "la playlist PL-{n}"),
        "es": Said("elimina", "eliminado", "eliminar", "la lista PL-{n}"),
    },
}

COMMANDS: dict[str, tuple[str, ...]] = {
    "en": (
        "{V} {o}",
        "Please {v} {o}",
        "{V} {o} please",
        "I want you to {v} {o}",
        "Could you please {v} {o}?",
    ),
    "de": (
        "{V} {o}",
        "Bitte {v} {o}",
        "{V} bitte {o}",
        "Bitte {o} {g}",
        "Kannst du bitte {o} {g}?",
        "Ich möchte {o} {g}",
    ),
    "fr": (
        "{V} {o}",
        "{V} {o} s'il te plaît",
        "Merci de {g} {o}",
        "Veuillez {g} {o}",
        "Je veux {g} {o}",
    ),
    "es": (
        "{V} {o}",
        "Por favor {v} {o}",
        "{V} {o}, por favor",
        "Quiero {g} {o}",
    ),
}

#: Negations, questions, conditions, reports, hypotheses, quotations, wishes of others: a line each.
NO_COMMANDS: dict[str, str] = {
    "en": """
Do not {v} {o}
Don't {v} {o}
Please never {v} {o}
Could you please not {v} {o}?
I'd rather you didn't {v} {o}
{V} {o}? Absolutely not
No, don't {v} {o}, {v} nothing
You needn't {v} {o}
There's no reason to {v} {o}
Nobody asked you to {v} {o}
It would be wrong to {v} {o}
I forbid you to {v} {o}
I refuse to {v} {o}
Rather than {v} {o}, wait for me
{V} {o}, not
Whatever you do, don't {v} {o}
Have you {d} {o}?
Has {o} been {d}?
When was {o} {d}?
Which person {d} {o}?
Would you {v} {o}?
Might we {v} {o}?
Is it OK to {v} {o}?
Am I allowed to {v} {o}?
May I {v} {o}, please?
Do you think we should {v} {o}?
What if I {v} {o}?
Is it true that Tom {d} {o}?
Why not {v} {o}?
{V} {o} if the manager says so
If Tom is out, {v} {o}
{V} {o} only if Tom agrees
{V} {o} unless Tom says otherwise
Unless I call, {v} {o}
{V} {o} as soon as it is free
{V} {o} when Tom is back
Once Tom is back, {v} {o}
Before you {v} {o}, call me
After Tom confirms, {v} {o}
In case of doubt {v} {o}
Provided Tom agrees, {v} {o}
Assuming nobody minds, {v} {o}
Should Tom agree, {v} {o}
{V} {o} or leave it
Either {v} {o} or call me
We {d} {o}
I have {d} {o}
Tom {d} {o} last week
{o} was {d}
{o} will be {d} tomorrow
Tom is {g} {o}
We are thinking about {g} {o}
I was asked to {v} {o}
Tom was told to {v} {o}
Tom asked me to {v} {o}
My boss wants me to {v} {o}
They want us to {v} {o}
The mail says to {v} {o}
It says here: {v} {o}
Tom wrote "{v} {o}"
The button reads "{V} {o}"
What does "{v} {o}" do?
Suppose we {v} {o}
Imagine I {v} {o}
Pretend to {v} {o}
Let's say we {v} {o}
I would {v} {o}
I might {v} {o}
We could {v} {o}
One should {v} {o}
You would have to {v} {o}
It may be best to {v} {o}
I wish you would {v} {o}
If only someone would {v} {o}
I wonder whether to {v} {o}
I'm not sure whether to {v} {o}
I am supposed to {v} {o}
Explain how to {v} {o}
Show me how to {v} {o}
Teach me to {v} {o}
Tell me what happens when you {v} {o}
Remind me to {v} {o}
Remember to {v} {o} someday
Draft a message asking to {v} {o}
Don't forget: never {v} {o}
I don't think you should {v} {o}
It isn't true that you must {v} {o}
Not only {v} {o}
{V} {o} - just kidding
{V} {o}... no wait, don't
{V} {o}, said Tom
"{V} {o}", he said
Tom: {v} {o}
Q: {v} {o}?
The idea to {v} {o} was dropped
Thanks for {g} {o}
Stop {g} {o}
Avoid {g} {o}
Cancel the plan to {v} {o}
Undo {g} {o}
Ask Tom whether to {v} {o}
Ask Tom to {v} {o}
Check if you can {v} {o}
See whether we need to {v} {o}
Simulate: {v} {o}
Dry run: {v} {o}
{V} {o} in theory
{V} {o} tomorrow if needed
{V} {o} for real? I doubt it
Hardly {v} {o}
{V} neither {o} nor anything else
{V} everything but {o}
{V} all except {o}
Last year we would {v} {o}
He will {v} {o}
Will he {v} {o}?
She used to {v} {o}
To {v} {o} would be a mistake
It is forbidden to {v} {o}
To be {d}: {o}
{D}: {o}
{o}: {d}
{o}?
{o}
""",
    "de": """
{V} {o} nicht
{V} {o} bitte nicht
{V} {o} noch nicht
Bitte {o} nicht {g}
{V} auf keinen Fall {o}
{V} nie {o}
{V} {o} niemals
Du darfst {o} nicht {g}
Ich will {o} nicht {g}
Ich möchte nicht, dass du {o} {g}
Niemand soll {o} {g}
Statt {o} zu {g}, warte
Ohne {o} zu {g}
Soll ich {o} {g}?
Darf ich {o} {g}?
Kann man {o} {g}?
Willst du {o} {g}?
Würdest du {o} {g}?
Hast du {o} {d}?
Wurde {o} {d}?
Wer hat {o} {d}?
Wann wird {o} {d}?
Warum hast du {o} {d}?
Wie kann ich {o} {g}?
{V} ich {o}?
Wenn Tom zustimmt, {v} {o}
Falls es regnet, {v} {o}
{V} {o}, falls Tom zustimmt
{V} {o}, wenn es regnet
{V} {o} nur, wenn Tom zustimmt
{V} {o}, sobald Tom da ist
{V} {o}, außer Tom ist dagegen
{V} {o}, es sei denn Tom ist dagegen
Sofern Tom zustimmt, {v} {o}
Bevor du {o} {g} willst, ruf an
Nachdem Tom zugestimmt hat, {v} {o}
Sollte Tom zustimmen, {v} {o}
Im Zweifel {v} {o}
Ich habe {o} {d}
Wir haben {o} gestern {d}
{o} wurde {d}
{o} wird morgen {d}
Tom hat {o} {d}
Tom sagt, ich soll {o} {g}
Tom hat mich gebeten, {o} zu {g}
Ich wurde gebeten, {o} zu {g}
Mein Chef will, dass ich {o} {g}
In der Mail steht: {v} {o}
Tom schrieb: „{V} {o}“
Ich würde {o} {g}
Ich könnte {o} {g}
Man müsste {o} {g}
Man sollte {o} {g}
Vielleicht {v} {o}
Angenommen, wir {g} {o}
Stell dir vor, ich {v} {o}
Erklär mir, wie man {o} {g} kann
Zeig mir, wie ich {o} {g} kann
Erinnere mich daran, {o} zu {g}
Frag Tom, ob wir {o} {g} sollen
Prüfe, ob wir {o} {g} sollen
Vergiss es, {o} zu {g}
Hör auf, {o} zu {g}
Es ist verboten, {o} zu {g}
Danke, dass du {o} {d} hast
{V} {o} oder warte
Entweder {v} {o} oder ruf an
{V} alles außer {o}
{V} alles, nur nicht {o}
Ich weiß nicht, ob ich {o} {g} soll
Ich überlege, {o} zu {g}
{V} {o}? Nein
Lieber nicht {o} {g}
Keinesfalls {o} {g}
Weder {v} {o} noch sonst etwas
Ich hätte {o} {g} sollen
Du hättest {o} {g} sollen
{o}
{o}?
""",
    "fr": """
Ne {v} pas {o}
Ne {v} surtout pas {o}
Ne {v} jamais {o}
Ne {v} plus {o}
Il ne faut pas {g} {o}
Merci de ne pas {g} {o}
Je ne veux pas {g} {o}
Je ne veux pas que tu {v} {o}
Personne ne doit {g} {o}
Au lieu de {g} {o}, attends
Sans {g} {o}
Évite de {g} {o}
Arrête de {g} {o}
Dois-je {g} {o} ?
Puis-je {g} {o} ?
Peut-on {g} {o} ?
Veux-tu {g} {o} ?
As-tu {d} {o} ?
Qui a {d} {o} ?
Quand {o} sera-t-il {d} ?
Pourquoi as-tu {d} {o} ?
Comment {g} {o} ?
Est-ce que je dois {g} {o} ?
Si Tom accepte, {v} {o}
S'il pleut, {v} {o}
{V} {o} si Tom accepte
{V} {o} seulement si Tom accepte
{V} {o} quand Tom sera là
{V} {o} dès que Tom arrive
{V} {o} sauf si Tom refuse
{V} {o} à moins que Tom refuse
À condition que Tom accepte, {v} {o}
Avant de {g} {o}, appelle-moi
Après avoir {d} {o}
Au cas où Tom accepte, {v} {o}
J'ai {d} {o}
Nous avons {d} {o}
{o} a été {d}
{o} sera {d} demain
Tom a {d} {o}
Tom dit de {g} {o}
On m'a demandé de {g} {o}
Tom m'a demandé de {g} {o}
Mon chef veut {g} {o}
Le message dit : {v} {o}
Tom a écrit : « {V} {o} »
Je voudrais savoir s'il faut {g} {o}
Je pourrais {g} {o}
On pourrait {g} {o}
Il faudrait {g} {o}
On devrait {g} {o}
Peut-être {v} {o}
Supposons qu'on {v} {o}
Imagine que je {v} {o}
Explique-moi comment {g} {o}
Montre-moi comment {g} {o}
Rappelle-moi de {g} {o}
Demande à Tom s'il faut {g} {o}
Vérifie s'il faut {g} {o}
Il est interdit de {g} {o}
Merci d'avoir {d} {o}
{V} {o} ou attends
Soit {v} {o}, soit appelle-moi
{V} tout sauf {o}
Je ne sais pas si je dois {g} {o}
J'hésite à {g} {o}
{V} {o} ? Non
{o}
{o} ?
""",
    "es": """
No {v} {o}
Nunca {v} {o}
Por favor, no {v} {o}
Jamás {v} {o}
No quiero {g} {o}
No quiero que nadie {v} {o}
No hay que {g} {o}
Nadie debe {g} {o}
En vez de {g} {o}, espera
Sin {g} {o}
Evita {g} {o}
Deja de {g} {o}
¿Debo {g} {o}?
¿Puedo {g} {o}?
¿Se puede {g} {o}?
¿Quieres {g} {o}?
¿Has {d} {o}?
¿Quién ha {d} {o}?
¿Cuándo se va a {g} {o}?
¿Por qué has {d} {o}?
¿Cómo puedo {g} {o}?
Si Tom acepta, {v} {o}
{V} {o} si Tom acepta
{V} {o} solo si Tom acepta
{V} {o} cuando Tom vuelva
{V} {o} en cuanto llegue Tom
{V} {o} a menos que Tom se oponga
{V} {o} salvo que Tom se oponga
Con tal de que Tom acepte, {v} {o}
Antes de {g} {o}, llámame
Después de {g} {o}
En caso de duda, {v} {o}
He {d} {o}
Hemos {d} {o}
{o} fue {d}
{o} será {d} mañana
Tom ha {d} {o}
Tom dice que {v} {o}
Me han pedido {g} {o}
Tom me pidió {g} {o}
Mi jefe quiere {g} {o}
El mensaje dice: {v} {o}
Tom escribió: «{V} {o}»
Podría {g} {o}
Podríamos {g} {o}
Habría que {g} {o}
Deberíamos {g} {o}
Quizás {v} {o}
Tal vez {v} {o}
Supongamos que {v} {o}
Imagina que {v} {o}
Explícame cómo {g} {o}
Muéstrame cómo {g} {o}
Recuérdame {g} {o}
Pregunta a Tom si hay que {g} {o}
Comprueba si hay que {g} {o}
Está prohibido {g} {o}
Gracias por {g} {o}
{V} {o} o espera
O {v} {o} o llámame
{V} todo menos {o}
No sé si {g} {o}
Estoy pensando en {g} {o}
¿{V} {o}? No
{o}
¿{o}?
""",
}


def request_of(frame: str, said: Said, number: int) -> str:
    """The request that a frame makes of an act."""

    def capital(text: str) -> str:
        return text[:1].upper() + text[1:]

    thing = said.thing.format(n=number)
    return frame.format(
        v=said.verb,
        V=capital(said.verb),
        d=said.done,
        D=capital(said.done),
        g=said.doing,
        o=thing,
        O=capital(thing),
    )
