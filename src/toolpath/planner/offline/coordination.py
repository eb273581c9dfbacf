"""A request whose things are joined, said one by one: `Turn off the tv and the radio` is two requests. Pure.

What stands beside a conjunction is meant in the same way: an item takes the place of the first one, with what stands
before and after them all. Each request said so is planned by itself, so that no value of one can fill the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from toolpath.checks.request.verbs import folded, is_reading, meanings_of
from toolpath.planner.offline.request.span import Span

#: More is not taken apart: each request said costs a plan.
LONGEST: Final = 600
MOST: Final = 12

_JOINT: Final = re.compile(
    r"(?P<end>\s*[.;!]\s+)"
    r"|\s*(?:,\s*)?(?<![\w-])(?:and\s+then|and\s+also|and|as\s+well\s+as|(?:along|together)\s+with|plus|then|sowie|und\s+dann|und|puis|et|y)"
    r"(?![\w-])\s*(?:(?:also|too|auch|aussi|también)\s+)?"
    r"|\s*,\s+|\s+&\s+",
    re.IGNORECASE,
)
#: What a text may not hold for its parts to be told apart: choices, conditions, exceptions, corrections, and somebody's
#: own words, in which a conjunction joins nothing that is to be done.
_WHOLE: Final = re.compile(
    r"\b(?:if|unless|when|whenever|once|until|before|after|while|otherwise|else|except|but|not|no|never|without|either"
    r"|neither|or|nor|instead|rather|make\s+(?:that|it)|actually|wait|sorry|i\s+mean|respectively|between|combined"
    r"|altogether|total|sum|than|versus|vs|same|saying|says|telling|tell|that|because|since|about|titled|called|named"
    r"|wenn|falls|außer|aber|nicht|kein\w*|oder|ohne|sonst|dass|si|sauf|mais|pas|ou|sans|sinon|que|excepto|pero|sin|o"
    r"|every|everything|any|all\s+(?:the|my|our|of)|chaque|cada|jede\w*|alle\w*|tou[ts]\w*|tod[oa]s?)\b|n['\u2019]t\b|\?.*\w",
    re.IGNORECASE | re.DOTALL,
)
#: Words that say of several things that each is meant; of one they say nothing.
_EACH: Final = re.compile(
    r"(?<![\w-])(?:both(?:\s+of)?|each|apiece|as\s+well|too|also|in\s+turn|jeweils|beide\w?|auch|ambos|ambas|aussi)"
    r"(?![\w-])",
    re.IGNORECASE,
)
_WITH: Final = re.compile(r"\b(?:along|together)\s+with\b", re.IGNORECASE)
_TOO: Final = re.compile(r",?\s+(?:too|as\s+well|also|auch|aussi|también)\s*$", re.IGNORECASE)
_LEAD: Final = re.compile(
    r"\W*(?:(?:please|also|then|finally|afterwards|bitte|dann|auch|puis|luego)\b\W*)+", re.IGNORECASE
)
#: The things of the clause before: all of them, or one by its place.
_THEM: Final = re.compile(
    r"(?<![\w-])(?:(?P<all>them\s+(?:both|all)|(?:both|all|each)\s+of\s+(?:them|these|those)|them"
    r"|(?:both|these|those)(?!\s+\w+s\b))"
    r"|the\s+(?P<first>first|former)(?:\s+(?:one|of\s+(?:them|these|those|the\s+two)))?"
    r"|the\s+second(?:\s+(?:one|of\s+(?:them|these|those|the\s+two)))?"
    r"|the\s+(?P<last>last|latter)(?:\s+(?:one|of\s+(?:them|these|those|the\s+two)))?)(?![\w-])",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[^\W_][\w'\u2019-]*")
_LAST: Final = re.compile(r"[^\W\d_][\w'\u2019-]*$")
_FUNCTION: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """of in on at to from for with by into onto off out as via per over under up down towards is are was were
        be do does did has have how much many what which who where left there please von aus mit für an auf bei
        zu zum zur nach im am ist sind hat wie viel viele de du des à au aux en pour avec dans sur par est sont
        a al del con para por es está hay cuánto cuánta quel quelle""",
    )
)
#: A verb and what belongs to it: what follows is its object.
_VERBAL: Final = frozenset(
    ("verb", *(f"of {word}" for word in ("on", "off", "out", "up", "down", "in", "for", "please")))
)
_DETERMINERS: Final = frozenset(
    folded(word)
    for word in re.findall(
        r"\S+",
        """the a an my our your his her their its this some der die das den dem ein eine einen einem mein meine
        meinen le la les un une mon ma mes el los las una mi mis""",
    )
)
_NUMBERS: Final = frozenset(("number", "quantity"))
#: Words of a piece that says what is to be done but for its verb: `3 pounds to grams`; fewer may be a part of a name.
_FULL: Final = 3


class Token(msgspec.Struct, frozen=True):
    """A piece of a clause: a value, a little word, or words of a thing."""

    kind: str
    start: int
    end: int
    words: int = 1
    is_definite: bool = False
    noun: str = ""
    """Of a number what it counts."""


class Said(msgspec.Struct, frozen=True):
    """One clause, said once for each of the things that it joins."""

    requests: tuple[str, ...]
    things: tuple[str, ...] = ()
    """Where nothing but one thing differs: what takes its place in each."""
    rest: str = ""
    """What follows the last of them and may belong to it alone."""
    shared: tuple[str, ...] = ()
    """What it says of where its things are, which other clauses may leave unsaid: `in acme/site`."""

    is_elliptic: bool = False
    """Each but the first lacks the words that it begins with, which were put before it: `… and 3 pounds to grams`."""

    @property
    def is_row(self) -> bool:
        """Whether the requests differ in one thing each: the calls must, too."""
        return bool(self.things)


class ToldApart(msgspec.Struct, frozen=True):
    """A request said one by one."""

    clauses: tuple[Said, ...]
    text: str
    """The request with the things that it points back to in place of the words that do."""


def may_join(text: str) -> bool:
    """Whether there is anything in a text that may join things: cheap to ask."""
    return len(text) <= LONGEST and _JOINT.search(text) is not None


def one_by_one(
    text: str, spans: Sequence[Span], is_verb: Callable[[str], bool], is_kind: Callable[[str], bool]
) -> ToldApart | None:
    """The clauses of a text, each said for each of its things; None where nothing is joined, or not plainly.

    `is_kind`: whether a word names a kind of thing, as `branches` before their names, and is no part of a name.
    """
    text = text.rstrip(" .!")
    if len(text) > LONGEST:
        return None
    return _Coordination(text, spans, is_verb, is_kind).said()


class _Coordination:
    def __init__(
        self, text: str, spans: Sequence[Span], is_verb: Callable[[str], bool], is_kind: Callable[[str], bool]
    ) -> None:
        hidden = list(text)
        for one in spans:
            hidden[one.start : one.end] = "#" * (one.end - one.start)
        self._text, self._hidden = text, "".join(hidden)
        self._spans, self._is_verb, self._is_kind = spans, is_verb, is_kind

    def said(self) -> ToldApart | None:
        """The clauses one by one."""
        if _WHOLE.search(self._hidden):
            return None
        clauses = self._clauses()
        if clauses is None or (len(clauses) == 1 and len(clauses[0]) == 1):
            return None
        told: list[Said] = []
        things: tuple[str, ...] = ()
        whole = self._text
        for pieces in clauses:
            joined = (self._joined(pieces) or self._elliptic(pieces)) if len(pieces) > 1 else None
            said = joined if len(pieces) > 1 else self._alone(*pieces[0], things)
            if said is None:
                return None
            back = _THEM.search(self._text, *pieces[0]) if len(pieces) == 1 and things else None
            if back is not None:
                at = back.start() + len(whole) - len(self._text)
                whole = whole[:at] + " and ".join(_named(back, things)) + whole[at + len(back[0]) :]
            things = said.things
            told.append(said)
        count = sum(len(one.requests) for one in told)
        whole = _WITH.sub("and", whole)
        return ToldApart(tuple(told), whole) if 1 < count <= MOST else None

    # Clauses and what they join.

    def _clauses(self) -> list[list[tuple[int, int]]] | None:
        """The clauses, each as the places of its joined pieces; None where a sentence is no command."""
        pieces: list[tuple[int, int, bool]] = []
        start, is_new = 0, True
        for joint in _JOINT.finditer(self._hidden):
            if joint.start() > start and joint.end() < len(self._text):
                pieces.append((start, joint.start(), is_new))
                start, is_new = joint.end(), joint["end"] is not None
        pieces.append((start, len(self._text), is_new))
        clauses: list[list[tuple[int, int]]] = []
        for start, end, is_new in pieces:
            if not clauses or (self._begins(start, end) and not self._repeats(clauses[-1][0], start, end)):
                clauses.append([(start, end)])
            elif is_new:
                return None
            else:
                clauses[-1].append((start, end))
        return clauses

    def _begins(self, start: int, end: int) -> bool:
        """Whether a piece is a clause of its own: it begins with a verb, and something follows it."""
        lead = _LEAD.match(self._hidden, start, end)
        found = _WORD.match(self._hidden, lead.end() if lead else start, end)
        return found is not None and self._acts(found[0]) and bool(self._text[found.end() : end].strip())

    def _repeats(self, first: tuple[int, int], start: int, end: int) -> bool:
        """Whether a piece begins with a thing of the clause before: `close issue 3 in … and issue 8 in …`."""
        head = _WORD.match(self._hidden, start, end)
        said = [folded(one[0]) for one in _WORD.finditer(self._hidden, *first)]
        return head is not None and folded(head[0]) in said[1:]

    def _acts(self, word: str) -> bool:
        return bool(meanings_of(word)) or is_reading(word) or self._is_verb(word)

    def _alone(self, start: int, end: int, things: Sequence[str]) -> Said | None:
        """A clause that joins nothing; said of each of the things that it points back to."""
        lead = _LEAD.match(self._hidden, start, end)
        said = self._text[lead.end() if lead else start : end]
        back = _THEM.search(said) if things else None
        if back is None:
            return Said((said,), shared=self._places(start, end))
        named = _named(back, things)
        return Said(tuple(said[: back.start()] + one + said[back.end() :] for one in named)) if named else None

    def _joined(self, pieces: Sequence[tuple[int, int]]) -> Said | None:
        """A clause said for each of the things that it joins."""
        found = self._parallel([self._tokens(*piece, is_head=not at) for at, piece in enumerate(pieces)])
        if found is None and len(pieces) == 2:
            head, tail = (self._tokens(*piece, is_head=not at) for at, piece in enumerate(pieces))
            found = self._added(head, tail, pieces[1][1])
        if found is None:
            return None
        items, prefix, suffix = found
        last = items[-1][0]
        between = self._text[items[-2][-1].end : last.start]
        if between.strip() == "," and len(items[0]) == 1 and last.kind == "name":
            # `San Diego, CA` is one place.
            return None
        before, after = self._text[slice(*prefix)], self._text[slice(*suffix)]
        texts = [self._item(item, items[0]) for item in items]
        requests = tuple(" ".join(_EACH.sub(" ", f"{before}{one}{after}").split()) for one in texts)
        shared = self._places(prefix[0], suffix[1])
        counted = self._counted(prefix, suffix)
        if all(len(item) == 1 and item[0].kind not in ("quantity", "another") for item in items):
            kind = self._kind_before(self._hidden[slice(*prefix)].rstrip())
            return Said(requests, tuple(f"{kind}{one}" for one in texts), rest=counted, shared=shared)
        is_open = any(one.start >= suffix[0] for one in self._spans_in(*suffix))
        return Said(requests, rest=after.strip() if is_open else "", shared=shared)

    def _elliptic(self, pieces: Sequence[tuple[int, int]]) -> Said | None:
        """A clause said for each of its pieces, with the words of the first one that the others leave out."""
        (start, end), *others = pieces
        head = [*_WORD.finditer(self._hidden, start, end)]
        is_full = all(len(self._text[slice(*one)].split()) >= _FULL for one in others)
        if len(head) < _FULL or not is_full or not self._acts(head[0][0]):
            return None
        requests = [self._text[start:end]]
        for begin, until in others:
            first = _WORD.match(self._hidden, begin, until)
            same = [one for one in head[1:] if first is not None and folded(one[0]) == folded(first[0])]
            is_bridge = first is not None and folded(first[0]) in _FUNCTION and bool(same)
            lead = self._text[start : same[0].start() if is_bridge else head[0].end()].rstrip()
            requests.append(f"{lead} {self._text[begin:until].strip()}")
        return Said(tuple(requests), shared=self._places(start, end), is_elliptic=True)

    def _kind_before(self, text: str) -> str:
        """The word for what the things are, where it stands right before them: `issues`."""
        noun = _LAST.search(text)
        is_noun = noun is not None and folded(noun[0]) not in _FUNCTION | _DETERMINERS and not self._acts(noun[0])
        is_plural = noun is not None and noun[0].endswith(("s", "n"))
        return f"{noun[0]} " if noun is not None and is_noun and is_plural and self._is_kind(noun[0]) else ""

    def _counted(self, prefix: tuple[int, int], suffix: tuple[int, int]) -> str:
        """A count before the first of the things, `3 kilos of rice and sugar`, where it is not said to be of each."""
        said = self._tokens(*prefix, is_head=True)
        if len(said) < 2 or said[-1].kind != "of of" or said[-2].kind not in (*_NUMBERS, "duration", "money"):
            return ""
        if _EACH.search(self._hidden, prefix[0], suffix[1]):
            return ""
        return self._text[said[-2].start : said[-2].end]

    def _places(self, start: int, end: int) -> tuple[str, ...]:
        """The places that a clause names for its things, each with the little word before it."""
        found = [re.search(r"(?<!\w)(?:in|of|from|on|for)\s+$", self._text[start : one.start]) for one in self._spans]
        return tuple(
            f"{before[0].strip()} {self._text[one.start : one.end]}"
            for one, before in zip(self._spans, found, strict=True)
            if before is not None and one.start >= start and one.end <= end
        )

    def _spans_in(self, start: int, end: int) -> list[Span]:
        return [one for one in self._spans if start <= one.start and one.end <= end]

    def _item(self, tokens: Sequence[Token], first: Sequence[Token]) -> str:
        """The words of an item; a number takes what it counts from the first one."""
        said = ""
        at = tokens[0].start
        for token, like in zip(tokens, first, strict=True):
            said += self._text[like.start : like.end] if token.kind == "another" else self._text[at : token.end]
            at = token.end
            if token.kind == "number" and like.kind == "quantity":
                said += f" {like.noun}"
        return said

    # Items that are alike.

    def _parallel(
        self, pieces: Sequence[list[Token]]
    ) -> tuple[list[list[Token]], tuple[int, int], tuple[int, int]] | None:
        """The items, and the places of what stands before and after them."""
        head, middle, tail = pieces[0], pieces[1:-1], pieces[-1]
        if not all(pieces):
            return None
        for length in range(len(tail), 0, -1):
            last = tail[:length]
            for first in range(len(head) - 1, -1, -1):
                opening = self._opening(head[first:], last)
                # `Turn off the lamp and fan`; but `add tea to the list and milk` puts nothing on the milk.
                is_loose = len(pieces) > 2 or all(one.kind in _VERBAL for one in head[:first])
                if opening is None or not all(_are_alike(opening, one, is_loose=is_loose) for one in (*middle, last)):
                    continue
                items = [opening, *middle, last]
                if (head[0].kind == "verb" and first == 0) or self._is_cut(last[-1], tail[length:]):
                    continue
                end = self._head(items)
                if end is None:
                    continue
                items[-1] = [msgspec.structs.replace(last[0], end=end)] if end < last[-1].end else items[-1]
                return items, (head[0].start, opening[0].start), (end, tail[-1].end)
        return None

    def _added(
        self, head: Sequence[Token], tail: Sequence[Token], end: int
    ) -> tuple[list[list[Token]], tuple[int, int], tuple[int, int]] | None:
        """The same where a thing is added to the first one from behind: `take tea off the menu, and milk too`."""
        if len(tail) != 1 or not _TOO.match(self._hidden, tail[0].end, end):
            return None
        one = next((token for token in head[1:] if token.kind not in ("verb", *_NUMBERS)), None)
        if one is None or head[0].kind != "verb" or one == head[-1] or not _is_like(one, tail[0]):
            return None
        return [[one], [tail[0]]], (head[0].start, one.start), (one.end, head[-1].end)

    def _opening(self, tokens: list[Token], like: Sequence[Token]) -> list[Token] | None:
        """The first item, without the kind of thing that it and the others are: `branches fix-a and fix-b`."""
        if len(tokens) != len(like):
            return None
        one, other = tokens[0], like[0]
        if one.kind == other.kind == "thing" and one.words > other.words and not other.is_definite:
            words = [*_WORD.finditer(self._text, one.start, one.end)][-one.words :]
            own = words[-other.words :]
            if all(self._is_kind(word[0]) for word in words[: -other.words]):
                one = msgspec.structs.replace(one, start=own[0].start(), words=len(own), is_definite=False)
        return [one, *tokens[1:]]

    def _is_cut(self, last: Token, rest: Sequence[Token]) -> bool:
        """Whether what follows the last item is a part of it: `vitamin D`."""
        return bool(rest) and last.kind == "thing" and not rest[0].kind.startswith("of ")

    def _head(self, items: Sequence[Sequence[Token]]) -> int | None:
        """Where the last item ends without the noun of all of them, `blood and urine tests`; None: that is not plain.

        `Red and blue pens` are pens, and `tea and black coffee` is one coffee.
        """
        last = items[-1][0]
        if any(len(item) != 1 or item[0].kind != "thing" for item in items):
            return items[-1][-1].end
        if last.words <= max(item[0].words for item in items[:-1]):
            return last.end
        words = [*_WORD.finditer(self._text, last.start, last.end)]
        if not words[-1][0].endswith(("s", "en", "n")):
            return last.end
        is_own = last.words == 2 and self._is_kind(words[-1][0])
        return words[-2].end() if is_own else None

    def _tokens(self, start: int, end: int, *, is_head: bool) -> list[Token]:
        found: list[Token] = []
        lead = _LEAD.match(self._hidden, start, end)
        at = lead.end() if lead else start
        is_first = is_head
        spans = {one.start: one for one in self._spans_in(start, end)}
        places = sorted([*spans, *(one.start() for one in _WORD.finditer(self._hidden, at, end))])
        definite: int | None = None
        for place in places:
            span = spans.get(place)
            if found and found[-1].kind == "another" and self._text.startswith("one", place):
                found[-1] = msgspec.structs.replace(found[-1], end=place + len("one"))
                continue
            verb = self._verb_of(span) if span is not None and is_first else None
            if span is not None and verb is not None:
                found += [Token("verb", place, verb.end()), Token("name", verb.end() + 1, span.end)]
                is_first = False
                continue
            if span is not None:
                found.append(Token(_kind_of(span), definite if definite is not None else place, span.end))
                is_first, definite = False, None
                continue
            word = _WORD.match(self._hidden, place, end)
            if word is None or _EACH.fullmatch(word[0]):
                continue
            plain = folded(word[0])
            if plain == "another":
                found.append(Token("another", place, word.end(), is_definite=True))
                continue
            if is_first and self._acts(word[0]):
                found.append(Token("verb", place, word.end()))
            elif plain in _DETERMINERS:
                definite = place
            elif plain in _FUNCTION:
                found.append(Token(f"of {plain}", place, word.end()))
                definite = None
            else:
                self._add(found, place, word.end(), definite)
                definite = None
            is_first = False
        return found

    def _verb_of(self, span: Span) -> re.Match[str] | None:
        """The verb that a name begins with which is none: `Enroll Lea`."""
        opening = _WORD.match(self._text, span.start) if span.kind == "name" and " " in span.text else None
        return opening if opening is not None and self._acts(opening[0]) else None

    def _add(self, found: list[Token], start: int, end: int, definite: int | None) -> None:
        """A word of a thing joins what it belongs to."""
        last = found[-1] if found else None
        is_beside = last is not None and definite is None and not self._text[last.end : start].strip()
        if last is not None and is_beside and last.kind == "thing":
            found[-1] = msgspec.structs.replace(last, end=end, words=last.words + 1)
        elif last is not None and is_beside and last.kind in _NUMBERS:
            noun = f"{last.noun} {self._text[start:end]}".strip()
            found[-1] = msgspec.structs.replace(last, kind="quantity", end=end, noun=noun)
        else:
            begins = definite if definite is not None else start
            found.append(Token("thing", begins, end, is_definite=definite is not None))


def _kind_of(span: Span) -> str:
    match span.kind:
        case "id":
            return f"id {re.split(r'[-_0-9]', span.text)[0].casefold()}"
        case "slash" | "path":
            return "path"
        case kind:
            return kind


def _are_alike(one: Sequence[Token], other: Sequence[Token], *, is_loose: bool = False) -> bool:
    return len(one) == len(other) and all(
        _is_like(left, right, is_loose=is_loose and not at)
        for at, (left, right) in enumerate(zip(one, other, strict=True))
    )


def _is_like(one: Token, other: Token, *, is_loose: bool = False) -> bool:
    """Whether two tokens are of one kind. `is_loose`: with an article and without one."""
    kinds = {one.kind, other.kind}
    if kinds == {"thing"}:
        return is_loose or one.is_definite == other.is_definite
    if kinds <= {"thing", "quantity", "another"}:
        # `two pineapples, a melon and six lemons`.
        return True
    if kinds == {"quantity"}:
        return True
    return len(kinds) == 1 or kinds <= _NUMBERS or kinds <= {"thing", "code"}


def _named(back: re.Match[str], things: Sequence[str]) -> tuple[str, ...]:
    """The things that words point back to."""
    if len(things) < 2:
        return ()
    if back["all"]:
        return tuple(things)
    if back["first"]:
        return (things[0],)
    if back["last"]:
        return (things[-1],)
    return (things[1],)
