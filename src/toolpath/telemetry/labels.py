"""Labels of metrics that cannot grow without bound, and the figures that stand under them."""

from __future__ import annotations

from typing import TypeVar

from prometheus_client.metrics import MetricWrapperBase

Metric = TypeVar("Metric", bound=MetricWrapperBase)


class Labels:
    """The first so many names as they are, every later one as `other`."""

    __slots__ = ("_known", "_most")

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: set[str] = set()

    def of(self, name: str) -> str:
        """The label for a name."""
        if name in self._known:
            return name
        if len(self._known) >= self._most:
            return "other"
        self._known.add(name)
        return name


class Children(dict[str | tuple[str, ...], Metric]):
    """Figures of one metric by their labels. The library looks for them anew, behind a lock, each time."""

    def __init__(self, metric: Metric) -> None:
        super().__init__()
        self._metric = metric

    def __missing__(self, labels: str | tuple[str, ...]) -> Metric:
        child = self[labels] = self._metric.labels(*((labels,) if isinstance(labels, str) else labels))
        return child
