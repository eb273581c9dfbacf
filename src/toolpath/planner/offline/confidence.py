"""Confidence in a plan, and whether its tool fits at all: two logistic rules over what the planner saw. Pure.

The weights were fitted on the development records of public data sets; `benchmarks/planning.py` measures them.
"""

from __future__ import annotations

import math

import msgspec


class Evidence(msgspec.Struct, frozen=True):
    """Evidence for a plan; shares from 0 to 1."""

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
    tie: float
    """How well the worst of the links fits, 0 to 2; 2 without links."""
    unasked: float
    """Of the tools that were brought in for what they give."""
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


#: From this confidence on, about 90 of 100 plans are right in every argument. So it is where weights that were fitted
#: on one half of the records are asked about the other.
CONFIDENT = 0.84
_THRESHOLD = 0.65
_FITTING = {
    "bias": -0.78,
    "name": 2.29,
    "description": 1.16,
    "said": 1.42,
    "best": 2.69,
    "missing": -3.52,
    "sure": 0.72,
    "weakest": -0.57,
    "phrases": -1.41,
    "unused": 1.09,
    "explained": -0.67,
    "uncued": -0.58,
    "free": -0.1,
}
#: Of plans whose steps read nothing of one another.
_RIGHT = {
    "bias": -2.93,
    "name": 0.15,
    "description": 0.25,
    "said": 1.33,
    "best": -1.3,
    "missing": -7.04,
    "sure": -0.07,
    "weakest": 0.56,
    "phrases": -2.42,
    "unused": -0.83,
    "lead": 7.01,
    "calls": 0.4,
    "tools": -0.59,
    "values": -1.08,
    "uncued": -0.27,
    "explained": 3.19,
    "free": -0.43,
    "left": -3.3,
}
#: Of plans in which a step reads another one: there the links decide.
_LINKED = {
    "bias": -5.08,
    "missing": -19.46,
    "sure": 1.23,
    "unused": -5.36,
    "tie": 0.32,
    "unasked": -5.2,
    "values": -2.81,
    "uncued": -1.8,
    "explained": 7.42,
}


def is_fitting(evidence: Evidence) -> bool:
    """Whether the tools chosen do what was asked for."""
    return _logistic(_FITTING, evidence) >= _THRESHOLD


def confidence(evidence: Evidence) -> float:
    """The chance that the plan is right in every argument."""
    return _logistic(_LINKED if evidence.linked else _RIGHT, evidence)


def _logistic(weights: dict[str, float], evidence: Evidence) -> float:
    total = sum(weight * float(getattr(evidence, name, 1.0)) for name, weight in weights.items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
