"""Slots of a run and of the nested plans in it: how many calls may be at work at once."""

from __future__ import annotations

from toolpath.engine.decide.control import Control
from toolpath.engine.state.accounts import Account


class Slots:
    """Counts the slots of one run, and offers those of a nested plan to who waits for one."""

    def __init__(self, control: Control, most: int) -> None:
        self.most = most
        self.busy = 0
        """Slots taken."""
        self._control = control

    def are_taken(self) -> bool:
        """Whether every slot of the run is taken."""
        return self.busy >= self.most

    def vacate(self, account: Account | None) -> None:
        """A call in these plans has ended, or waits for one of its own: who waits for its slot may have it."""
        control = self._control
        while account is not None:
            account.busy -= 1
            if account.failure is not None:
                if not account.busy and account.owner.status == "running":
                    control.block_lost(account.owner, account.failure)
                    control.settle()
            else:
                self._offer(account)
            account = account.up

    def pass_on(self, account: Account | None) -> None:
        """A step of these plans could not take the slot that it was offered: the next ones may have it."""
        while account is not None:
            self._offer(account)
            account = account.up

    def _offer(self, account: Account) -> None:
        while account.waiting and not account.is_full:
            step = account.waiting.popleft()
            if step.status in ("pending", "ready"):
                self._control.decisions.ready.push(step)
                break
