"""A process without an API has its figures on an address of their own."""

from __future__ import annotations

import socket

import httpx
import pytest
from tests.patience import PATIENCE

from toolpath.errors import ConfigError
from toolpath.telemetry.metrics import Metrics
from toolpath.telemetry.telemetry import Telemetry


def watched() -> Telemetry:
    return Telemetry(None, metrics=Metrics())


def test_figures_are_served_until_the_process_ends() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    telemetry = watched()
    telemetry.listen(f"127.0.0.1:{port}")
    try:
        assert "toolpath_runs_driven 0.0" in httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).text
    finally:
        telemetry.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE)


@pytest.mark.parametrize(
    "address", ["nowhere", "127.0.0.1:", "127.0.0.1:99999999", "300.0.0.1:0", ":::x", "127.0.0.1:9-3", "127.0.0.1:1-x"]
)
def test_an_address_that_is_none_is_said(address: str) -> None:
    with pytest.raises(ConfigError, match="metrics_listen"):
        watched().listen(address)


def test_workers_of_one_machine_take_a_port_each_and_work_without_where_none_is_free(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ports = f"127.0.0.1:{port}-{port + 40}"
        workers = [watched() for _ in range(3)]
        found = [worker.listen(ports) for worker in workers]
        try:
            assert len({*found, f"127.0.0.1:{port}"}) == 4
            for where in found:
                assert httpx.get(f"http://{where}/metrics", timeout=PATIENCE).status_code == 200
            assert watched().listen(f"127.0.0.1:{port}") == ""
            assert "is taken" in caplog.text
        finally:
            for worker in workers:
                worker.close()
