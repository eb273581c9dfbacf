"""Verbs of commands in English, German, French and Spanish, by what they mean. Pure.

A plan that acts needs a command. What begins with none of these verbs, nor with one of a tool's own, is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

import msgspec

#: Of each part: what is meant; English; German infinitives; French and Spanish ones, and forms that no rule gives.
_MEANINGS: Final = """
delete | delete remove erase drop trash purge wipe discard destroy clear | löschen entfernen verwerfen |
supprimer effacer enlever retirer vider | eliminar borrar quitar suprimir

create | create comment add make new insert append generate open build register establish write draft compose
put enter | erstellen anlegen hinzufügen erzeugen eintragen schreiben registrieren eröffnen füge trage lege
schreib | créer ajouter crée créez inscrire inscris écrire écris écrivez enregistrer | crear añadir agregar
registrar generar agregue escribir añade

send | send email mail message text dispatch forward share post notify inform tell let remind ping reply respond
answer alert write submit deliver | senden schicken mailen benachrichtigen informieren antworten weiterleiten
teilen erinnern schreiben sag schreib leite | envoyer envoie informer prévenir préviens répondre réponds
transmettre transmets transférer notifier partager rappeler rappelle écrire écris | enviar envía envíe mandar
avisar notificar informar responder reenviar compartir recordar recuerda escribir

book | book reserve schedule plan arrange order rent | buchen reservieren planen mieten bestellen | réserver
planifier louer commander | reservar agendar programar alquilar pedir pide pida

cancel | cancel revoke abort withdraw void terminate end | stornieren absagen kündigen abbrechen sag brich
beenden | annuler résilier révoquer | cancelar anular

change | update change modify edit set rename adjust correct replace amend alter mark assign label tag increase
decrease raise lower reset fix reschedule extend | ändern aktualisieren bearbeiten umbenennen anpassen setzen
ersetzen korrigieren verschieben markieren zuweisen erhöhen benenne | modifier changer actualiser renommer
corriger remplacer mettre mets mettez définir définis reporter attribuer | cambiar modificar actualizar
renombrar corregir editar poner pon ponga reemplazar asignar marcar ajustar

buy | buy purchase order checkout | kaufen bestellen | acheter achète commander | comprar pedir pide pida

pay | pay transfer charge refund wire deposit donate settle bill reimburse credit debit withdraw send | bezahlen
zahlen überweisen erstatten abbuchen überweise | payer paie rembourser virer verser transférer transfère
facturer débiter créditer | pagar transferir transfiere transfiera reembolsar cobrar abonar pague

move | move copy transfer relocate migrate archive | verschieben kopieren bewegen archivieren | déplacer copier
archiver | mover mueve mueva copiar archivar

publish | publish post release deploy launch announce share merge push | veröffentlichen posten freigeben
ausrollen | publier déployer diffuser poster | publicar desplegar lanzar

start | start run execute launch begin trigger activate enable resume turn switch open play restart reboot |
starten ausführen aktivieren einschalten schalte öffnen spielen führe | lancer démarrer exécuter activer allumer
ouvrir ouvre jouer relancer | iniciar ejecutar activar encender enciende abrir comenzar

stop | stop disable deactivate halt pause shut turn switch kill close suspend | stoppen deaktivieren ausschalten
schalte anhalten pausieren schließen beenden | arrêter désactiver éteindre éteins fermer | detener detén
desactivar apagar parar cerrar cierra cierre

close | close resolve complete finish finalize | schließen abschließen erledigen | fermer clôturer terminer |
cerrar cierra cierre terminar completar

invite | invite add ask | einladen lade | inviter | invitar

save | save store record log keep upload write backup | speichern sichern protokollieren hochladen lade |
enregistrer sauvegarder stocker | guardar registrar subir

approve | approve accept confirm sign grant allow authorize | genehmigen bestätigen annehmen erlauben
unterschreiben | approuver accepter confirmer autoriser signer | aprobar aceptar confirmar autorizar firmar

reject | reject decline deny refuse block ban | ablehnen sperren blockieren | refuser rejeter bloquer | rechazar
denegar bloquear

restore | restore recover undo revert reopen unarchive unblock | wiederherstellen | restaurer rétablir |
restaurar recuperar deshacer

subscribe | subscribe enroll join follow register | abonnieren anmelden melde | abonner inscrire | suscribir
inscribir

unsubscribe | unsubscribe unfollow leave | abbestellen abmelden | désabonner | desuscribir

call | call phone dial ring | anrufen | appeler appelle | llamar

issue | issue print ship generate | drucken ausstellen | imprimer émettre | imprimir emitir

sync | sync synchronize import export load process convert apply compute | synchronisieren importieren
exportieren umwandeln | synchroniser importer exporter convertir | sincronizar importar exportar convertir

