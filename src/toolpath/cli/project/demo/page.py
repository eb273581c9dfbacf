"""The web page of the demo, on this machine alone: it answers 503 to the first request, so that a retry can be seen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_PAGE = b"""{"offices": [
  {"city": "Lisbon", "timezone": "Europe/Lisbon"},
  {"city": "Nairobi", "timezone": "Africa/Nairobi"},
  {"city": "Osaka", "timezone": "Asia/Tokyo"}
]}"""


@contextmanager
def team_page(failures: int = 1) -> Iterator[str]:
    """The page's address while the context lasts; the first `failures` requests for it fail."""
    left = [None] * failures

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that http.server calls
            if self.path != "/team.json":
                self._answer(HTTPStatus.NOT_FOUND, b"")
            elif left:
                left.pop()
                self._answer(HTTPStatus.SERVICE_UNAVAILABLE, b"starting")
            else:
                self._answer(HTTPStatus.OK, _PAGE)

        def _answer(self, status: HTTPStatus, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # as http.server names it
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/team.json"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
