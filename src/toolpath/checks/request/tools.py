"""Facts about a tool from its name and description: its verbs, and whether a call may change something. Pure."""

from __future__ import annotations

import re
from typing import Final

from toolpath.catalog.words import raw_words
from toolpath.checks.request.concepts import commanded
from toolpath.checks.request.participles import bases_of, done
from toolpath.checks.request.verbs import folded, is_counter, is_reading, is_thing, meanings_of
from toolpath.model.tool import Tool

_READING_NAMES: Final = frozenset(re.findall(r"\S+", "get list read search find fetch describe count lookup show view"))


def acts(tool: Tool | None) -> bool:
    """Whether a call may change something, as far as is known.

    A tool of a server that says nothing of its effects and is called `get_…` is taken at its word: of what is asked
    plainly nothing would be answered otherwise.
    """
    if tool is None:
        return True
    if tool.is_read:
        return False
    if (
        tool.effect != "write"
        or not tool.server
        or "readOnlyHint" in tool.annotations
        or "destructiveHint" in tool.annotations
    ):
        return True
    words = raw_words(tool.name)
    others = [word for word in words[1:] if meanings_of(word) and not is_thing(word, "of")]
    return not (words[:1] and words[0] in _READING_NAMES) or bool(others)


def fits(verb: str, tool: Tool) -> bool:
    """Whether a command with this verb may mean the tool."""
    own = verbs_of(tool)
    if folded(verb) in own:
        return True
    meanings = meanings_of(verb)
    if any(meanings & meanings_of(word) for word in own):
        return True
    return bool(commanded(verb) & (acts_of(tool) | frozenset[str]().union(*(commanded(word) for word in own))))


#: Verbs of names that say little without what follows them, as in `set_reminder`.
_BROAD: Final = frozenset(
    re.findall(r"\S+", "set create add make start write place apply change put update do run give issue")
)


def acts_of(tool: Tool) -> frozenset[str]:
    """Concepts of what a tool does: of the first word of its name, and of the next where that one is broad."""
    known = tool.__dict__.get("_acts")
    if known is None:
        words = raw_words(tool.name)
        telling = [*words[:2], words[-1]] if words and words[0] in _BROAD else words[:1]
        known = frozenset[str]().union(*(commanded(word) for word in telling))
        tool.__dict__["_acts"] = known
    return known


CALLING: Final = frozenset({"call", "use", "run", "invoke", "execute"})


def is_form(word: str, tool: Tool) -> bool:
    """Whether the word is some form of a verb of the tool: `archived`."""
    plain = folded(word)
    return any(len(verb) > 3 and plain.startswith(verb.removesuffix("e")) for verb in verbs_of(tool)) or fits(
        word, tool
    )


_WORD: Final = re.compile(r"[^\W\d_]+")
#: Before a participle, or beside it: it has been done, and is no reason to do it.
_DONE: Final = re.compile(
    r"\b(?:was|were|been|is|are|has|have|had|already|wurden?|worden|ist|sind|hat|haben|schon|bereits|été|est|a|ont"
    r"|déjà|ha|han|fue|fueron|sido|ya)\b"
)


def has_been_done(text: str, tool: Tool) -> bool:
    """Whether a statement speaks of the tool's act, or says that something like it has been done."""
    words = _WORD.findall(text)
    if any(folded(word) in verbs_of(tool) or is_done_form(word, tool) for word in words):
        return True
    if _DONE.search(folded(text)) is None:
        return False
    own = tuple(verb.removesuffix("e") for verb in verbs_of(tool) if len(verb) > 3)
    plain = [folded(word) for word in words if len(word) > 3]
    return any(word.startswith(own) or (done(word) != word and fits(done(word), tool)) for word in plain)


def tells_of_doing(text: str, tool: Tool) -> bool:
    """Whether the tool's act is in a text as done: `Tom restarted web-3`."""
    return any(is_done_form(word, tool) and folded(word) not in verbs_of(tool) for word in _WORD.findall(text))


