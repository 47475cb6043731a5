"""Hunks drawn as table rows, unified or split: coloured by language, with the changed words marked. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from reviews.desk.viewers.colours import Piece, lexer_for, pieces_of
from reviews.desk.viewers.marking import marks_of, pairs_of
from reviews.desk.viewers.patch import Hunk, Row
from reviews.desk.viewers.texts import cut, visible

UNIFIED, SPLIT = "unified", "split"
VIEWS = (UNIFIED, SPLIT)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row as it is drawn: its number, its id in the page, its text."""

    row: Row
    anchor: str
    html: SafeString


def portion(hunks: Sequence[Hunk], start: int, limit: int) -> tuple[list[Hunk], int]:
    """The hunks cut to ``limit`` rows from row ``start`` on, and how many rows there are in all."""
    found: list[Hunk] = []
    at = 0
    for hunk in hunks:
        first, last = max(start - at, 0), min(start + limit - at, len(hunk.rows))
        if first < last:
            found.append(replace(hunk, rows=hunk.rows[first:last], gap=0 if first else hunk.gap))
        at += len(hunk.rows)
    return found, at


def drawn(
    hunks: Sequence[Hunk], path: str, index: int, *, view: str = UNIFIED, show_all: str = ""
) -> SafeString:
    """The body of the diff's table for one file.

    Rows have the ids ``f<index>-n<line>`` and ``f<index>-o<line>``. ``show_all`` is the address
    under which the lines between the hunks are shown.
    """
    lexer = lexer_for(path, [row.text for hunk in hunks for row in hunk.rows])
    parts: list[SafeString] = []
    for hunk in hunks:
        parts.append(_head(hunk, 4 if view == SPLIT else 3, show_all))
        texts = {
            side: pieces_of([row.text for row in hunk.rows if row.kind != other], lexer)
            for side, other in (("del", "add"), ("add", "del"))
        }
        lines = list(_lines(hunk.rows, texts, index))
        parts.append(_split(lines) if view == SPLIT else _unified(lines))
    return format_html_join("", "{}", ((part,) for part in parts))


def _lines(rows: Sequence[Row], texts: dict[str, Iterator[list[Piece]]], index: int) -> Iterator[_Line]:
    marks = marks_of(rows)
    for position, row in enumerate(rows):
        old = next(texts["del"]) if row.kind != "add" else []
        new = next(texts["add"]) if row.kind != "del" else []
        anchor = f"f{index}-n{row.new}" if row.new is not None else f"f{index}-o{row.old}"
        yield _Line(row, anchor, _text(new or old, marks.get(position), row.has_no_end))


def _head(hunk: Hunk, columns: int, show_all: str) -> SafeString:
    """The row above a hunk: where it stands, and what is between it and the one before."""
    words: SafeString | str = ""
    if hunk.gap:
        count = f"{hunk.gap:,} unchanged line{'' if hunk.gap == 1 else 's'}"
        if hunk.can_show and show_all:
            words = format_html(' <a href="{}" data-load>{}: show the whole file</a>', show_all, count)
        elif not hunk.can_show:
            words = format_html(" <span>{} before this are not in the delivery</span>", count)
        else:
            words = format_html(" <span>{} folded</span>", count)
    title = format_html(" <span>{}</span>", visible(cut(hunk.title)[0])) if hunk.title else ""
    between = " ·" if title and words else ""
    blank = '<td class="ln"></td>'
    row = (
        f'<tr class="hunk">{blank}<td colspan="3">'
        if columns == 4
        else f'<tr class="hunk">{blank}{blank}<td>'
    )
    return format_html(row + "{}{}{}{}</td></tr>", hunk.header, title, between, words)


def _unified(lines: Sequence[_Line]) -> SafeString:
    return format_html_join(
        "",
        '<tr class="{}" id="{}"><td class="ln">{}</td><td class="ln">{}</td><td class="c">{}</td></tr>',
        (
            (
                "" if line.row.kind == "same" else line.row.kind,
                line.anchor,
                _number(line.row.old, line.anchor if line.row.new is None else ""),
                _number(line.row.new, line.anchor),
                line.html,
            )
            for line in lines
        ),
    )


def _split(lines: Sequence[_Line]) -> SafeString:
    """Old on the left, new on the right; the id of a pair is the one of its new line."""
    rows = []
    for old, new in pairs_of([line.row for line in lines]):
        left, right = lines[old] if old is not None else None, lines[new] if new is not None else None
        is_same = old == new
        named = right or left
        rows.append(
            (
                "both" if is_same else "",
                named.anchor if named else "",
                *_cells(left, "del", is_same, is_new=False),
                *_cells(right, "add", is_same, is_new=True),
            )
        )
    cell = '<td class="ln {}">{}</td><td class="c {}">{}</td>'
    return format_html_join("", '<tr class="{}" id="{}">' + cell + cell + "</tr>", rows)


def _cells(
    line: _Line | None, kind: str, is_same: bool, *, is_new: bool
) -> tuple[object, object, object, object]:
    """Number and code of one side: class and content of each."""
    if line is None:
        return "none", "", "none", ""
    number = line.row.new if is_new else line.row.old
    name = "" if is_same else kind
    return name, _number(number, line.anchor if is_new or not is_same else ""), name, line.html


def _number(number: int | None, anchor: str) -> SafeString | str:
    if number is None:
        return ""
    return format_html('<a href="#{}">{}</a>', anchor, number) if anchor else str(number)


def _text(pieces: Sequence[Piece], mark: tuple[int, int] | None, has_no_end: bool) -> SafeString:
    if mark is None and not has_no_end and len(pieces) == 1 and not pieces[0][0]:
        return visible(pieces[0][1])
    parts, at = [], 0
    for name, text in pieces:
        for is_marked, part in _parted(text, at, mark):
            html = visible(part)
            if name:
                html = format_html('<span class="{}">{}</span>', name, html)
            parts.append(format_html("<mark>{}</mark>", html) if is_marked else html)
        at += len(text)
    if has_no_end:
        parts.append(format_html('<span class="meta"> {}</span>', "no newline at the end"))
    return format_html_join("", "{}", ((part,) for part in parts))


def _parted(text: str, at: int, mark: tuple[int, int] | None) -> Iterator[tuple[bool, str]]:
    if mark is None:
        yield False, text
        return
    start, end = max(0, mark[0] - at), max(0, mark[1] - at)
    for is_marked, part in ((False, text[:start]), (True, text[start:end]), (False, text[max(start, end) :])):
        if part:
            yield is_marked, part
