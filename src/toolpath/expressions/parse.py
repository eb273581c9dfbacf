"""Text of one expression → Jinja's tree of nodes, whose `lineno` is the offset of the character. No names, no values.

Jinja's lexer and parser are used for the grammar alone; nothing of its run time is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import cast

from jinja2 import Environment, nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.lexer import Lexer, Token, TokenStream, get_lexer
from jinja2.parser import Parser

from toolpath.errors import ExpressionError
from toolpath.expressions.scan import MAX_SOURCE
from toolpath.expressions.slips import sign_hint

#: Tokens and open brackets of one expression.
MAX_TOKENS = 1_000
MAX_BRACKETS = 24
# Longer expressions are parsed each time, so that the cache stays small whatever it is fed.
_CACHED_SOURCE = 200

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_QUOTED = r"'[^'\\\r\n]*'|\"[^\"\\\r\n]*\""
_plain = re.compile(rf"\s*({_NAME})((?:\.{_NAME}|\[(?:0|[1-9][0-9]{{0,8}}|{_QUOTED})\])*)\s*", re.ASCII)
_plain_key = re.compile(rf"\.({_NAME})|\[([0-9]+)\]|\[({_QUOTED})\]", re.ASCII)
#: Names that the parser reads as something else, or that are none.
WORDS = frozenset(
    {"and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "True", "False", "None", "lambda"}
)


def parse(source: str) -> nodes.Node:
    """The tree of one expression. Raises `ExpressionError` with the offset in `source`.

    A lambda is a `Macro` node, which no text can produce otherwise. The tree may be shared: never change it.
    """
    if len(source) <= _CACHED_SOURCE:
        return _parse_cached(source)
    return plain_path(source) or parse_fully(source)


@functools.lru_cache(maxsize=512)
def _parse_cached(source: str) -> nodes.Node:
    return plain_path(source) or parse_fully(source)


def plain_path(source: str) -> nodes.Node | None:
    """The tree of a plain path such as `writer.items[0].id`, without lexer and parser; None for anything else.

    By far the most expressions are plain paths. The tree equals what `parse_fully` gives.
    """
    found = _plain.fullmatch(source)
    if found is None or found[1] in WORDS or len(source) > MAX_SOURCE:
        return None
    node: nodes.Expr = nodes.Name(found[1], "load", lineno=found.start(1))
    for count, key in enumerate(_plain_key.finditer(source, found.start(2), found.end(2))):
        if count > MAX_BRACKETS:
            return None
        at = key.start()
        if key[1] is not None:
            node = nodes.Getattr(node, key[1], "load", lineno=at)
        else:
            value = int(key[2]) if key[2] is not None else key[3][1:-1]
            node = nodes.Getitem(node, nodes.Const(value, lineno=at + 1), "load", lineno=at)
    return node


def parse_fully(source: str) -> nodes.Node:
    """The tree of any expression, by Jinja's lexer and parser."""
    try:
        parser = _Parser(_tokens(source))
        tree = parser.parse_expression()
        if parser.stream.current.type != "eof":
            _refuse_rest(parser.stream.current)
    except TemplateSyntaxError as error:
        message = (error.message or "This is no expression.").removesuffix(".").replace("end of template", "end")
        message = "There is nothing between the braces" if not source.strip() else message
        raise ExpressionError(
            f"{message[:1].upper()}{message[1:]}.",
            code="expression_syntax",
            offset=error.lineno,
            hint=sign_hint(source, error.lineno),
        ) from None
    except ExpressionError as error:
        error.hint = sign_hint(source, error.offset) or error.hint
        raise
    except RecursionError:
        raise ExpressionError(
            "The expression is nested too deeply.", code="expression_too_large", hint="Split it into several steps."
        ) from None
    return tree


def _refuse_rest(token: Token) -> None:
    hint = "Write one expression." if token.type != "comma" else "Put a list into brackets: [a, b]."
    shown = token.value if token.type in ("name", "string", "integer", "float") else str(token)
    raise ExpressionError(f"Unexpected {shown!r}.", code="expression_syntax", offset=token.lineno, hint=hint)


@functools.cache
def _lexer() -> Lexer:
    return get_lexer(Environment(keep_trailing_newline=True, autoescape=True))


def _tokens(source: str) -> list[Token]:
    if len(source) > MAX_SOURCE:
        raise ExpressionError(f"The expression is longer than {MAX_SOURCE} characters.", code="expression_too_large")
    try:
        return list(_lexer().wrap(_bounded(source)))
    except ValueError:
        raise ExpressionError("A number has too many digits.", code="expression_too_large") from None


def _bounded(source: str) -> Iterator[tuple[int, str, str]]:
    """The raw tokens with the offset of each; raises before there are too many."""
    position = depth = count = 0
    # A carriage return alone would be read as a line end and shift the offsets.
    raw = _lexer().tokeniter(source.replace("\r", " "), None, state="variable")
    while True:
        try:
            _, kind, text = next(raw)
        except StopIteration:
            return
        except TemplateSyntaxError as error:
            raise TemplateSyntaxError(re.sub(r" at \d+$", "", error.message or ""), position) from None
        if kind == "operator":
            depth += (text in "([{") - (text in ")]}")
        if kind != "whitespace":
            count += 1
        if depth > MAX_BRACKETS or count > MAX_TOKENS:
            what = f"{MAX_BRACKETS} brackets inside one another" if count <= MAX_TOKENS else f"{MAX_TOKENS} words"
            raise ExpressionError(
                f"The expression has more than {what}.",
                code="expression_too_large",
                offset=position,
                hint="Split it into several steps.",
            )
        yield position, kind, text
        position += len(text)


class _Parser(Parser):
    """Jinja's expression parser over given tokens, with lambdas."""

    def __init__(self, tokens: list[Token]) -> None:
        self.stream = TokenStream(tokens, None, None)
        self.name = self.filename = None

    def parse_primary(self, with_namespace: bool = False) -> nodes.Expr:
        """A name, a literal, or a lambda."""
        token = self.stream.current
        if token.type != "name" or token.value != "lambda":
            return super().parse_primary(with_namespace)
        next(self.stream)
        names: list[nodes.Name] = []
        while self.stream.current.type != "colon":
            if names:
                self.stream.expect("comma")
            name = self.stream.expect("name")
            if name.value in WORDS or any(name.value == other.name for other in names):
                self.fail(f"{name.value!r} cannot be a parameter here", name.lineno)
            names.append(nodes.Name(name.value, "param", lineno=name.lineno))
        self.stream.expect("colon")
        body = self.parse_expression()
        return cast(nodes.Expr, nodes.Macro("lambda", names, [], [body], lineno=token.lineno))