lock | lock freeze encrypt protect seal | verschließen verriegeln | verrouiller geler | bloquear congelar

unlock | unlock unfreeze decrypt | entsperren öffnen | déverrouiller | desbloquear

water | water feed clean mow heat cool dim | gießen reinigen heizen | arroser nettoyer chauffer | regar limpiar
calentar
"""
#: Verbs that ask to be told something: they command no write, unless a tool is called so.
_READING: Final = re.findall(
    r"\S+",
    """
find get show list search look tell give confirm double-check fetch read check display count compare
calculate compute describe explain
summarize summarise analyze analyse estimate predict identify retrieve know see view determine solve verify validate
evaluate recommend suggest define translate convert measure simulate rank sort filter provide query browse name
zeige zeig finde suche liste nenne gib prüfe lies berechne erkläre vergleiche zähle
montre affiche trouve cherche liste donne dis explique calcule compare vérifie
muestra muestre busca busque lista dime di da explica calcula compara verifica encuentra
such schau schaue guck auflisten anzeigen nachsehen sehen ansehen anschauen wissen heraussuchen suchen finden zeigen
sieh recherche
cherchez montrez affichez trouvez retrouve retrouvez retrouver repère repérez localise localisez localiza localice
listez consulte consulter regarde liste lister afficher montrer chercher trouver rechercher vérifier
enseña consulta comprueba mira revisa listar mostrar buscar consultar ver encontrar comprobar enumera""",
)
#: Those that may have a pronoun at their end: `muéstrame`, `montre-moi`.
_TELLING: Final = "muestra ensena busca di lista encuentra lee da montre affiche donne dis trouve cherche liste lis"
#: Verbs that say not to act, or not yet, or only in the mind.
COUNTER: Final = frozenset(
    re.findall(
        r"\S+",
        """
stop avoid refrain skip forget ignore cease quit prevent keep leave hold wait postpone delay pretend imagine suppose
assume consider discuss think explain describe propose suggest recommend preview simulate estimate beware
undo revert
abstain desist omit resist spare
vermeide vermeiden unterlasse unterlassen lass lasse lassen hör höre warte überspringe ignoriere vergiss stell
évite évitez éviter arrête arrêtez cesse cessez abstiens abstenez laisse laissez attends attendez ignore
ignorez imagine
evita evite evitar deja deje dejar espera espere ignora ignore imagina olvida""",
    )
)
_SPANISH_TAIL: Final = re.compile(r"(?:me|te|se|le|les|lo|la|los|las|nos)$")


@lru_cache(maxsize=16_384)
def folded(word: str) -> str:
    """The word in lower case, without accents and with `ß` as `ss`."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


_ELIDED: Final = re.compile(r"^(?:[ldnsjmtc]|qu)['\u2019](?=[^\W\d_]{2})")


def unelided(word: str) -> str:
    """The word behind what French elides before it: `Apoquel` of `d'Apoquel`."""
    return _ELIDED.sub("", word)


class WordEntry(msgspec.Struct, frozen=True):
    """A line of `words.txt`: what it is called, and the words of four languages that say it."""

    name: str
    english: tuple[str, ...]
    others: tuple[str, ...]
    """Of the other languages; of verbs every form that commands."""
    german: tuple[str, ...] = ()
    is_verb: bool = False


#: Forms that are little words in one of the tongues: Spanish `den` is a German article.
_NO_FORMS: Final = frozenset(("den", "de", "da", "des", "das", "den", "ten", "sal", "ven", "me", "son"))


