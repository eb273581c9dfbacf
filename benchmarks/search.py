"""Tool search on public tools and queries: quality (nDCG@10, recall@10), time a query, time and size of the index."""

from __future__ import annotations

import math
import statistics
import sys
import time
import tracemalloc
from collections import defaultdict
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec

from benchmarks.records import VARIABLE, folder, read_lines
from benchmarks.report import publish, table
from toolpath.catalog.embeddings import Embeddings
from toolpath.catalog.search import ToolSearch
from toolpath.catalog.sentence_model import SentenceModel
from toolpath.errors import ConfigError
from toolpath.model.tool import Tool

LIMIT = 10


class Document(msgspec.Struct, frozen=True):
    """A tool of the corpus; `parameters` are `name: "type: description"`."""

    tool_id: str
    source: str
    name: str
    description: str = ""
    parameters: dict[str, Any] = {}
    category: str = ""


class Query(msgspec.Struct, frozen=True):
    """A request and the tools that fit it."""

    qid: str
    source: str
    query: str
    relevant: list[str]


def read_tools(where: Path) -> dict[str, Tool]:
    """Every tool of the corpus by the corpus's id."""
    documents = read_lines(where / "retrieval_corpus.jsonl", Document)
    return {document.tool_id: tool_of(document, number) for number, document in enumerate(documents)}


def tool_of(document: Document, number: int) -> Tool:
    """The tool as a catalogue would hold it, in a group of its own that no query names."""
    properties = {}
    for name, text in document.parameters.items():
        kind, _, description = str(text).partition(":")
        properties[name] = {"type": kind.strip(), "description": description.strip()}
    return Tool(
        name=document.name,
        group="x" + "".join(chr(97 + int(digit)) for digit in str(number)) + "x",
        description=document.description,
        category=document.category or "general",
        input_schema={"type": "object", "properties": properties},
    )


def ndcg(found: list[str], relevant: set[str]) -> float:
    """Discounted gain of the first ten, 1 where nothing could come earlier."""
    gain = sum(1 / math.log2(rank + 2) for rank, key in enumerate(found) if key in relevant)
    return gain / sum(1 / math.log2(rank + 2) for rank in range(min(LIMIT, len(relevant))))


class Scores(msgspec.Struct):
    """What one index reached: by source, and milliseconds of processor time."""

    gains: dict[str, list[float]]
    recalls: dict[str, list[float]]
    times: list[float]
    halves: tuple[list[float], list[float]]

    @property
    def ndcg(self) -> float:
        return statistics.fmean(gain for gains in self.gains.values() for gain in gains)

    @property
    def recall(self) -> float:
        return statistics.fmean(recall for recalls in self.recalls.values() for recall in recalls)


def measure(index: ToolSearch, queries: list[Query], ids: dict[str, str]) -> Scores:
    """Ask every query; `ids` gives the corpus's id of a key."""
    scores = Scores(defaultdict(list), defaultdict(list), [], ([], []))
    for query in queries:
        began = time.process_time()
        hits = index.search(query.query, LIMIT)
        scores.times.append((time.process_time() - began) * 1000)
        relevant = set(query.relevant)
        found = [ids[hit.tool.key] for hit in hits]
        gain = ndcg(found, relevant)
        scores.gains[query.source].append(gain)
        scores.halves[crc32(query.qid.encode()) % 2].append(gain)
        scores.recalls[query.source].append(len(relevant & set(found)) / len(relevant))
    return scores


def measure_index(tools: list[Tool]) -> tuple[ToolSearch, float, float]:
    """The index, the seconds it took, and its size in megabytes."""
    began = time.process_time()
    ToolSearch(tools)
    seconds = time.process_time() - began
    tracemalloc.start()
    index = ToolSearch(tools)
    size = tracemalloc.get_traced_memory()[0] / 1e6
    tracemalloc.stop()
    return index, seconds, size


def measure_embedding(similarity: Embeddings, tools: list[Tool]) -> tuple[ToolSearch, float, float]:
    """The index with meanings, the seconds of processor time that its vectors took, and their size in megabytes."""
    index = ToolSearch(tools, similarity=similarity)
    began = time.process_time()
    similarity.settle()
    seconds = time.process_time() - began
    return index, seconds, len(tools) * SentenceModel.width * 4 / 1e6


def row(name: str, scores: Scores) -> list[object]:
    """One line of the table: quality, then times."""
    ordered = sorted(scores.times)
    at = ordered[int(0.95 * len(ordered))]
    first, second = map(statistics.fmean, scores.halves)
    return [name, scores.ndcg, first, second, scores.recall, statistics.median(ordered), at, ordered[-1]]


def main() -> int:
    """Measure search by words, and by words and meaning where the extra `embed` is installed."""
    where = folder()
    if where is None:
        print(f"Set {VARIABLE} to the folder of the records.", file=sys.stderr)
        return 2
    named = read_tools(where)
    ids = {tool.key: name for name, tool in named.items()}
    queries = list(read_lines(where / "retrieval_queries.jsonl", Query))
    index, seconds, size = measure_index(list(named.values()))
    results = {"words": measure(index, queries, ids)}
    note = f"{len(named):,} tools indexed in {seconds:.2f} s, {size:.0f} MB; {len(queries):,} queries."
    data: dict[str, Any] = {"tools": len(named), "index_seconds": seconds, "index_megabytes": size}
    try:
        similarity = Embeddings()
    except ConfigError as error:
        print(error, file=sys.stderr)
    else:
        by_both, embedding, kept = measure_embedding(similarity, list(named.values()))
        results["words and meaning"] = measure(by_both, queries, ids)
        note += f" Their vectors take {embedding:.0f} s of one core, once, and {kept:.0f} MB."
        data |= {"embedding_seconds": embedding, "embedding_megabytes": kept}
    text = table(
        ["search", "nDCG@10", "first half", "second half", "recall@10", "median ms", "p95 ms", "longest ms"],
        [row(name, scores) for name, scores in results.items()],
    )
    by_source = table(
        ["source", "queries", *results],
        [
            [source, len(gains), *(statistics.fmean(scores.gains[source]) for scores in results.values())]
            for source, gains in sorted(results["words"].gains.items())
        ],
    )
    data["scores"] = {name: {"ndcg": scores.ndcg, "recall": scores.recall} for name, scores in results.items()}
    publish("search", f"{note}\n\n{text}\n\n{by_source}", data)
    print(note, text, by_source, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
