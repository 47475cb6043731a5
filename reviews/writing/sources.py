"""A template's text as people type it: a form's changes written into it, its lists put in another order.

Promises: what was not changed stays as it is written, comments and unknown keys included; a text that
cannot be read is never written over. Anchors are refused before anything is built (claims.taskfile).
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import YAMLError
from ruamel.yaml.tokens import CommentToken

from claims.taskfile import Checked, check_template
from reviews.writing.fields import DECIDES, Place, decides, place_of, values_of, written

ORDER = (
    "title", "task", "pool", "nodeId", "dependsOn", "scope", "access", "acceptance", "evidence", "effects", "reviewer",
    "reviewerGroup", "reviewPolicy", "priority", "notBefore", "maxAttempts", "reclaim", "ttl",
)  # fmt: skip
"""Where a key that is new goes."""
PROOFS: dict[str, dict[str, Any]] = {
    "command": {"kind": "command", "run": ""},
    "screenshot": {"kind": "screenshot", "page": "", "widths": [390, 1280]},
    "file": {"kind": "file", "path": ""},
}
"""What a criterion can be proved with, by one button: the evidence that is then asked for."""
NEW = {
    "acceptance": {"text": ""},
    "evidence": {"kind": ""},
    "effects": {"slot": "", "mode": "QUERYABLE", "target": ""},
}
MOST_ROWS = 200


@lru_cache(maxsize=32)
def read(source: str) -> Checked:
    """What a text says, and what is wrong with it. Kept, because what was typed before is asked for again."""
    return check_template(source)


class Unreadable(ValueError):
    """The text cannot be read as a mapping, so nothing can be written into it."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A text with the form's changes in it. ``pending`` holds the form's fields where they could not be written."""

    text: str
    base: str
    pending: Mapping[str, str] = field(default_factory=dict)


def merged(base: str, source: str, form: Mapping[str, str]) -> Merged:
    """The typed text with what was changed in the form since ``base``, the text both last agreed on.

    Where the text cannot be read now, both sides stay as they were typed.
    """
    before = read(base).body
    known = values_of(before) if before is not None else {}
    changes = {name: value for name, value in form.items() if _lines(value) != _lines(known.get(name, ""))}
    if not changes:
        return Merged(source, source if read(source).body is not None else base)
    try:
        text = changed(source, changes)
    except Unreadable:
        return Merged(source, base, dict(form))
    return Merged(text, text)


def changed(source: str, changes: Mapping[str, str]) -> str:
    """The text with some fields of the form set. Raises ``Unreadable``."""
    document = _loaded(source)
    for name in sorted(changes, key=lambda name: not name.endswith("lookup.kind")):
        place = place_of(name)
        if name == DECIDES:
            for key, word in decides(changes[name]).items():
                _set(document, Place((key,), "line"), word or "")
        elif place is not None:
            _set(document, place, _lines(changes[name]))
    return _dumped(document)


def edited(source: str, edit: str) -> tuple[str, str]:
    """The text after one press of a button of the form, and the name of the field that is then typed in.

    ``acceptance:add``, ``acceptance:up:2``, ``down``, ``remove``; ``prove:command:2`` asks for a command that
    proves the second criterion. What is none of these changes nothing. Raises ``Unreadable``.
    """
    what, _, rest = edit.partition(":")
    how, _, number = rest.partition(":")
    document = _loaded(source)
    at = int(number) - 1 if number.isascii() and number.isdigit() and len(number) < 4 else -1
    if what == "prove" and how in PROOFS:
        field_name = _prove(document, how, at)
    elif what == "scope" and how in ("files", "excluded") and number:
        globs = values_of(document)[how].split("\n")
        _set(
            document,
            Place(("scope", how), "lines"),
            "\n".join([*(glob for glob in globs if glob != number), number]),
        )
        field_name = how
    elif what in NEW:
        field_name = _arrange(document, what, how, at)
    else:
        return source, ""
    return _dumped(document), field_name