def is_done_form(word: str, tool: Tool) -> bool:
    """Whether the word is a participle of a verb of the tool."""
    return any(verb in verbs_of(tool) for verb in bases_of(word))


def does_away(tool: Tool | None) -> bool:
    """Whether there is less of something after the tool's act."""
    return tool is None or tool.effect == "destructive" or bool(_ENDING & (verbs_of(tool) | acts_of(tool)))


_ENDING: Final = frozenset(
    re.findall(
        r"\S+",
        """cancel delete remove drop close stop end finish void archive discard return refund release free unblock clear
        empty deactivate disable turn-off switch-off pause suspend terminate dismiss withdraw revoke unsubscribe leave
        checkout check-out sell scrap retire unassign unpublish unbook shut cut block decline reject discharge""",
    )
)


def is_called(verb: str, tool: Tool) -> bool:
    """Whether the tool bears the verb, or one that says the same, in its name."""
    return folded(verb) in raw_words(tool.name) or bool(commanded(verb) & acts_of(tool))


#: Verbs of names after which there is one more of a thing.
_MAKING: Final = frozenset(("create", "make", "add", "place", "book", "request", "open", "issue", "new"))
#: Letters of the shortest verb of which a thing is called, and how such things end.
_ROOT: Final = 3
_NOUN: Final = re.compile(r"(?:p?ment|s?ion|a?tion|ings?|al|er|e?s?)")


def acts_named(verb: str) -> frozenset[str]:
    """The verb and the English verbs that say the same."""
    return frozenset((folded(verb), *(one.removeprefix("to-") for one in commanded(verb) if one.startswith("to-"))))


def makes_of(verb: str, tool: Tool) -> bool:
    """Whether the tool makes the thing that is called after the verb, in any tongue: a shipment by shipping."""
    words = raw_words(tool.name)
    if (
        tool.effect != "write" or len(words) < 2 or words[0] not in _MAKING or is_reading(verb)
    ):  # its verb, and what it makes
        return False
    roots = {one.removesuffix("e") for one in acts_named(verb)}
    return any(
        len(root) >= _ROOT and words[-1].startswith(root) and _NOUN.fullmatch(words[-1].removeprefix(root)) is not None
        for root in roots
    )


def verbs_of(tool: Tool) -> frozenset[str]:
    """The verbs of a tool: those in its name, and the first word of its description."""
    known = tool.__dict__.get("_verbs")
    if known is None:
        named = raw_words(tool.name)
        verbs = [word for word in named if meanings_of(word) or is_reading(word) or is_counter(word)]
        sure = [word for word in verbs if not is_thing(word, "of")]
        chosen = verbs[:1] if verbs and verbs[0] == named[0] else sure or verbs or named[:1]
        described = _described(tool.description[:200])
        chosen = [tool.name, *chosen, *(one for word in described for one in _base(word))]
        known = frozenset(folded(word) for word in chosen)
        tool.__dict__["_verbs"] = known
    return known


#: `Open or close a slope.`: it does the one or the other.
_EITHER: Final = re.compile(r"^\W*(?P<first>[^\W\d_]+)(?:\s+or\s+|\s*/\s*)(?P<second>[^\W\d_]+)", re.IGNORECASE)


def _described(description: str) -> list[str]:
    """The verb that a description begins with, or both where it does the one or the other."""
    either = _EITHER.match(description)
    if either is not None and all(any(map(meanings_of, _base(word))) for word in either.groups()):
        return [word.lower() for word in either.groups()]
    return raw_words(description)[:1]


def _base(word: str) -> list[str]:
    """A verb as a command has it: `deletes` is `delete`."""
    forms = [word, word.removesuffix("s"), word.removesuffix("es"), re.sub(r"ies$", "y", word)]
    return [one for one in forms if meanings_of(one) or is_reading(one)]
