"""Verbs of commands in English, German, French and Spanish, by what they mean. Pure.

A plan that acts needs a command. What begins with none of these verbs, nor with one of a tool's own, is none.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

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
muestra muestre busca busque lista dime di da explica calcula compara verifica encuentra""",
)
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
_SPANISH_TAILS: Final = re.compile(r"(?:me|te|se|le|les|lo|la|los|las|nos)+$")


def folded(word: str) -> str:
    """The word in lower case, without accents and with `ß` as `ss`."""
    plain = unicodedata.normalize("NFKD", word.casefold())
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


def _german(infinitive: str) -> Iterable[str]:
    yield infinitive
    yield infinitive.replace("ö", "oe").replace("ü", "ue").replace("ä", "ae")
    if not infinitive.endswith("n"):
        return
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    for form in (stem, stem + "e", stem + "t", infinitive.replace("ern", "ere")):
        yield form
        yield form.replace("ö", "oe").replace("ü", "ue").replace("ä", "ae")


def _french(infinitive: str) -> Iterable[str]:
    yield infinitive
    if infinitive.endswith("er"):
        stem = infinitive[:-2]
        yield from (stem + "e", stem + "ez", stem + "ons")


def _spanish(infinitive: str) -> Iterable[str]:
    yield infinitive
    stem, ending = infinitive[:-2], infinitive[-2:]
    if ending == "ar":
        soft = re.sub(r"c$", "qu", re.sub(r"g$", "gu", re.sub(r"z$", "c", stem)))
        yield from (stem + "a", soft + "e", soft + "en", stem + "ad")
    elif ending in ("er", "ir"):
        yield from (stem + "e", stem + "a", stem + "an", stem + ("ed" if ending == "er" else "id"))


@cache
def _forms() -> dict[str, frozenset[str]]:
    """Forms of verbs → what they may mean. Made when it is first asked for: most runs hear no words."""
    found: dict[str, set[str]] = {}
    for line in _MEANINGS.strip().split("\n\n"):
        meaning, english, german, french, spanish = (part.strip() for part in line.split("|"))
        forms = [*english.split()]
        forms += [form for word in german.split() for form in _german(word)]
        forms += [form for word in french.split() for form in _french(word)]
        forms += [form for word in spanish.split() for form in _spanish(word)]
        for form in forms:
            found.setdefault(folded(form), set()).add(meaning)
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


@lru_cache(maxsize=4_096)
def meanings_of(word: str) -> frozenset[str]:
    """What a verb in the form of a command may mean; nothing for what is none."""
    plain = folded(word)
    forms = _forms()
    found = forms.get(plain)
    if found is not None:
        return found
    bare = _SPANISH_TAILS.sub("", plain)
    return forms.get(bare, frozenset()) if len(bare) > 3 and bare != plain else frozenset()


def is_reading(word: str) -> bool:
    """Whether the verb asks to be told something."""
    return folded(word) in _reading_forms()


def is_counter(word: str) -> bool:
    """Whether the verb says not to act."""
    return folded(word) in _counter_forms()


def is_thing(word: str, following: str) -> bool:
    """Whether a word that may be a verb names a thing here, as in `Email from Ann`."""
    return word.casefold() in _THINGS and folded(following) in _AFTER_THINGS
