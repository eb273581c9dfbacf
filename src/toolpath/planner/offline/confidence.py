"""How sure a plan is, and whether its tool fits at all: two logistic rules over what the planner saw. Pure.

The weights were fitted on the development records of public data sets; `benchmarks/planning.py` measures them.
"""

from __future__ import annotations

import math

import msgspec


class Evidence(msgspec.Struct, frozen=True):
    """What speaks for a plan; shares from 0 to 1."""

    name: float
    """Of the tool's name that its part of the request says; this and the next two of the tool that fits worst."""
    description: float
    said: float
    """Of its part of the request that the tool speaks of."""
    best: float
    """The fit of the tool that fits best."""
    missing: float
    """Of the required parameters that nothing in the request speaks of."""
    sure: float
    """How well the arguments fit on average, 0 to 4."""
    weakest: float
    """How well the worst of them fits, 0 to 4."""
    phrases: float
    """Of the arguments that are plain words."""
    unused: float
    """Of the quoted texts, names and numbers in the request that no argument took."""
    lead: float
    """Of the first tool over its nearest rival, at most 0.3."""
    calls: float
    """Logarithm of their number."""
    tools: float
    """Logarithm of their number."""
    linked: float
    """Of the arguments that come from other steps."""
    values: float
    """Logarithm of the number of arguments."""
    uncued: float
    """Of the arguments that no word nearby points to."""
    explained: float
    """Of the request's words that name a tool, a parameter or an argument."""
    hard: float
    """Of the parameters that are lists, objects or of no known type."""
    free: float
    """Of the parameters that are required and take any text."""
    left: float
    """Of the parameters that are left out."""


#: From this confidence on, about 90 of 100 plans are right in every argument.
CONFIDENT = 0.84
_THRESHOLD = 0.53
_FITTING = {
    "bias": -0.54,
    "name": 2.16,
    "description": 1.15,
    "said": 0.82,
    "best": 2.43,
    "missing": -3.73,
    "sure": 1.3,
    "weakest": -1.36,
    "phrases": -1.47,
    "unused": 1.33,
    "explained": -0.7,
    "uncued": -0.87,
    "free": -0.3,
}
_RIGHT = {
    "bias": -2.19,
    "name": 0.15,
    "description": 0.29,
    "said": 0.67,
    "best": -1.06,
    "missing": -3.33,
    "sure": 0.2,
    "weakest": 0.48,
    "phrases": -2.02,
    "unused": -1.18,
    "lead": 3.47,
    "calls": 0.44,
    "tools": -0.43,
    "linked": 0.19,
    "values": -1.49,
    "uncued": 0.26,
    "explained": 3.17,
    "hard": -0.55,
    "free": -0.5,
    "left": -2.94,
}


def is_fitting(evidence: Evidence) -> bool:
    """Whether the tools chosen do what was asked for."""
    return _logistic(_FITTING, evidence) >= _THRESHOLD


def confidence(evidence: Evidence) -> float:
    """The chance that the plan is right in every argument."""
    return _logistic(_RIGHT, evidence)


def _logistic(weights: dict[str, float], evidence: Evidence) -> float:
    total = sum(weight * float(getattr(evidence, name, 1.0)) for name, weight in weights.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
