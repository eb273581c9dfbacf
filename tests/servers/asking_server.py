"""A server of the older generation that serves calls side by side and asks on the pipe, saying nothing of which call.

`look` waits and answers; `ask` asks once, `ask_twice` twice, each repeating what it was called with; `moody` asks at
every second call.
"""

from __future__ import annotations

import json
import sys
import threading
import time

lock = threading.Lock()
answers: dict[str, object] = {}
arrived: dict[str, threading.Event] = {}
calls = {"moody": 0, "questions": 0}


def write(message: object) -> None:
    with lock:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


def asked(text: str) -> object:
    with lock:
        calls["questions"] += 1
        name = f"q{calls['questions']}"
        arrived[name] = threading.Event()
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    params = {"message": text, "requestedSchema": schema}
    write({"jsonrpc": "2.0", "id": name, "method": "elicitation/create", "params": params})
    arrived[name].wait(60)
    return answers[name]


def serve(request: dict) -> None:
    name, given = request["params"]["name"], request["params"].get("arguments") or {}
    mark = str(given.get("mark", ""))
    time.sleep(float(given.get("seconds", 0)))
    found: list[object] = []
    if name == "moody":
        with lock:
            calls["moody"] += 1
            asks = calls["moody"] % 2
    else:
        asks = {"ask": 1, "ask_twice": 2}.get(name, 0)
    for _ in range(asks):
        found.append(asked(mark))
    text = json.dumps({"mark": mark, "answers": found})
    write({"jsonrpc": "2.0", "id": request["id"], "result": {"content": [{"type": "text", "text": text}]}})


PROPERTIES = {"mark": {"type": "string"}, "seconds": {"type": "number"}}
TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": PROPERTIES}}
    for name in ("look", "ask", "ask_twice", "moody")
]

while line := sys.stdin.readline():
    message = json.loads(line)
    match message.get("method"):
        case "initialize":
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "asking", "version": "1"},
            }
            write({"jsonrpc": "2.0", "id": message["id"], "result": result})
        case "tools/list":
            write({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": TOOLS}})
        case "tools/call":
            threading.Thread(target=serve, args=(message,), daemon=True).start()
        case None if message.get("id") in arrived:
            answers[message["id"]] = message.get("result")
            arrived[message["id"]].set()
        case None:
            pass
        case _ if "id" in message:
            write({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})
