"""Task templates in YAML (claim.v1 section 9), with the place of everything that is wrong.

Promises: what ``load_template`` returns is a task ``create`` can take; every flaw is told at
once, each with line and column, and an unknown key with the nearest known one. Anchors and
aliases are refused before anything is built, so that a small file cannot become a large one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, DocumentStartEvent, NodeEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from claims.inputs import NAME, TASK_NUMBER, InputInvalid, NewTask, parse_input
from claims.vocabulary import ReclaimPolicy, ReviewPolicy

Word = TypeVar("Word", ReviewPolicy, ReclaimPolicy)

MOST_BYTES = 256 * 1024
DEEPEST = 24
LONGEST_TITLE = 300

_INPUT_KEYS = ("task", "scope", "access", "acceptance", "evidence", "effects")
_OTHER_KEYS = (
    "title", "pool", "nodeId", "reviewer", "reviewerGroup", "reviewPolicy", "dependsOn", "priority", "maxAttempts", "reclaim", "ttl", "notBefore",
)  # fmt: skip
_KEYS_WITHIN = {
    "": _INPUT_KEYS + _OTHER_KEYS,
    "/scope": ("files", "excluded"),
    "/acceptance/*": ("text", "proof"),
    "/effects/*": (
        "slot",
        "mode",
        "target",
        "serialKey",
        "lookup",
        "required",
        "permitSeconds",
        "settleSeconds",
    ),
    "/evidence/*": ("kind", "name", "run", "path", "page", "widths", "criteria"),
}


@dataclass(frozen=True, slots=True)
class PlacedFlaw:
    """One thing wrong with a template. ``line`` and ``column`` count from 1."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


class TemplateInvalid(ValueError):
    """The text is no task template; ``flaws`` holds everything that is wrong with it."""

    def __init__(self, flaws: list[PlacedFlaw]) -> None:
        super().__init__("; ".join(map(str, flaws)))
        self.flaws = sorted(flaws, key=lambda flaw: (flaw.line, flaw.column))


@dataclass(frozen=True, slots=True)
class Template:
    """The pool a template names (empty when it names none) and the task it describes."""

    pool: str
    task: NewTask


@dataclass(frozen=True, slots=True)
class Checked:
    """A text as far as it can be read.

    ``body`` holds the known keys as they are written, None where the text is no mapping; ``places`` the line
    and column of each under its JSON pointer; ``template`` is there when nothing is wrong.
    """

    body: dict[str, Any] | None
    flaws: tuple[PlacedFlaw, ...]
    places: Mapping[str, tuple[int, int]]
    template: Template | None

    def place(self, pointer: str) -> tuple[int, int]:
        """Line and column of a JSON pointer, or of the nearest thing around it that is in the text."""
        while pointer not in self.places and pointer:
            pointer = pointer.rpartition("/")[0]
        return self.places.get(pointer, (1, 1))


def load_template(text: str) -> Template:
    """The task in a YAML document.

    Raises ``TemplateInvalid`` with every flaw at once.
    """
    checked = check_template(text)
    if checked.template is None:
        raise TemplateInvalid(list(checked.flaws))
    return checked.template


def check_template(text: str) -> Checked:
    """What a YAML document says, and everything that is wrong with it as a task."""
    try:
        document = _Document(_composed(text))
    except TemplateInvalid as invalid:
        return Checked(None, tuple(invalid.flaws), {}, None)
    body = document.body
    if not isinstance(body, dict):
        flaw = PlacedFlaw(1, 1, "a template is a mapping of keys to values")
        return Checked(None, (flaw,), document.places, None)
    flaws = document.flaws
    specification = {name: body[name] for name in _INPUT_KEYS if name in body}
    try:
        parse_input(specification)
    except InputInvalid as invalid:
        flaws += [
            document.placed(flaw.pointer, flaw.message)
            for flaw in invalid.flaws
            if not _is_told(flaw.message)
        ]
    attributes = _Attributes(document)
    task = attributes.task(specification)
    flaws = sorted(flaws + attributes.flaws, key=lambda flaw: (flaw.line, flaw.column))
    return Checked(
        body, tuple(flaws), document.places, None if flaws else Template(body.get("pool") or "", task)
    )


