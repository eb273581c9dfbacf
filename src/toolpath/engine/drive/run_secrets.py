"""Secrets that people told the run: at hand for its calls, and taken out of all that the run writes."""

from __future__ import annotations

from toolpath.engine.compile.agent_calls import AGENT
from toolpath.engine.compile.own_tools import OWN
from toolpath.engine.decide.decisions import Decisions
from toolpath.engine.drive.services import Services
from toolpath.model.events import Failure
from toolpath.model.redaction import RunRedactor
from toolpath.model.stand_ins import filled, names_in
from toolpath.values import JsonObject


class RunSecrets:
    """The secrets of one run, by the names in their stand-ins. Most runs have none."""

    def __init__(self, services: Services, decisions: Decisions) -> None:
        self._services = services
        self._decisions = decisions
        self._known: dict[str, str] = {}
        self.any = False
        """Whether the run was told one."""

    async def load(self, run_id: str) -> None:
        """Load the secrets that the run was told so far. Raises `StoreError`."""
        if self._services.secret_answers is None:
            return
        self._known = await self._services.secret_answers(run_id)
        self.any = bool(self._known)
        if self.any:
            redactor = RunRedactor(self._services.redactor, self._known.values())
            self._decisions.redactor = self._services.run_redactors[run_id] = redactor

    def let_go(self, run_id: str) -> None:
        """The run is driven here no more."""
        self._services.run_redactors.pop(run_id, None)

    def given_to(self, key: str, inputs: JsonObject) -> JsonObject | Failure:
        """The arguments as the tool with this key is called with them. Models are never told a secret."""
        if key == AGENT or key in OWN:
            return inputs
        wanted = set(names_in(inputs)) & self._known.keys()
        if not wanted:
            return inputs
        if any(not self._known[name] for name in wanted):
            return Failure(
                type="SecretGone",
                message="A secret typed into a form is gone: its run had ended, or its key is not at hand.",
                code="secret_gone",
                hint="Give this process the key that it was sealed with, or have the form answered again in a fork.",
            )
        found = filled(inputs, self._known)
        assert isinstance(found, dict)
        return found
