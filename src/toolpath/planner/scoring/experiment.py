"""Several ways of planning tried side by side: who gets which, what came of it, and whether the difference is real."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Final

import msgspec

from toolpath.errors import ConfigError, closest
from toolpath.planner.scoring.intervals import ConfidenceInterval, newcombe, quantile, wilson
from toolpath.values import JsonObject, made_ready

_SPACE: Final = 2**64


class Tally(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tally of one way of planning."""

    trials: int = 0
    successes: int = 0
    seconds: float = 0.0
    usd: float = 0.0
    tokens: int = 0

    @property
    def rate(self) -> float | None:
        """Share of successes; None before the first trial."""
        return self.successes / self.trials if self.trials else None


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """One way of planning in a report; means are per trial."""

    name: str
    tally: Tally
    interval: ConfidenceInterval
    """Of its rate, with 95 % confidence."""

    @property
    def seconds(self) -> float:
        """Mean duration."""
        return self.tally.seconds / self.tally.trials if self.tally.trials else 0.0

    @property
    def usd(self) -> float:
        """Mean cost."""
        return self.tally.usd / self.tally.trials if self.tally.trials else 0.0


class WayCompared(msgspec.Struct, frozen=True, kw_only=True):
    """One way of planning against the first one."""

    name: str
    against: str
    difference: float
    """Of the rates."""
    interval: ConfidenceInterval
    """Of the difference; all comparisons of a report hold together with 95 % confidence."""

    @property
    def is_real(self) -> bool:
        """The difference is more than chance."""
        return not self.interval.holds_zero


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Report on the ways of planning."""

    arms: tuple[Arm, ...]
    comparisons: tuple[WayCompared, ...]
    """Of the ways that were tried, with the first one where that was tried, too."""
    untried: tuple[str, ...] = ()
    """Names of the ways without a trial: with nothing to compare."""

    def __str__(self) -> str:
        lines = [
            f"{arm.name}: {arm.tally.successes} of {arm.tally.trials} succeeded"
            + (
                f" ({arm.tally.rate:.1%}, 95 % from {arm.interval.low:.1%} to {arm.interval.high:.1%})"
                if arm.tally.trials
                else ""
            )
            + f", {arm.seconds:.2f} s, {arm.usd:.4f} USD each"
            for arm in self.arms
        ]
        for one in self.comparisons:
            verdict = "a real difference" if one.is_real else "which may be chance"
            span = f"95 % from {one.interval.low:+.1%} to {one.interval.high:+.1%}"
            lines.append(f"{one.name} against {one.against}: {one.difference:+.1%} ({span}), {verdict}.")
        if self.untried and len(self.arms) > 1:
            lines.append(f"Not compared, since no run has ended of what it planned: {', '.join(self.untried)}.")
        return "\n".join(lines)


class Experiment:
    """Shares requests among ways of planning by weight and counts what comes of them. The first one is the standard."""

    def __init__(self, weights: Mapping[str, float], tallies: Mapping[str, Tally] | None = None) -> None:
        if not weights or any(weight < 0 for weight in weights.values()) or not sum(weights.values()) > 0:
            raise ConfigError("An experiment needs ways of planning with weights of 0 or more, not all 0.")
        self.weights = dict(weights)
        self._tallies = {name: (tallies or {}).get(name, Tally()) for name in self.weights}

    def pick(self, key: str) -> str:
        """The way of planning for a key, e.g. a request's id: always the same for the same key and weights."""
        place = int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8], "big") / _SPACE
        place *= sum(self.weights.values())
        for name, weight in self.weights.items():
            place -= weight
            if place < 0:
                return name
        return next(name for name, weight in reversed(self.weights.items()) if weight)

    def record(self, name: str, success: bool, *, seconds: float = 0.0, usd: float = 0.0, tokens: int = 0) -> None:
        """Count an outcome. Raises `ConfigError` for a way of planning that is not in the experiment."""
        known = self._tallies.get(name)
        if known is None:
            raise ConfigError(f"The experiment has no {name!r}.", suggestions=closest(name, self._tallies))
        self._tallies[name] = Tally(
            trials=known.trials + 1,
            successes=known.successes + success,
            seconds=known.seconds + seconds,
            usd=known.usd + usd,
            tokens=known.tokens + tokens,
        )

    def report(self) -> Report:
        """How they did so far."""
        first, *others = self._tallies
        standard = self._tallies[first]
        tried = [name for name in others if self._tallies[name].trials] if standard.trials else []
        z = quantile(comparisons=len(tried))
        comparisons = tuple(
            WayCompared(
                name=name,
                against=first,
                difference=(self._tallies[name].rate or 0.0) - (standard.rate or 0.0),
                interval=newcombe(_counts(self._tallies[name]), _counts(standard), z),
            )
            for name in tried
        )
        arms = tuple(
            Arm(name=name, tally=tally, interval=wilson(tally.successes, tally.trials))
            for name, tally in self._tallies.items()
        )
        untried = tuple(name for name, tally in self._tallies.items() if not tally.trials)
        return Report(arms=arms, comparisons=comparisons, untried=untried)

    def as_json(self) -> JsonObject:
        """The record as it is kept."""
        return {name: msgspec.to_builtins(tally) for name, tally in self._tallies.items()}

    @classmethod
    def from_json(cls, weights: Mapping[str, float], data: JsonObject) -> Experiment:
        """The experiment with what `as_json` gave; what is unreadable of it counts from zero."""
        tallies: dict[str, Tally] = {}
        for name, value in data.items():
            try:
                tallies[name] = msgspec.convert(value, Tally)
            except msgspec.ValidationError:
                continue
        return cls(weights, tallies)


def _counts(tally: Tally) -> tuple[int, int]:
    return tally.successes, tally.trials


made_ready(Tally)