@cache
def entries() -> tuple[WordEntry, ...]:
    """The lines of `words.txt`. Read when it is first asked for: most runs hear no words."""
    found: list[WordEntry] = []
    is_verb = False
    for line in files(__package__).joinpath("words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            is_verb = line == "[verbs]"
        if not line or line.startswith(("#", "[")):
            continue
        english, german, french, spanish = (part.split() for part in line.split("|"))
        if is_verb:
            forms = [form for word in german for form in _german(word)]
            forms += [form for word in french for form in _french(word)]
            forms += [form for word in spanish for form in _spanish(word)]
            # A verb and a thing of one name are two: `file` a complaint, and a file.
            forms = [form for form in forms if folded(form) not in _NO_FORMS]
            found.append(WordEntry(f"to-{english[0]}", (*english,), (*forms,), is_verb=True))
        else:
            found.append(WordEntry(english[0], (*english,), (*german, *french, *spanish), (*german,)))
    return (*found,)


#: Stems of German verbs whose command has another vowel.
_STRONG: Final = {
    "nehm": "nimm",
    "geb": "gib",
    "les": "lies",
    "werf": "wirf",
    "seh": "sieh",
    "brech": "brich",
    "treff": "triff",
    "schiess": "schiess",
}


def _german(infinitive: str) -> Iterable[str]:
    particle, _, own = infinitive.rpartition(".")
    # What stands apart in a command is together where the verb ends the sentence.
    return (particle + form for form in _german_forms(own))


def _german_forms(infinitive: str) -> Iterable[str]:
    yield infinitive
    yield infinitive.replace("ö", "oe").replace("ü", "ue").replace("ä", "ae")
    if not infinitive.endswith("n"):
        return
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    strong = _STRONG.get(stem)
    for form in (stem, stem + "e", stem + "t", infinitive.replace("ern", "ere"), *((strong,) if strong else ())):
        yield form
        yield form.replace("ö", "oe").replace("ü", "ue").replace("ä", "ae")


#: French verbs whose commands no rule gives: how they end → the forms.
_FRENCH: Final = (
    ("oyer", ("oie", "oyez")),
    ("ayer", ("aie", "aye", "ayez")),
    ("eler", ("elle", "ele", "elez")),
    ("eter", ("ette", "ete", "etez")),
    ("er", ("e", "ez", "ons")),
    ("vrir", ("vre", "vrez")),
    ("ffrir", ("ffre", "ffrez")),
    ("tenir", ("tiens", "tenez")),
    ("ir", ("is", "issez", "issons")),
    ("faire", ("fais", "faites")),
    ("prendre", ("prends", "prenez")),
    ("mettre", ("mets", "mettez")),
    ("crire", ("cris", "crivez")),
    ("uire", ("uis", "uisez")),
    ("ire", ("is", "isez", "ites")),
    ("ivre", ("is", "ivez")),
    ("lore", ("los",)),
    ("clure", ("clus",)),
    ("indre", ("ins", "ignez")),
    ("re", ("s", "ez")),
)


def _french(infinitive: str) -> Iterable[str]:
    yield infinitive
    plain = folded(infinitive)
    for ending, forms in _FRENCH:
        if plain.endswith(ending):
            stem = plain.removesuffix(ending)
            yield from (stem + form for form in forms)
            return


#: Spanish verbs whose command to one person no rule gives.
_SPANISH: Final = {"poner": "pon", "hacer": "haz", "tener": "ten", "decir": "di", "salir": "sal", "venir": "ven"}


def _spanish(infinitive: str) -> Iterable[str]:
    yield infinitive
    stem, ending = infinitive[:-2], infinitive[-2:]
    irregular = next((verb for verb in _SPANISH if infinitive.endswith(verb)), None)
    if irregular is not None:
        before = infinitive.removesuffix(irregular)
        yield before + _SPANISH[irregular]
        yield from (before + form for form in {"poner": ("ponga",), "hacer": ("haga",)}.get(irregular, ()))
    for one in (stem, *_changed(stem)):
        if ending == "ar":
            soft = re.sub(r"c$", "qu", re.sub(r"g$", "gu", re.sub(r"z$", "c", one)))
            yield from (one + "a", soft + "e", soft + "en", one + "ad")
        elif ending in ("er", "ir"):
            yield from (one + "e", one + "a", one + "an")


def _changed(stem: str) -> Iterable[str]:
    """The stem as its stress changes it: `cerrar`, `cierra`; `renovar`, `renueva`; `pedir`, `pide`."""
    found = re.search(r"[eo](?=[^aeiou]*$)", stem)
    if found is not None:
        for vowel in {"e": ("ie", "i"), "o": ("ue",)}[found.group()]:
            yield stem[: found.start()] + vowel + stem[found.end() :]


@cache
def _forms() -> dict[str, frozenset[str]]:
    """Forms of verbs → what they may mean. Made when it is first asked for: most runs read no words."""
    found: dict[str, set[str]] = {}
    for line in _MEANINGS.strip().split("\n\n"):
        meaning, english, german, french, spanish = (part.strip() for part in line.split("|"))
        forms = [*english.split()]
        forms += [form for word in german.split() for form in _german(word)]
        forms += [form for word in french.split() for form in _french(word)]
        forms += [form for word in spanish.split() for form in _spanish(word)]
        for form in forms:
            found.setdefault(folded(form), set()).add(meaning)
    for entry in entries():
        if entry.is_verb:
            for form in entry.others:
                if folded(form) not in _reading_forms():
                    found.setdefault(folded(form), set()).add(entry.name)
    return {form: frozenset(meanings) for form, meanings in found.items()}


@cache
def _reading_forms() -> frozenset[str]:
    return frozenset(folded(word) for word in _READING)


@cache
def _counter_forms() -> frozenset[str]:
    return frozenset(folded(word) for word in COUNTER)


#: English words that are verbs or things; before these words they are things: `the order from Ann`, `Email by Bob`.
_THINGS: Final = frozenset(
    re.findall(
        r"\S+",
        """email mail message text post book order plan schedule call note report request comment review transfer charge
    record update change reply answer share copy print ship run log list search label tag mark bill credit deposit
    wire invite store file play fix end reset water""",
    )
)
_AFTER_THINGS: Final = frozenset(
    re.findall(
        r"\S+",
        """from of by was were is are has had been will got gets came says said about regarding number no received sent
    failed cancelled canceled deleted removed created updated changed completed closed""",
    )
)


@cache
def english_verbs() -> frozenset[str]:
    """Verbs of commands in English, longer than four letters."""
    lines = (line.split("|")[1] for line in _MEANINGS.strip().split("\n\n"))
    return frozenset(word for line in lines for word in line.split() if len(word) > 4) | {"search", "check", "display"}


@cache
def all_english_verbs() -> frozenset[str]:
    """All verbs in English that are known here: of commands, of reading and of `words.txt`."""
    lines = (line.split("|")[1] for line in _MEANINGS.strip().split("\n\n"))
    listed = frozenset(word for one in entries() if one.is_verb for word in one.english)
    return frozenset(word for line in lines for word in line.split()) | listed


@lru_cache(maxsize=4_096)
def meanings_of(word: str) -> frozenset[str]:
    """The meanings that a verb in the form of a command may have; none for a word that is no such verb."""
    plain = folded(word)
    forms = _forms()
    found = forms.get(plain)
    if found is not None:
        return found
    bare = without_pronouns(plain)
    return forms.get(bare, frozenset()) if len(bare) > 2 and bare != plain else frozenset()


_FRENCH_TAILS: Final = re.compile(r"(?:-(?:moi|nous|le|la|les|lui|leur|y|en|vous|toi))+$")


@lru_cache(maxsize=4_096)
def without_pronouns(word: str) -> str:
    """A verb in the form of a command without the pronouns at its end: `muéstrame`, `montre-moi`."""
    plain = _FRENCH_TAILS.sub("", word)
    if plain != word:
        return plain
    bare = word
    while len(shorter := _SPANISH_TAIL.sub("", bare)) > 2 and shorter != bare:
        bare = shorter
        if bare in _forms():
            # `cancela` of `cancélala` ends like a pronoun itself.
            return bare
    return bare


def is_reading(word: str) -> bool:
    """Whether the verb asks to be told something."""
    plain = folded(word)
    return plain in _reading_forms() or without_pronouns(plain) in _pure_readings()


@cache
def _pure_readings() -> frozenset[str]:
    """Verbs that ask to be told something and never stand for a thing: what may have a pronoun at its end."""
    return frozenset(folded(word) for word in _TELLING.split())


_PARTICLES: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """ab an aus auf ein zu weiter fest um nach vor hinzu mit zurück zurueck frei los weg bei herunter runter hoch
        heraus raus wieder durch fort fertig stumm neu vorbei zusammen her""",
    )
)


