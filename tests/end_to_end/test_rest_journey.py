"""A user's program and REST alone: templates that fan out over plans and agents, a form, an upload, a schedule.

Nothing of what stands here is Toolpath's but the commands that are started: the program speaks HTTP, and the model
behind the agents is a server of its own that speaks OpenAI's language.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.patience import PATIENCE
from tests.prepared.prepared import prepared

POSTGRES = os.environ.get("TEST_POSTGRES_URL", "postgresql://postgres@127.0.0.1:5432/postgres")
RABBITMQ = os.environ.get("TOOLPATH_TEST_RABBITMQ", "amqp://guest:guest@127.0.0.1:5672/")
TOOLS = '''
from toolpath import ToolContext, tool

ARTICLES = {"tea": ["Green tea", "Red tea", "Black tea", "White tea"]}

@tool(group="news", effect="read")
def find(context: ToolContext, topic: str) -> list[str]:
    """Titles of articles on a topic, but for those that an uploaded file is named after."""
    sent = context.metadata.get("uploaded_files", [])
    return [title for title in ARTICLES.get(topic, []) if f"{title}.txt" not in sent]

@tool(group="news", effect="read")
def read(title: str) -> str:
    """The text of an article."""
    return f"All about {title}."

@tool(group="news", effect="write")
def issue(headline: str, texts: list[str]) -> dict:
    """Print an edition."""
    with open("issued", "a") as file:
        file.write(headline + "\\n")
    return {"headline": headline, "pages": len(texts)}
'''
#: One article: an agent that reads before it writes. Called by other plans alone.
SUMMARY = {
    "name": "Summary",
    "steps": [{"id": "writer", "agent": {"requirement": "Summarise <<title>>", "tools": ["news.read"]}}],
    "outputs": "{{ writer }}",
}
#: One edition: for each article a plan and an agent side by side, then a person, then a write.
EDITION = {
    "name": "Edition",
    "steps": [
        {"id": "found", "tool": "news.find", "inputs": {"topic": "<<topic>>"}},
        {
            "id": "articles",
            "loop": {
                "over": "{{ found }}",
                "as": "title",
                "concurrency": 3,
                "steps": [
                    {
                        "id": "both",
                        "parallel": [
                            {"id": "text", "tool": "press.Summary", "inputs": {"title": "{{ title }}"}},
                            {"id": "grade", "agent": {"requirement": "Grade {{ title }}", "output": ["mark: integer"]}},
                        ],
                    }
                ],
            },
        },
        {
            "id": "chief",
            "depends_on": ["articles"],
            "ask": {
                "title": "Print <<topic>>?",
                "inputs": [{"name": "headline", "required": True}, {"name": "copies", "type": "integer"}],
                "timeout": "1h",
            },
        },
        {
            "id": "issued",
            "tool": "news.issue",
            "inputs": {
                "headline": "{{ chief.headline }}",
                "texts": "{{ articles | map(lambda each: each.both.text) }}",
            },
        },
    ],
    "outputs": {"issue": "{{ issued }}", "articles": "{{ articles }}", "copies": "{{ chief.copies }}"},
}


class Model(ThreadingHTTPServer):
    """A model that reads an article before it writes of it, and grades it at once."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answering)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Answering(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        goal = next(str(each["content"]) for each in request["messages"] if each["role"] == "user").partition("\n")[0]
        said = sum(each["role"] == "assistant" for each in request["messages"])
        self.server.asked.append(f"{goal} {said}")
        what, _, title = goal.partition(" ")
        if what == "Grade":
            name, arguments = "terminate", {"message": [{"mark": len(title)}]}
        elif said == 0:
            name, arguments = "news--read", {"title": title}
        else:
            told = next(str(each["content"]) for each in request["messages"] if each["role"] == "tool")
            name, arguments = "terminate", {"message": f"In short: {told.splitlines()[1]}"}
        call = {"id": f"c{said}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        answer = {
            "id": "a", "object": "chat.completion", "created": 1, "model": "stub",
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8},
        }  # fmt: skip
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the tests' output is no log."""


