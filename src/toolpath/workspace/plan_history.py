"""History of stored plans: the contents of their revisions, and how two of them differ."""

from __future__ import annotations

from typing import Final

import msgspec

from toolpath.errors import RecordNotFound
from toolpath.model.stored import PlanContent, PlanRevision, StoredPlan
from toolpath.model.versions import DocumentDiff
from toolpath.ports import Clock, Store
from toolpath.runs.beside_the_loop import BesideTheLoop, weight_of
from toolpath.values import digest, made_ready
from toolpath.workspace.document_contents import DocumentContents
from toolpath.workspace.document_diff import diff_of

#: Revisions of a plan that are kept; older ones go.
_MOST: Final = 500


class PlanHistory:
    """The history of every stored plan. What a plan is now stands in its own record."""

    def __init__(self, store: Store, aside: BesideTheLoop, clock: Clock) -> None:
        self._contents = DocumentContents(store, "plan_revision")
        self._aside = aside
        self._clock = clock

    async def continued(self, before: StoredPlan, content: str, *, by: str, comment: str) -> tuple[PlanRevision, ...]:
        """The revisions once the content of that digest is in place of what the plan is, which is kept first."""
        last = before.revisions[-1]
        if last.digest == content:
            return before.revisions
        old = PlanContent(plan=before.plan, source=before.source)
        await self._contents.put(before.plan_id, last.digest, msgspec.to_builtins(old), tenant=before.tenant)
        made = PlanRevision(revision=before.revision + 1, digest=content, at=self._clock.time(), by=by, comment=comment)
        return (*before.revisions, made)[-_MOST:]

    async def forget_unused(self, before: StoredPlan, revisions: tuple[PlanRevision, ...]) -> None:
        """Forget the contents that no revision has any more."""
        used = {each.digest for each in revisions}
        await self._contents.forget(before.plan_id, {each.digest for each in before.revisions} - used)

    async def forget(self, plan_id: str) -> None:
        """Forget all that the plan was."""
        await self._contents.forget_all(plan_id)

    async def content(self, stored: StoredPlan, revision: int) -> PlanContent:
        """The plan's content at a revision, comments and all. Raises `RecordNotFound`."""
        known = next((each for each in reversed(stored.revisions) if each.revision <= revision), None)
        if known is None or revision > stored.revision:
            first = stored.revisions[0].revision
            raise RecordNotFound(
                f"The plan {stored.plan_id} has no revision {revision}.", hint=f"It has {first} to {stored.revision}."
            )
        if known.digest == stored.revisions[-1].digest:
            return PlanContent(plan=stored.plan, source=stored.source)
        kept = await self._contents.get(stored.plan_id, known.digest)
        if kept is None:
            raise RecordNotFound(f"Revision {revision} of the plan {stored.plan_id} is gone.")
        return msgspec.convert(kept, PlanContent)

    async def diff(self, stored: StoredPlan, earlier: int, later: int) -> DocumentDiff:
        """The changes in the later revision. Raises `RecordNotFound`."""
        before, after = await self.content(stored, earlier), await self.content(stored, later)
        named = stored.name or stored.plan_id
        names, texts = (f"{named} {earlier}", f"{named} {later}"), (before.source, after.source)
        weight = weight_of([before.plan, after.plan, *texts])
        return await self._aside.do(lambda: diff_of(before.plan, after.plan, names=names, texts=texts), weight)


def content_digest(content: PlanContent) -> str:
    """Digest of the plan and of what was written, whatever the order of its keys."""
    return digest(msgspec.to_builtins(content))


made_ready(PlanContent)
