"""Texts as words in their plainest form, and requests as clauses: what search and planner compare. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_a-zA-Z]+")
_CLAUSE = re.compile(
    r"[.!?;]+\s|\n|,\s*(?:and|then|after)\s|\b(?:then|after that|afterwards|also|finally|lastly|additionally)\b",
    re.IGNORECASE,
)

#: Words that say nothing of what a tool does: those of grammar, of politeness and of sequence.
STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "in",
        "into",
        "is",
        "it",
        "of",
        "on",
        "or",
        "that",
        "the",
        "this",
        "to",
        "with",
        "all",
        "any",
        "i",
        "me",
        "my",
        "we",
        "you",
        "your",
        "our",
        "can",
        "could",
        "would",
        "please",
        "want",
        "need",
        "help",
        "also",
        "then",
        "after",
        "finally",
        "so",
        "if",
        "do",
        "does",
        "did",
        "have",
        "has",
        "had",
        "will",
        "should",
        "like",
        "im",
        "ve",
        "ll",
        "s",
        "t",
        "re",
        "d",
        "am",
        "was",
        "were",
        "what",
        "which",
        "who",
        "whom",
        "how",
        "when",
        "where",
        "why",
        "there",
        "here",
        "their",
        "they",
        "them",
        "its",
        "been",
        "being",
        "about",
        "just",
        "let",
        "us",
        "not",
        "no",
        "some",
        "such",
        "only",
        "very",
        "more",
        "most",
        "than",
        "too",
        "up",
        "out",
        "over",
        "under",
        "again",
        "further",
        "once",
        "both",
        "each",
        "few",
        "own",
        "same",
        "next",
        "first",
        "lastly",
        "additionally",
    ]
)


def words(text: str) -> list[str]:
    """The words of a text in their plainest form: `createAuthors` gives `create` and `author`."""
    return [stem(word) for word in raw_words(text) if word not in STOP]


def raw_words(text: str) -> list[str]:
    """Every word in lower case, camel case and underscores taken apart."""
    return [word.lower() for word in _WORD.findall(text)]


def clauses(text: str) -> list[str]:
    """The parts of a request that may each want a tool of its own, at least two telling words each."""
    return [part for part in _CLAUSE.split(text) if len(words(part)) >= 2]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The singular of a word. Only what is nearly always right: `status` and `class` stay as they are."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) and word != "news":
        return word[:-1]
    return word
