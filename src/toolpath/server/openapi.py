"""OpenAPI description of the service, printed: the page's types are made of it."""

from __future__ import annotations

import json

from toolpath.app import Toolpath
from toolpath.server.asgi import create_app

if __name__ == "__main__":
    print(json.dumps(create_app(Toolpath()).openapi(), indent=1, sort_keys=True))  # noqa: T201  # what it is for
