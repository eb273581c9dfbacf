"""Several observers as one; one that fails is dropped, so that it can neither stop a run nor fill the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from toolpath.model.chat import ChatReply, ChatRequest
from toolpath.model.events import AnyEvent
from toolpath.ports import ChatObserver, Observer

_log = logging.getLogger("toolpath.telemetry")


class Watch:
    """An observer made of others."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = list(observers)

    def taken(self, run_id: str, events: Sequence[AnyEvent]) -> None:
        """Tell all."""
        for observer in tuple(self._observers):
            try:
                observer.taken(run_id, events)
            except Exception as error:  # noqa: BLE001  # an observer's fault is not the run's
                self._drop(observer, error)

    def committed(self, run_id: str, events: Sequence[AnyEvent], seconds: float) -> None:
        """Tell all."""
        for observer in tuple(self._observers):
            try:
                observer.committed(run_id, events, seconds)
            except Exception as error:  # noqa: BLE001  # as above
                self._drop(observer, error)

    def calling(self, run_id: str, path: str, attempt: int) -> Callable[[], None]:
        """Tell all, and all when it is over, the last first."""
        over: list[tuple[Observer, Callable[[], None]]] = []
        for observer in tuple(self._observers):
            try:
                over.append((observer, observer.calling(run_id, path, attempt)))
            except Exception as error:  # noqa: BLE001  # as above
                self._drop(observer, error)
        return lambda: self._over(over)

    def _over(self, over: list[tuple[Observer, Callable[[], None]]]) -> None:
        for observer, call in reversed(over):
            try:
                call()
            except Exception as error:  # noqa: BLE001  # as above
                self._drop(observer, error)

    def asking(self, request: ChatRequest, provider: str, model: str) -> Callable[[ChatReply | BaseException], None]:
        """Tell the observers that a model is asked, and later its outcome."""
        over: list[tuple[Observer, Callable[[ChatReply | BaseException], None]]] = []
        for observer in tuple(self._observers):
            if isinstance(observer, ChatObserver):
                try:
                    over.append((observer, observer.asking(request, provider, model)))
                except Exception as error:  # noqa: BLE001  # as above
                    self._drop(observer, error)
        return lambda came: self._answered(over, came)

    def _answered(
        self, over: list[tuple[Observer, Callable[[ChatReply | BaseException], None]]], came: ChatReply | BaseException
    ) -> None:
        for observer, call in reversed(over):
            try:
                call(came)
            except Exception as error:  # noqa: BLE001  # as above
                self._drop(observer, error)

    def left(self, run_id: str) -> None:
        """Tell all."""
        for observer in tuple(self._observers):
            try:
                observer.left(run_id)
            except Exception as error:  # noqa: BLE001  # as above
                self._drop(observer, error)

    def _drop(self, observer: Observer, error: Exception) -> None:
        if observer in self._observers:
            self._observers.remove(observer)
            _log.error("The observer %s is dropped: it failed.", type(observer).__name__, exc_info=error)
