"""Concepts that words of four languages stand for: a request and a tool may say the same in other words. Pure."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from toolpath.catalog.words import stem
from toolpath.checks.request.verbs import entries, folded, without_pronouns

#: Endings that a word may have besides those in the table, longest first.
_ENDINGS: Final = ("nen", "ung", "ing", "ed", "es", "en", "er", "em", "ne", "e", "s", "n", "d", "x")
_SHORTEST: Final = 3
#: Words that hold a sentence together in the four languages: they ask for nothing by themselves.
STOPS: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """
a an the of to in on at by for from with and or as is are be been was were it its this that these those there here my
your our his her their me you i we us he she they them him one some any do does did have has had got get gets what's
what which who whom whose where when how will would shall could can please kindly just now then also too so but into
onto up out over under about after before until till between than more less not ever still yet already really let
i'd i'll i'm i've we've it's that's there's who's where's let's s t d ll ve re m like want need if whether through per
each every all both again right away thanks thank hi hello hey ok okay
pls plz plss thx thanx tks tnx tysm stp porfa porfavor xfa xfi
if unless provided below above least most saying named called titled entitled everything immediately asap directly
afterwards afterward thereafter near against gegen contre contra jusqu'au jusqu'à jusqu'aux jusqu'en jusque
pendant durante lang lange avez-vous tiene tienen
dieser dieses diesen diesem cet cette ces esta este estos estas ese esa una uno sigue siguen comme sobre qu'est-ce
a-t-il a-t-elle y-a-t-il sofort gleich umgehend sogleich namens genannt titels kurz mal gerne dass depuis suite
nommé nommée appelé appelée intitulé intitulée immédiatement rapidement llamado llamada titulado titulada
inmediatamente enseguida todavía aún toward towards
toujours encore partir whoever dazu
wurde wurden worden eigentlich gerade nochmal überhaupt etwa denn wohl eben derzeit momentan aktuell
ihn ihm ihnen dafür davon daran
actuellement déjà juste ahora mismo actualmente
falls wenn sofern sonst sinon cuando si
der die das den dem des ein eine einen einem einer und oder ist sind war waren zu im in am an auf aus bei mit nach von
vom zum zur für um bis als wie was wer wo wann mir mich dir dich uns er sie es wir ihr ich mein meine meinem meinen
meiner dein deine bitte jetzt dann auch noch schon mal doch nicht hat habe haben wird kann steht alle allen
aller jede jeden jedes gerade eben derzeit momentan currently
avons-nous as-tu a-t-on ont-ils peux-tu pouvez-vous peut-on
le la les un une des du de d l et ou est sont était être au aux en dans sur sous avec pour par vers que qui quoi quel
quelle quels quelles où quand ce cette ces mon ma mes ton ta tes son sa ses me te se nous vous il elle ils
elles je tu s'il te plaît plait svp voudrais veux fait y a t n pas chaque tous toutes tout près
el los las unos unas del al y o es son era en con por para desde hacia hasta que qué quién cuál cuáles dónde cuándo cómo
esté estén sea sean soit soient
mi mis tu tus su sus lo le les nos se te yo tú él ella por favor quiero está están hay hace cada todos todas ya
""",
    )
)
#: Verbs of two words, which may stand apart: pattern → what they say in one.
_PHRASAL: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), concept)
    for pattern, concept in (
        (r"\b(pull|bring|call)\s+(up)\b", "show"),
        (r"\b(look)\s+(?:for\b|(up)\b)", "find"),
        (r"\b(take)\b[^.;]{1,60}?\b(off|out)\b(?:\s+of\b)?", "remove"),
        (r"\b(send|give|pay)\b[^.;]{0,40}?\b(back)\b", "return"),
        (r"\b(give|pay)\b[^.;]{0,20}?\b(back)\b", "refund"),
        (r"\b(wake)\s+me\b", "alarm"),
        (r"\bhow\s+(?:do|can|could|should)\s+(?:i|we)\s+(get)\b", "route"),
        (r"\b(chase)\s+(up)\b", "remind"),
        (r"\b(zip)\s+(up)\b", "zip"),
        (r"\b(coming)\s+to\b", "guest"),
        (r"\b(find|need)\s+(out)\b", "show"),
        (r"\b(tick|check|cross)\b[^.;]{0,40}?\b(off)\b", "to-complete"),
        (r"\b(file|raise|log|lodge)\s+(?:an?|another)\b", "to-create"),
        (r"\b(get)\s+(rid)\s+of\b", "to-delete"),
        (r"\b(throw|toss|chuck|clear)\b[^.;]{0,30}?\b(out|away)\b", "to-delete"),
        (r"\b(take|pull)\b[^.;]{0,30}?\b(down)\b", "to-unpublish"),
        (r"\b(roll)\b[^.;]{0,30}?\b(back)\b", "to-revert"),
        (r"\b(roll)\b[^.;]{0,30}?\b(out)\b", "to-deploy"),
        (r"\b(put)\b[^.;]{0,30}?\bon\s+(hold)\b", "to-hold"),
        (r"\b(call)\b[^.;]{0,30}?\b(off)\b", "to-cancel"),
        (r"\b(put)\s+(off)\b", "to-postpone"),
        (r"\b(push)\b[^.;]{0,30}?\b(back)\b", "to-postpone"),
        (r"\b(bring)\b[^.;]{0,30}?\b(forward)\b", "to-reschedule"),
        (r"\b(shut|close)\b[^.;]{0,30}?\b(down)\b", "to-stop"),
        (r"\b(tear)\b[^.;]{0,30}?\b(down)\b", "to-decommission"),
        (r"\b(spin|stand|set)\s+(up)\b", "to-create"),
        (r"\b(kick|set)\s+(off)\b", "to-start"),
        (r"\b(let)\b[^.;]{0,40}?\b(know)\b", "to-notify"),
        (r"\b(give)\b[^.;]{0,40}?\b(?:a\s+)?(heads[- ]up|shout)\b", "to-notify"),
        (r"\b(sign)\b[^.;]{0,30}?\b(up)\b", "to-register"),
        (r"\b(sign)\b[^.;]{0,30}?\b(off)\b", "to-sign-off"),
        (r"\b(follow)\s+(up)\b", "to-remind"),
        (r"\b(top)\b[^.;]{0,30}?\b(up)\b", "to-refill"),
        (r"\b(strike)\b[^.;]{0,40}?\b(off|out)\b", "remove"),
        (r"\b(money|cash)\s+(back)\b", "to-refund"),
    )
)


@cache
def _table() -> dict[str, frozenset[str]]:
    """Word → concepts. Read when it is first asked for: most runs read no words."""
    found: dict[str, set[str]] = {}
    text = files(__package__).joinpath("concepts.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        words = line.replace("|", " ").split()
        for word in words:
            for form in {folded(word), stem(folded(word))}:
                found.setdefault(form, set()).add(words[0])
    for entry in entries():
        for word in (*entry.english, *entry.others):
            plain = folded(word)
            for form in {plain} if entry.is_verb else {plain, stem(plain)}:
                found.setdefault(form, set()).add(entry.name)
    return {word: frozenset(concepts) for word, concepts in found.items()}


@cache
def _commands() -> dict[str, frozenset[str]]:
    """Word → concepts, in no other form than the table has it."""
    found: dict[str, set[str]] = {}
    text = files(__package__).joinpath("concepts.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        words = [] if line.startswith("#") else line.replace("|", " ").split()
        for word in words:
            found.setdefault(folded(word), set()).add(words[0])
    for entry in entries():
        for word in (*entry.english, *entry.others):
            found.setdefault(folded(word), set()).add(entry.name)
    return {word: frozenset(concepts) for word, concepts in found.items()}


def commanded(word: str) -> frozenset[str]:
    """Concepts that a word commands: verbs stand there as commands, so `deleted` commands nothing."""
    plain = folded(word)
    table = _commands()
    return table.get(plain) or table.get(without_pronouns(plain), frozenset())


_PARTICIPLE: Final = re.compile(
    r"^(?P<particle>(?:ab|an|auf|aus|bei|ein|fest|fort|frei|her|hin|hoch|los|mit|nach|um|vor|weg|weiter|zu|zuruck)?)ge(?=.{3,}t$)"
)


_GERUND: Final = re.compile(r"(?P<stem>[^\W\d_]{2,})(?:ando|iendo)")


@lru_cache(maxsize=8_192)
def concepts_of(word: str) -> frozenset[str]:
    """Concepts that a word stands for; a word that no line has stands for its own stem."""
    plain = folded(word).removesuffix("'s").removesuffix("\u2019s")
    plain = re.sub(r"^(?:l|d|n|s|qu|j)['\u2019](?=\w{3})", "", plain)
    table = _table()
    exact = table.get(plain) or table.get(stem(plain), frozenset())
    for ending in _ENDINGS:
        form = plain.removesuffix(ending)
        if form != plain and len(form) >= _SHORTEST and form in table:
            exact |= table[form]
    done = _PARTICIPLE.sub(r"\g<particle>", plain)
    if done != plain:
        # `gelöst`, `abgesagt`
        exact |= table.get(done, frozenset())
    if (doing := _GERUND.fullmatch(plain)) is not None:
        # `imprimiendo`
        exact |= frozenset[str]().union(
            *(table.get(doing["stem"] + ending, frozenset()) for ending in ("ar", "er", "ir"))
        )
    if exact:
        return exact | {stem(plain)}
    bare = without_pronouns(plain)
    if bare != plain and bare in table:
        return table[bare] | {stem(plain)}
    return _compound(plain) | {stem(plain)}


@cache
def _german_things() -> dict[str, frozenset[str]]:
    """Words of which Germans make longer ones → concepts."""
    found: dict[str, set[str]] = {}
    for entry in entries():
        for word in entry.german:
            found.setdefault(folded(word), set()).add(entry.name)
    text = files(__package__).joinpath("concepts.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        parts = [] if line.startswith("#") else [part.split() for part in line.split("|")]
        for word in parts[1] if len(parts) > 1 else ():
            found.setdefault(folded(word), set()).add(parts[0][0])
    return {word: frozenset(concepts) for word, concepts in found.items() if len(word) > 3}


def is_german_thing(word: str) -> bool:
    """Whether a word is a German one for a thing that is known, or for what things are measured in; `Uhr` is one."""
    plain = folded(word)
    table = _german_things()
    return plain in _GERMAN_MEASURES or any(plain.removesuffix(ending) in table for ending in ("", "e", "n", "en", "s"))


_GERMAN_MEASURES: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """Euro Cent Franken Dollar Prozent Grad Gramm Pfund Zentner Tonne Hektar Ar Liter Milliliter Zentimeter
        Millimeter Quadratmeter Kubikmeter Kilowattstunden Stk Stück Paar Dutzend Exemplar Exemplare Flasche Flaschen
        Dose Dosen Kiste Kisten Karton Kartons Packung Packungen Palette Paletten Sack Säcke Tüte Tüten Bogen Blatt
        Portion Portionen Mal
        Uhr""",
    )
)
#: Longer words are none that anybody made of two.
_LONGEST: Final = 60
_LINKS: Final = ("", "s", "es", "n", "en", "e", "er")


def _compound(word: str) -> frozenset[str]:
    """Concepts of the words that a German one is made of: `Urlaubsantrag`."""
    if not 8 <= len(word) <= _LONGEST:
        return frozenset()
    table = _german_things()
    for at in range(len(word) - 4, 3, -1):
        head = next((one for link in _LINKS if (one := word[:at].removesuffix(link)) in table), None)
        if head is None:
            continue
        tail = next(
            (one for ending in ("", *_ENDINGS) if (one := word[at:].removesuffix(ending)) in table),
            None,
        )
        if tail is not None:
            return table[head] | table[tail]
    return frozenset()


def listed_concepts(word: str) -> frozenset[str]:
    """Concepts that a word stands for by the table alone."""
    return concepts_of(word) & _keys()


@cache
def _keys() -> frozenset[str]:
    return frozenset[str]().union(*_table().values())


def is_known(word: str) -> bool:
    """Whether some line of the table has the word in one of its forms."""
    return bool(listed_concepts(word))


def phrasal(text: str) -> list[tuple[int, int, str]]:
    """Verbs of two words in a text: start and end of each of their words, and the concept."""
    found: list[tuple[int, int, str]] = []
    for pattern, concept in _PHRASAL:
        for match in pattern.finditer(text):
            found += [(*match.span(group), concept) for group in (1, 2) if group <= (match.lastindex or 0)]
    return [one for one in found if one[0] >= 0]