def _is_told(message: str) -> bool:
    """Unknown keys are told by the document, with the nearest known one."""
    return message == "Extra inputs are not permitted"


def _composed(text: str) -> Node:
    """The document's nodes. Refuses what is too large, more than one document, anchors and aliases."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise TemplateInvalid([PlacedFlaw(1, 1, f"a template has at most {MOST_BYTES} bytes")])
    try:
        _refuse_aliases(YAML(typ="safe", pure=True).parse(text))
        node = YAML(typ="safe", pure=True).compose(text)
    except TemplateInvalid:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        said = str(error.problem or error.context or "this is not YAML")
        raise TemplateInvalid([PlacedFlaw(line, column, said)]) from error
    except (YAMLError, RecursionError, ValueError) as error:
        said = (str(error).splitlines() or ["unreadable"])[0]
        raise TemplateInvalid([PlacedFlaw(1, 1, f"this is not YAML: {said}")]) from error
    if node is None:
        raise TemplateInvalid([PlacedFlaw(1, 1, "the template is empty")])
    return cast(Node, node)


def _refuse_aliases(events: Iterable[Any]) -> None:
    documents = depth = 0
    for event in events:
        name = type(event).__name__
        depth += name in ("MappingStartEvent", "SequenceStartEvent")
        depth -= name in ("MappingEndEvent", "SequenceEndEvent")
        documents += isinstance(event, DocumentStartEvent)
        mark = event.start_mark
        if isinstance(event, AliasEvent) or (isinstance(event, NodeEvent) and event.anchor):
            raise TemplateInvalid(
                [
                    PlacedFlaw(
                        mark.line + 1,
                        mark.column + 1,
                        "anchors and aliases are not read; write the value out",
                    )
                ]
            )
        if depth > DEEPEST:
            raise TemplateInvalid(
                [PlacedFlaw(mark.line + 1, mark.column + 1, f"nested deeper than {DEEPEST}")]
            )
        if documents > 1:
            raise TemplateInvalid([PlacedFlaw(mark.line + 1, mark.column + 1, "a template is one document")])


class _Document:
    """Plain values built from nodes, and the place of each under its JSON pointer."""

    def __init__(self, root: Node) -> None:
        self.places: dict[str, tuple[int, int]] = {}
        self.flaws: list[PlacedFlaw] = []
        self.body = self._value(root, "", "")

    def placed(self, pointer: str, message: str) -> PlacedFlaw:
        """A flaw at the nearest place that is in the text."""
        at = "" if pointer == "/" else pointer
        missing = ""
        while at not in self.places:
            at, _, last = at.rpartition("/")
            missing = last
        line, column = self.places[at]
        named = pointer.strip("/").replace("/", ".")
        if message == "Field required":
            message = f"{missing or named} is missing"
        elif named:
            message = f"{named}: {message}"
        return PlacedFlaw(line, column, message)

    def flaw(self, node: Node, message: str) -> None:
        self.flaws.append(PlacedFlaw(node.start_mark.line + 1, node.start_mark.column + 1, message))

    def _value(self, node: Node, pointer: str, shape: str) -> Any:
        self.places[pointer] = (node.start_mark.line + 1, node.start_mark.column + 1)
        if isinstance(node, MappingNode):
            return self._mapping(node, pointer, shape)
        if isinstance(node, SequenceNode):
            return [
                self._value(part, f"{pointer}/{place}", f"{shape}/*") for place, part in enumerate(node.value)
            ]
        return self._scalar(cast(ScalarNode, node))

    def _mapping(self, node: MappingNode, pointer: str, shape: str) -> dict[str, Any]:
        known, body = _KEYS_WITHIN.get(shape), {}
        for key_node, value_node in node.value:
            key = str(key_node.value) if isinstance(key_node, ScalarNode) else ""
            if not key:
                self.flaw(key_node, "a key is a word")
                continue
            if known and key not in known:
                near = difflib.get_close_matches(key, known, 1, 0.6)
                self.flaw(key_node, f"there is no key {key}" + (f"; did you mean {near[0]}?" if near else ""))
                continue
            if key in body:
                self.flaw(key_node, f"the key {key} is there twice")
                continue
            body[key] = self._value(value_node, f"{pointer}/{key}", f"{shape}/{key}")
        return body

    def _scalar(self, node: ScalarNode) -> Any:
        """Null, truth values and whole numbers as such; everything else is text as it is written."""
        tag, text = str(node.tag), str(node.value)
        if tag.endswith(":null"):
            return None
        if tag.endswith(":bool"):
            return text.lower() in ("true", "yes", "on")
        if (
            tag.endswith(":int")
            and text.lstrip("+-").isascii()
            and text.lstrip("+-").isdigit()
            and len(text) < 19
        ):
            return int(text)
        if not tag.endswith((":str", ":int", ":float", ":timestamp")):
            self.flaw(node, f"values of the kind {tag} are not read")
        return text


class _Attributes:
    """The scheduling attributes of a template; what is wrong with them is gathered."""

    def __init__(self, document: _Document) -> None:
        self.document, self.body = document, document.body
        self.flaws: list[PlacedFlaw] = []

    def task(self, specification: dict[str, Any]) -> NewTask:
        pool = self._text("pool")
        if pool is not None and NAME.fullmatch(pool) is None:
            self._wrong("pool", "must be the name of a pool")
        said = str(specification.get("task") or "").strip()
        return NewTask(
            title=(self._text("title") or said.partition("\n")[0].partition(". ")[0])[:LONGEST_TITLE],
            input=specification,
            node_id=self._text("nodeId") or "",
            priority=self._whole("priority", 0, 9, 2) or 0,
            not_before=self._moment("notBefore"),
            max_attempts=self._whole("maxAttempts", 1, 100, None),
            review_policy=self._word("reviewPolicy", ReviewPolicy) or ReviewPolicy.REVIEW,
            reviewer=self._text("reviewer"),
            reviewer_group=self._text("reviewerGroup"),
            reclaim_policy=self._word("reclaim", ReclaimPolicy),
            ttl_seconds=self._whole("ttl", 1, 86_400, None),
            depends_on=self._names("dependsOn"),
        )

    def _wrong(self, key: str, message: str) -> None:
        self.flaws.append(self.document.placed(f"/{key}", message))

    def _text(self, key: str) -> str | None:
        value = self.body.get(key)
        if value is not None and not isinstance(value, str):
            self._wrong(key, "must be text")
            return None
        return value

    def _whole(self, key: str, least: int, most: int, default: int | None) -> int | None:
        value = self.body.get(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self._wrong(key, f"must be a whole number from {least} to {most}")
            return default
        return value

    def _word(self, key: str, words: type[Word]) -> Word | None:
        value = self.body.get(key)
        if value is None:
            return None
        if value not in set(words):
            self._wrong(key, f"must be one of {', '.join(words)}")
            return None
        return words(value)

    def _names(self, key: str) -> tuple[str, ...]:
        value = self.body.get(key) or []
        if not isinstance(value, list) or not all(
            isinstance(name, str) and (NAME.fullmatch(name) or TASK_NUMBER.fullmatch(name)) for name in value
        ):
            self._wrong(key, "must be a list of node ids, or of tasks such as T-1042")
            return ()
        return tuple(value)

    def _moment(self, key: str) -> datetime | None:
        value = self._text(key)
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self._wrong(key, "must be a time with its zone, such as 2026-11-30T09:00:00Z")
            return None
        return moment