def _prove(document: CommentedMap, how: str, at: int) -> str:
    rows = _list(document, "evidence")
    row = CommentedMap(PROOFS[how] | {"criteria": [at + 1]})
    for key in ("widths", "criteria"):
        if key in row:
            row[key] = written("numbers", " ".join(map(str, row[key])))
    tail = _without_tail(rows)
    rows.append(row)
    _with_tail(document, "evidence", tail)
    asked = next(key for key in ("run", "page", "path") if key in row)
    return f"evidence-{len(rows)}-{asked}"


def _arrange(document: CommentedMap, what: str, how: str, at: int) -> str:
    rows = _list(document, what)
    first = next(iter(NEW[what]))
    tail = _without_tail(rows)
    if how == "add" and len(rows) < MOST_ROWS:
        rows.append(CommentedMap(NEW[what]))
        _with_tail(document, what, tail)
        return f"{what}-{len(rows)}-{first}"
    order = list(range(len(rows)))
    to = {"up": at - 1, "down": at + 1, "remove": at}.get(how, -1)
    if at in order and how == "remove":
        order.pop(at)
    elif at in order and to in order:
        order.insert(to, order.pop(at))
    _reorder(rows, order)
    if what == "acceptance":
        _follow(document, {old + 1: new + 1 for new, old in enumerate(order)})
    _with_tail(document, what, tail)
    return f"{what}-{min(max(to, 0), len(rows) - 1) + 1}-{first}" if rows else ""


def _last(rows: CommentedSeq) -> tuple[Any, Any, int]:
    """What holds the last value of a list, its key there, and where ruamel keeps the comment behind it."""
    at: Any = rows
    key: Any = len(rows) - 1
    slot = 0
    while isinstance(inner := at[key], CommentedMap | CommentedSeq) and inner:
        is_map = isinstance(inner, CommentedMap)
        at, key, slot = inner, list(inner)[-1] if is_map else len(inner) - 1, 2 if is_map else 0
    return at, key, slot


def _without_tail(rows: CommentedSeq) -> CommentToken | None:
    """Take away the comment below a list: it is about what comes next, and stays there."""
    if not rows:
        return None
    at, key, slot = _last(rows)
    held = at.ca.items.get(key)
    token = held[slot] if held else None
    if token is None or "\n" not in token.value.rstrip("\n"):
        return None
    beside, _, below = token.value.partition("\n")
    held[slot] = CommentToken(f"{beside}\n", token.start_mark, None) if beside else None
    return CommentToken(f"\n{below}", token.start_mark, None)


def _end_of(rows: CommentedSeq) -> CommentToken | None:
    """The comment below a list whose last value is written in one line: ruamel keeps it apart."""
    end = rows.ca.end
    return (
        CommentToken("\n" + "".join(token.value for token in end), end[0].start_mark, None) if end else None
    )


def _with_tail(document: CommentedMap, what: str, tail: CommentToken | None) -> None:
    """Put it below the list again."""
    rows = document[what]
    if not rows:
        rows.fa.set_flow_style()
        tail = tail or _end_of(rows)
    if tail is None:
        return
    at, key, slot = _last(rows) if rows else (document, what, 2)
    held = at.ca.items.setdefault(key, [None, None, None, None] if slot == 2 else [None, None])
    if held[slot] is not None:
        tail = CommentToken(held[slot].value.rstrip("\n") + tail.value, held[slot].start_mark, None)
    held[slot] = tail


def _reorder(rows: CommentedSeq, order: list[int]) -> None:
    """The rows in another order, without those left out; the comments of each go with it."""
    held = [rows[at] for at in order]
    comments = {new: rows.ca.items[old] for new, old in enumerate(order) if old in rows.ca.items}
    del rows[:]
    rows.extend(held)
    rows.ca.items.clear()
    rows.ca.items.update(comments)


