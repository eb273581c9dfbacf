"""Verdicts on one place, and how those of several places or rules make one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

Word = Literal["fits", "may", "never", "unknown"]


class PairVerdict(msgspec.Struct, frozen=True):
    """Whether the values of one schema are accepted by another, with the reason where not all surely are."""

    word: Word
    reason: str = ""
    coerced: bool = False
    """Fits, but only after coercion."""
    firm: bool = False
    """Never, whatever coercion another rule may do first."""
    by_input: bool = False
    """Not known because of what the input asks for, not for want of a type of what it is given."""


FITS: Final = PairVerdict("fits")
COERCED: Final = PairVerdict("fits", coerced=True)


def may(reason: str) -> PairVerdict:
    """Some values fit."""
    return PairVerdict("may", reason)


def never(reason: str, *, firm: bool = False) -> PairVerdict:
    """No value fits."""
    return PairVerdict("never", reason, firm=firm)


def unknown(reason: str, *, by_input: bool = False) -> PairVerdict:
    """The schemas do not say."""
    return PairVerdict("unknown", reason, by_input=by_input)


def for_each(verdicts: Sequence[PairVerdict]) -> PairVerdict:
    """One verdict over values of which each kind has its own: all must fit."""
    words = {verdict.word for verdict in verdicts}
    if words <= {"fits"}:
        return COERCED if any(verdict.coerced for verdict in verdicts) else FITS
    if words == {"never"}:
        return never(verdicts[0].reason, firm=all(verdict.firm for verdict in verdicts))
    if "may" in words or "never" in words:
        return may(_first(verdicts, "never", "may").reason)
    return _first(verdicts, "unknown")


def under_all(verdicts: Sequence[PairVerdict]) -> PairVerdict:
    """One verdict over rules that hold together for the same values."""
    if len(verdicts) == 1:
        return verdicts[0]
    words = {verdict.word for verdict in verdicts}
    if "never" in words:
        found = max((verdict for verdict in verdicts if verdict.word == "never"), key=lambda verdict: verdict.firm)
        # Another rule may coerce the value into one that this rule accepts.
        return found if found.firm or len(verdicts) == 1 else may(found.reason)
    for word in ("may", "unknown"):
        if word in words:
            return _first(verdicts, word)
    if any(verdict.coerced for verdict in verdicts):
        return unknown("several rules apply at once and the value must be converted", by_input=True)
    return FITS


def under_any(verdicts: Sequence[PairVerdict], *, is_scalar: bool) -> PairVerdict:
    """One verdict over alternatives of which one must accept the value."""
    fitting = [verdict for verdict in verdicts if verdict.word == "fits"]
    others = [verdict for verdict in verdicts if verdict.word != "fits"]
    if any(not verdict.coerced for verdict in fitting):
        return FITS
    if fitting:
        # A text or number has one coerced form of each type, so that alternatives cannot disagree on it.
        if is_scalar or (len(fitting) == 1 and all(verdict.word == "never" for verdict in others)):
            return COERCED
        return may("several alternatives could apply, and a value that fits two of them is not converted")
    if all(verdict.word == "never" for verdict in verdicts):
        return never(_first(verdicts, "never").reason, firm=all(verdict.firm for verdict in verdicts))
    return _first(verdicts, "may", "unknown")


def under_one(verdicts: Sequence[PairVerdict]) -> PairVerdict:
    """One verdict over alternatives of which exactly one must accept the value."""
    fitting = [verdict for verdict in verdicts if verdict.word == "fits"]
    others = [verdict for verdict in verdicts if verdict.word != "fits"]
    if not fitting and all(verdict.word == "never" for verdict in others):
        return never(_first(verdicts, "never").reason, firm=all(verdict.firm for verdict in verdicts))
    if len(fitting) == 1 and not fitting[0].coerced and all(verdict.word == "never" for verdict in others):
        return FITS
    if len(fitting) > 1:
        return may("several alternatives accept it, and only one may")
    return _first(others, "may", "unknown") if any(v.word != "never" for v in others) else may("only one may accept it")


def _first(verdicts: Sequence[PairVerdict], *words: str) -> PairVerdict:
    for word in words:
        for verdict in verdicts:
            if verdict.word == word:
                return verdict
    return verdicts[0]
