"""Views for those who look after the service: what runs, who drives it, what waits, whether the trail is whole."""

from __future__ import annotations

from toolpath.projections.run_times import Throughput
from toolpath.server.rest.views import RestView, RunRow, ToolRow


class QueueDetail(RestView, frozen=True, kw_only=True):
    """What waits for a worker."""

    waiting: int
    """Runs that have a turn, as the store says; counted up to 1,000."""
    messages: int | None = None
    """Messages that lie in the broker; null: it could not be asked."""
    put_aside: int | None = None
    """Messages that no worker could read; null: it keeps none, or could not be asked."""
    problem: str = ""


class OperationDetail(RestView, frozen=True, kw_only=True):
    """The caller's runs at a glance: what is open now, and what was begun from `since` to `at`, Unix time."""

    at: float
    since: float
    open_runs: dict[str, int]
    """How many runs that have not ended stand in each status."""
    questions: dict[str, int]
    """How many approvals, forms (`input`) and writes in `doubt` wait for people."""
    throughput: Throughput
    is_whole: bool = True
    """False: more runs were begun than are looked at; `since` is when the oldest of those began that were."""
    queue: QueueDetail | None = None
    """Null for tenants, and where runs are driven without a queue."""


class WorkerRow(RestView, frozen=True, kw_only=True):
    """A process that drives runs, or could."""

    name: str
    """`host:process:nonce`; empty for tenants."""
    seen_at: float
    """When it last said that it lives; Unix time by its own clock or the store's."""
    is_connected: bool = True
    """Whether it has a connection to the store; true where the store cannot tell."""
    runs: tuple[RunRow, ...] = ()
    """Those of the caller that it drives, longest unseen first; 100 at most for all."""


class WorkerList(RestView, frozen=True, kw_only=True):
    """Processes by name."""

    workers: tuple[WorkerRow, ...]


class AuditVerdict(RestView, frozen=True, kw_only=True):
    """Whether the audit trail is as it was written."""

    good: bool
    entries: int
    head: str
    """Digest of the last entry: noted elsewhere, it tells later that nothing before was taken away."""
    faults: tuple[str, ...] = ()
    unended: tuple[str, ...] = ()
    """Runs that have ended without that being in the trail."""
    unlinked: int = 0
    """Entries that were in no chain yet when the look began."""


class McpServerTools(RestView, frozen=True, kw_only=True):
    """Tools that a stored MCP server has, or why it has none."""

    name: str
    enabled: bool
    tools: tuple[ToolRow, ...] = ()
    problem: str = ""
    """Why it did not start or could not list its tools; empty: it did. A tenant is told only that it did not."""
    hint: str = ""


#: For the description of the interface.
OPERATION_VIEWS: tuple[type, ...] = (OperationDetail, WorkerList, AuditVerdict, McpServerTools)