#: After these a word is what something becomes: `auf hoch`.
TOWARDS: Final = frozenset(("auf", "zu", "als"))


def is_particle(word: str) -> bool:
    """Whether the word may be what a German verb leaves at the end of its sentence."""
    return folded(word) in _PARTICLES


def parted(head: str, last: str) -> str | None:
    """The German verb whose parts these are, in one word: `Sage` and `ab` are `absagen`; None: there is none."""
    last, plain = folded(last), folded(head)
    if last not in _PARTICLES:
        return None
    strong = next((stem for stem, form in _STRONG.items() if form == plain), None)
    for stem in (plain, plain.removesuffix("e"), plain.removesuffix("t"), plain.removesuffix("en"), strong or plain):
        for infinitive in (f"{last}{stem}en", f"{last}{stem}n", f"{last}{stem}"):
            if meanings_of(infinitive) or is_reading(infinitive):
                return infinitive
    return None


def is_counter(word: str) -> bool:
    """Whether the verb says not to act."""
    return folded(word) in _counter_forms()


def may_be_thing(word: str) -> bool:
    """Whether an English verb is the name of a thing as well: `order`, `report`."""
    return word.casefold() in _THINGS


def is_thing(word: str, following: str) -> bool:
    """Whether a word that may be a verb names a thing here, as in `Email from Ann`."""
    if folded(word) == "active":
        # `Active la carte` commands; `active tickets` are some.
        return (
            re.match(
                r"(?:l[aeo]s?|el|m[aeio]\w*|tod[oa]s|tou\w+|cette?|ce|est[ae])$|l['\u2019]|[#\d]", folded(following)
            )
            is None
        )
    return word.casefold() in _THINGS and folded(following) in _AFTER_THINGS