class Service:
    """Toolpath's commands in one folder, as whoever runs the service starts them."""

    def __init__(self, folder: Path, model: Model, store: str, queue: str = "") -> None:
        self.folder = folder
        self._env = {name: value for name, value in os.environ.items() if not name.startswith(("TOOL", "PYTEST"))}
        self._env |= {"TOOL_PLANNER_LLM": "openai", "OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "k"}
        self._env |= {"TOOL_PLANNER_MODEL": "stub"}
        (folder / "own_tools.py").write_text(TOOLS)
        settings = [f'store = "{store}"', 'tools = ["own_tools.py"]', f'files_dir = "{folder / "files"}"']
        if queue:
            settings += [f'queue = "{RABBITMQ}"', f'queue_name = "{queue}"']
        (folder / "toolpath.toml").write_text("\n".join(settings))
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, *arguments: str, real: bool = False) -> subprocess.Popen[bytes]:
        """A command; `real` where it is killed with a signal that no program in place of it could hand on."""
        with (self.folder / f"{arguments[0]}.log").open("a") as log:
            forked = prepared("serve" if arguments[0] == "serve" else "toolpath", *arguments)
            command = [sys.executable, "-m", "toolpath", *arguments] if real else forked
            process = subprocess.Popen(command, cwd=self.folder, env=self._env, stdout=log, stderr=log)
        self._processes.append(process)
        return process

    def serve(self) -> str:
        """The address of the API."""
        process, log = self.start("serve", "--port", "0"), self.folder / "serve.log"
        until(lambda: "Listening on" in log.read_text() or process.poll() is not None)
        found = re.search(r"Listening on (http://\S+)\s", log.read_text())
        assert found is not None, log.read_text()
        return f"{found[1]}/api/v1"

    def stop(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()


def until(holds: Callable[[], Any]) -> Any:
    give_up = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < give_up, "it never came"
        time.sleep(0.1)
    return found


@contextmanager
def served(folder: Path, store: str, queue: str = "") -> Iterator[tuple[Service, Model, httpx.Client]]:
    with ExitStack() as stack:
        model = stack.enter_context(Model())
        threading.Thread(target=model.serve_forever, daemon=True).start()
        stack.callback(model.shutdown)
        service = Service(folder, model, store, queue)
        stack.callback(service.stop)
        client = stack.enter_context(httpx.Client(base_url=service.serve(), timeout=PATIENCE))
        yield service, model, client


def kept(client: httpx.Client, document: dict[str, Any], *channels: str, **words: Any) -> str:
    answer = client.post("templates", json={"document": document, **words})
    assert answer.status_code == 201, answer.text
    place = f"templates/{answer.json()['template_id']}"
    published = client.post(f"{place}/publish", json={"channels": channels})
    assert published.status_code == 200, published.text
    return str(answer.json()["template_id"])


def shown(client: httpx.Client, run_id: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"runs/{run_id}").raise_for_status().json()
    return found


def asked(client: httpx.Client, run_id: str) -> dict[str, Any]:
    """The question of the run, as a person's program finds it."""

    def mine() -> Any:
        run = shown(client, run_id)
        assert run["status"] in ("pending", "running", "waiting"), run
        questions = client.get("questions").raise_for_status().json()["questions"]
        return [each for each in questions if each["run_id"] == run_id]

    (question,) = until(mine)
    return dict(question)


def ended(client: httpx.Client, run_id: str) -> dict[str, Any]:
    until(lambda: shown(client, run_id)["status"] not in ("pending", "running", "waiting"))
    return shown(client, run_id)


def journey(client: httpx.Client, service: Service, model: Model, *, meanwhile: Callable[[], None]) -> None:
    kept(client, SUMMARY, "tool", group="press")
    edition = kept(client, EDITION, "http", group="press")

    # A run of it: refused without its parameter, begun once with a key.
    refused = client.post(f"templates/{edition}/runs", json={"inputs": {}})
    assert (refused.status_code, refused.json()["findings"][0]["code"]) == (422, "missing_input")
    assert client.get("runs").json()["runs"] == []
    upload = client.post("files", files={"files": ("../Red tea.txt", b"It is no tea.")})
    assert upload.status_code == 201, upload.text
    uploads = [upload.json()["upload_id"]]
    assert (
        client.post(f"templates/{edition}/runs", json={"inputs": {"topic": "tea"}, "uploads": ["x"]}).status_code == 404
    )
    body = {"inputs": {"topic": "tea"}, "uploads": uploads, "idempotency_key": "monday"}
    begun = [client.post("templates/press.Edition/runs", json=body) for _ in range(2)]
    assert [answer.status_code for answer in begun] == [202, 200]
    run_id = begun[0].json()["run_id"]
    assert begun[1].json()["run_id"] == run_id

    # What was uploaded is in the run's folder, under a safe name.
    (entry,) = client.get(f"runs/{run_id}/files").raise_for_status().json()["tree"]["children"]
    assert client.get(f"runs/{run_id}/files/{entry['path']}").content == b"It is no tea."
    assert "/" not in entry["path"]

    # The form in the middle: shown, refused where it does not fit, answered once.
    question = asked(client, run_id)
    assert "Print tea?" in json.dumps(question)
    assert not (service.folder / "issued").exists()
    meanwhile()
    for values in ({}, {"headline": "Tea!", "copies": "many"}):
        assert client.post(f"runs/{run_id}/input", json={"values": values}).status_code == 422
    answered = client.post(f"runs/{run_id}/input", json={"values": {"headline": "Tea!", "copies": "200"}})
    assert answered.status_code == 202, answered.text
    run = ended(client, run_id)
    assert run["status"] == "completed", run["error"]
    assert client.post(f"runs/{run_id}/input", json={"values": {"headline": "Again"}}).status_code == 409

    # What came of it, in the order of the items.
    titles = ["Green tea", "Black tea", "White tea"]
    assert run["outputs"]["issue"] == {"headline": "Tea!", "pages": 3}
    assert run["outputs"]["copies"] == 200
    assert [each["both"]["text"] for each in run["outputs"]["articles"]] == [
        f"In short: All about {t}." for t in titles
    ]
    assert [each["both"]["grade"] for each in run["outputs"]["articles"]] == [[{"mark": len(t)}] for t in titles]
    assert sorted(model.asked) == sorted(
        [f"Grade {t} 0" for t in titles] + [f"Summarise {t} {n}" for t in titles for n in (0, 1)]
    )
    page = client.get(f"runs/{run_id}/events", params={"follow": False, "limit": 1000}).json()
    ends = [event["path"] for event in page["events"] if event["type"] == "step.succeeded"]
    assert len(ends) == len(set(ends))
    assert sum(path.endswith("round[1]/act[0]") for path in ends) == 6

    # A schedule of the same template, due each second; its run waits for the same person.
    # Nothing is uploaded for it, so that its edition has a page more.
    words = {"template_id": "press.Edition", "inputs": {"topic": "tea"}, "cron": "* * * * * *"}
    scheduled = client.post("schedules", json=words)
    assert scheduled.status_code == 201, scheduled.text
    place = f"schedules/{scheduled.json()['schedule_id']}"

    def begun_by_it() -> Any:
        ticks = client.get(place).json()["ticks"]
        return [tick["run_id"] for tick in ticks if tick["outcome"] == "started"]

    (by_itself,) = until(begun_by_it)
    asked(client, by_itself)
    assert client.delete(place).status_code == 204
    client.post(f"runs/{by_itself}/input", json={"values": {"headline": "Tea again!", "copies": 1}}).raise_for_status()
    again = ended(client, by_itself)
    assert (again["status"], again["outputs"]["issue"]["pages"]) == ("completed", 4)
    assert (service.folder / "issued").read_text().splitlines() == ["Tea!", "Tea again!"]
    runs = client.get("runs", params={"plan_id": edition}).json()["runs"]
    assert [each["run_id"] for each in runs] == [by_itself, run_id]


@pytest.mark.slow
def test_a_template_s_whole_life_over_rest_alone(tmp_path: Path) -> None:
    with served(tmp_path, "runs.db") as (service, model, client):
        journey(client, service, model, meanwhile=lambda: None)


def reachable(url: str, usual: int) -> bool:
    place = urllib.parse.urlsplit(url)
    try:
        socket.create_connection((place.hostname or "127.0.0.1", place.port or usual), 5).close()
    except OSError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.postgres
def test_a_template_s_whole_life_over_rest_with_workers_one_of_which_is_killed(tmp_path: Path) -> None:
    if not reachable(POSTGRES, 5432) or not reachable(RABBITMQ, 5672):
        pytest.skip("no PostgreSQL, or no RabbitMQ")
    name = f"journey_{uuid.uuid4().hex[:12]}"
    with served(tmp_path, f"{POSTGRES}?schema={name}", name) as (service, model, client):
        killed = service.start("worker", real=True)

        def meanwhile() -> None:
            killed.send_signal(signal.SIGKILL)
            killed.wait()
            service.start("worker")

        try:
            journey(client, service, model, meanwhile=meanwhile)
        finally:
            service.stop()
            dropped(name)


def dropped(schema: str) -> None:
    """Leave nothing behind in the database and the broker."""
    import asyncio  # noqa: PLC0415

    import aio_pika  # noqa: PLC0415
    import asyncpg  # noqa: PLC0415

    async def drop() -> None:
        connection = await asyncpg.connect(POSTGRES)
        await connection.execute(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
        await connection.close()
        broker = await aio_pika.connect(RABBITMQ)
        channel = await broker.channel()
        for queue in (schema, f"{schema}.dead"):
            await channel.queue_delete(queue)
        await channel.exchange_delete(schema)
        await broker.close()

    asyncio.run(drop())