def _follow(document: CommentedMap, moved: Mapping[int, int]) -> None:
    """Evidence goes on naming the criteria it named: by their new numbers, without those that are gone."""
    evidence = document.get("evidence")
    for row in evidence if isinstance(evidence, list) else ():
        named = row.get("criteria") if isinstance(row, dict) else None
        if not isinstance(named, list):
            continue
        now = [
            moved.get(number, number) for number in named if not isinstance(number, int) or number in moved
        ]
        if now:
            named[:] = now
        else:
            del row["criteria"]


def _list(document: CommentedMap, name: str) -> CommentedSeq:
    """The list under a key, made where there is none. Raises ``Unreadable`` where something else is there."""
    found = document.get(name)
    if not found and not isinstance(found, CommentedSeq):
        found = CommentedSeq()
        _put(document, name, found)
    if not isinstance(found, CommentedSeq):
        raise Unreadable(f"{name} is no list")
    if not found:
        found.fa.set_block_style()
    return found


def _set(document: CommentedMap, place: Place, text: str) -> None:
    value = written(place.kind, text)
    at: Any = document
    for step, after in zip(place.path, place.path[1:], strict=False):
        at = _step(at, step, after, is_needed=value is not None)
        if at is None:
            return
    last = place.path[-1]
    if not isinstance(at, CommentedMap):
        raise Unreadable(f"{place.path[0]} is written in another way")
    if place.path[-2:] == ("lookup", "kind"):
        _new_kind(at, value)
    elif value is not None:
        _put(at, str(last), value)
    elif last in at:
        _take_away(document, at, place, str(last))


def _step(at: Any, step: str | int, after: str | int, *, is_needed: bool) -> Any:
    """One step down the path; what is missing is made where a value is to be put there."""
    if isinstance(step, int):
        if not isinstance(at, CommentedSeq):
            raise Unreadable("a list is written in another way")
        while len(at) <= step and is_needed:
            at.append(CommentedMap())
        return at[step] if len(at) > step else None
    if not isinstance(at, CommentedMap):
        raise Unreadable(f"what holds {step} is written in another way")
    if at.get(step) is None:
        if not is_needed:
            return None
        _put(at, step, CommentedSeq() if isinstance(after, int) else CommentedMap())
    return at[step]


def _new_kind(lookup: CommentedMap, kind: Any) -> None:
    """Another kind of look-up has other fields; what both have stays."""
    for key in [key for key in lookup if key not in ("authoritative", "timeoutSeconds")]:
        del lookup[key]
    if kind is not None:
        lookup.insert(0, "kind", kind)


def _take_away(document: CommentedMap, at: CommentedMap, place: Place, last: str) -> None:
    """An emptied field leaves the text; what a row must have stays as an empty one, which the check tells."""
    if last in NEW.get(str(place.path[0]), {}):
        at[last] = ""
    elif place.kind == "lines":
        at[last] = CommentedSeq()
        at[last].fa.set_flow_style()
    else:
        del at[last]


def _put(at: CommentedMap, key: str, value: Any) -> None:
    if key in at or key not in ORDER:
        at[key] = value
        return
    before = [
        place for place, known in enumerate(at) if known in ORDER and ORDER.index(known) < ORDER.index(key)
    ]
    at.insert(max(before, default=-1) + 1, key, value)


def _loaded(source: str) -> CommentedMap:
    if not source.strip():
        return CommentedMap()
    checked = read(source)
    if checked.body is None and not _is_comment(source):
        raise Unreadable(str(checked.flaws[0]))
    try:
        document = _yaml().load(source)
    except (YAMLError, ValueError, RecursionError) as error:
        raise Unreadable(str(error)) from error
    return CommentedMap() if document is None else document


def _is_comment(source: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in source.splitlines())


def _dumped(document: CommentedMap) -> str:
    out = io.StringIO()
    _yaml().dump(document, out)
    return out.getvalue() if document else ""


def _yaml() -> YAML:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 100
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _lines(text: str) -> str:
    """Browsers send CRLF, and PostgreSQL keeps no NUL."""
    return text.replace("\r\n", "\n").replace("\x00", "")
