"""A small template language: {{ value|filter }}, {% if %}, {% else %}, {% for %}, {% include %}, {% end %}.

Every value is escaped. A name is looked up in the values given, then by its dots in mappings and attributes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"
TOKEN = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)

Values = dict[str, Any]
Node = Callable[[Values], str]


class TemplateError(ValueError):
    """A template that cannot be read; the message names the tag."""


def look_up(name: str, values: Values) -> Any:
    """The value of a dotted name; an unknown name is an error, not an empty text."""
    first, *rest = name.split(".")
    if first not in values:
        raise TemplateError(f"unknown name {name}")
    found = values[first]
    for part in rest:
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    return found


def value_node(expression: str, filters: dict[str, Callable[..., str]]) -> Node:
    """{{ name }} or {{ name|filter }} or {{ name|filter:other }}."""
    name, _, rest = expression.partition("|")
    chosen, _, other = rest.partition(":")

    def show(values: Values) -> str:
        found = look_up(name.strip(), values)
        if chosen:
            extra = [look_up(other.strip(), values)] if other else []
            found = filters[chosen.strip()](found, *extra)
        return html.escape(str(found))

    return show


class Template:
    """A template read once: rendering it is a walk over its nodes."""

    def __init__(self, text: str, filters: dict[str, Callable[..., str]]) -> None:
        self.filters = filters
        tokens = iter(TOKEN.split(text))
        self.nodes, ended_by = self.read(tokens)
        if ended_by:
            raise TemplateError(f"{ended_by} without its beginning")

    def render(self, values: Values) -> str:
        return "".join(node(values) for node in self.nodes)

    def read(self, tokens: Iterator[str]) -> tuple[list[Node], str]:
        """The nodes up to an else or end, and which of them it was."""
        nodes: list[Node] = []
        for token in tokens:
            if token.startswith("{{"):
                nodes.append(value_node(token[2:-2].strip(), self.filters))
            elif token.startswith("{%"):
                words = token[2:-2].split()
                if words[0] in ("else", "end"):
                    return nodes, words[0]
                nodes.append(self.block(words, tokens))
            else:
                nodes.append(lambda values, text=token: text)
        return nodes, ""

    def block(self, words: list[str], tokens: Iterator[str]) -> Node:
        if words[0] == "include":
            return lambda values: Template(read_template(words[1].strip('"')), self.filters).render(values)
        if words[0] == "if":
            return self.if_block(words[1:], tokens)
        if words[0] == "for":
            return self.for_block(words[1], words[3], tokens)
        raise TemplateError(f"unknown tag {words[0]}")

    def if_block(self, words: list[str], tokens: Iterator[str]) -> Node:
        negated, name = words[0] == "not", words[-1]
        then, ended_by = self.read(tokens)
        otherwise = self.read(tokens)[0] if ended_by == "else" else []

        def choose(values: Values) -> str:
            chosen = then if bool(look_up(name, values)) is not negated else otherwise
            return "".join(node(values) for node in chosen)

        return choose

    def for_block(self, item: str, name: str, tokens: Iterator[str]) -> Node:
        body, _ = self.read(tokens)

        def repeat(values: Values) -> str:
            rows = ({**values, item: row} for row in look_up(name, values))
            return "".join(node(row) for row in rows for node in body)

        return repeat


def read_template(name: str) -> str:
    """The text of one file of templates/."""
    return (TEMPLATES / name).read_text(encoding="utf-8")
