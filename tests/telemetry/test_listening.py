"""A process without an API has its figures on an address of their own."""

from __future__ import annotations

import socket

import httpx
import pytest

from toolpath.errors import ConfigError
from toolpath.telemetry.metrics import Metrics
from toolpath.telemetry.telemetry import Telemetry


def watched() -> Telemetry:
    telemetry = Telemetry(None)
    telemetry.metrics = Metrics()
    return telemetry


def test_figures_are_served_until_the_process_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    telemetry = watched()
    telemetry.listen(f"127.0.0.1:{port}")
    try:
        assert "toolpath_runs_driven 0.0" in httpx.get(f"http://127.0.0.1:{port}/metrics").text
    finally:
        telemetry.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics")


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:", "127.0.0.1:99999999", "300.0.0.1:0", ":::x"])
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(ConfigError, match="metrics_listen"):
        watched().listen(address)
