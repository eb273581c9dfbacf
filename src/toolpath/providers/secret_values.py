"""Secrets of plans: found by name in the environment, at the last moment, under one prefix and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

#: `secrets.NAME` reads this variable: a plan cannot read the rest of the environment.
PREFIX = "TOOLPATH_SECRET_"


class EnvironmentSecrets(Mapping[str, str]):
    """`secrets.NAME` → the variable `TOOLPATH_SECRET_NAME`."""

    def __getitem__(self, name: str) -> str:
        return os.environ[PREFIX + name]

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(PREFIX) for name in os.environ if name.startswith(PREFIX))

    def __len__(self) -> int:
        return sum(1 for _ in self)
