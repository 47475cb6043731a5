"""Hunks drawn as table rows: coloured by language, with the changed words marked. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Token, _TokenType
from pygments.util import ClassNotFound

from reviews.desk.viewers.patch import Hunk, Row
from reviews.desk.viewers.texts import LINE_LIMIT, cut, visible

Piece = tuple[str, str]
"""A class of the page (empty for none) and a stretch of text."""

_CLASSES: tuple[tuple[_TokenType, str], ...] = (
    (Token.Comment, "cm"),
    (Token.Keyword, "k"),
    (Token.Operator.Word, "k"),
    (Token.Literal.String, "s"),
    (Token.Name.Function, "nf"),
    (Token.Name.Class, "nf"),
    (Token.Name.Tag, "nf"),
    (Token.Name.Decorator, "nf"),
)
COLOUR_LIMIT = 150_000
"""Characters of a file that are coloured; more is drawn plain."""


def drawn(hunks: Sequence[Hunk], path: str, index: int) -> SafeString:
    """The body of the diff's table for one file. Rows have the ids ``f<index>-n<line>`` and ``f<index>-o<line>``."""
    lexer = _lexer(path, hunks)
    parts = [_hunk(hunk, lexer, index) for hunk in hunks]
    return format_html_join("", "{}", ((part,) for part in parts))


def _lexer(path: str, hunks: Sequence[Hunk]) -> Lexer | None:
    if sum(len(row.text) for hunk in hunks for row in hunk.rows) > COLOUR_LIMIT:
        return None
    try:
        return get_lexer_for_filename(path.rsplit("/", 1)[-1], stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _hunk(hunk: Hunk, lexer: Lexer | None, index: int) -> SafeString:
    title = format_html(" <span>{}</span>", visible(cut(hunk.title)[0])) if hunk.title else ""
    head = format_html(
        '<tr class="hunk"><td class="ln"></td><td class="ln"></td><td>{}{}</td></tr>', hunk.header, title
    )
    old = _coloured([row for row in hunk.rows if row.kind != "add"], lexer)
    new = _coloured([row for row in hunk.rows if row.kind != "del"], lexer)
    marks = _marks(hunk.rows)
    rows = []
    for position, row in enumerate(hunk.rows):
        pieces = next(old) if row.kind != "add" else None
        fresh = next(new) if row.kind != "del" else None
        rows.append(_row(row, fresh or pieces or [], marks.get(position), index))
    return format_html("{}{}", head, format_html_join("", "{}", ((row,) for row in rows)))


def _row(row: Row, pieces: Sequence[Piece], mark: tuple[int, int] | None, index: int) -> SafeString:
    anchor = f"f{index}-n{row.new}" if row.new is not None else f"f{index}-o{row.old}"
    old, new = _number(row.old, anchor, row.new is None), _number(row.new, anchor, True)
    end = format_html('<span class="meta"> no newline at the end</span>') if row.has_no_end else ""
    kind = "" if row.kind == "same" else row.kind
    return format_html(
        '<tr class="{}" id="{}"><td class="ln">{}</td><td class="ln">{}</td><td class="c">{}{}</td></tr>',
        kind, anchor, old, new, _text(pieces, mark), end,
    )  # fmt: skip


def _number(number: int | None, anchor: str, is_link: bool) -> SafeString | str:
    if number is None:
        return ""
    return format_html('<a href="#{}">{}</a>', anchor, number) if is_link else str(number)


def _text(pieces: Sequence[Piece], mark: tuple[int, int] | None) -> SafeString:
    drawn_pieces, at = [], 0
    for name, text in pieces:
        for is_marked, part in _split(text, at, mark):
            html = visible(part)
            if name:
                html = format_html('<span class="{}">{}</span>', name, html)
            drawn_pieces.append(format_html("<mark>{}</mark>", html) if is_marked else html)
        at += len(text)
    return format_html_join("", "{}", ((piece,) for piece in drawn_pieces))


def _split(text: str, at: int, mark: tuple[int, int] | None) -> Iterator[tuple[bool, str]]:
    if mark is None:
        yield False, text
        return
    start, end = max(0, mark[0] - at), max(0, mark[1] - at)
    for is_marked, part in ((False, text[:start]), (True, text[start:end]), (False, text[max(start, end) :])):
        if part:
            yield is_marked, part


def _coloured(rows: Sequence[Row], lexer: Lexer | None) -> Iterator[list[Piece]]:
    """The pieces of each row's text, cut to what a page shows."""
    texts = [cut(row.text)[0] for row in rows]
    rests = [cut(row.text)[1] for row in rows]
    lines = _lexed("\n".join(texts), lexer) if lexer else [[("", text)] for text in texts]
    for pieces, rest, text in zip(lines, rests, texts, strict=False):
        whole = pieces if "".join(part for _, part in pieces) == text else [("", text)]
        yield [*whole, ("ad", f" … {rest:,} more characters")] if rest else whole


def _lexed(text: str, lexer: Lexer) -> list[list[Piece]]:
    lines: list[list[Piece]] = [[]]
    for kind, value in lexer.get_tokens(text):
        name = next((name for known, name in _CLASSES if _is_of(kind, known)), "")
        parts = value.split("\n")
        for position, part in enumerate(parts):
            if position:
                lines.append([])
            if part:
                lines[-1].append((name, part))
    return lines + [[] for _ in range(text.count("\n") + 1 - len(lines))]


def _is_of(kind: _TokenType, known: _TokenType) -> bool:
    """Whether a kind of token is ``known`` or below it: kinds are tuples of names from the root."""
    return tuple(kind[: len(known)]) == tuple(known)


def _marks(rows: Sequence[Row]) -> dict[int, tuple[int, int]]:
    """Where lines that replace each other differ: runs of as many removed as added lines, pair by pair."""
    found: dict[int, tuple[int, int]] = {}
    at = 0
    while at < len(rows):
        removed = _run(rows, at, "del")
        added = _run(rows, at + removed, "add")
        if removed and removed == added:
            for offset in range(removed):
                found.update(_pair(rows, at + offset, at + removed + offset))
        at += max(1, removed + added)
    return found


def _run(rows: Sequence[Row], at: int, kind: str) -> int:
    count = 0
    while at + count < len(rows) and rows[at + count].kind == kind:
        count += 1
    return count


def _pair(rows: Sequence[Row], before: int, after: int) -> dict[int, tuple[int, int]]:
    old, new = rows[before].text, rows[after].text
    if max(len(old), len(new)) > LINE_LIMIT:
        return {}
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    kept = start + end
    if kept == 0 or kept < max(len(old.strip()), len(new.strip())) // 3:
        return {}
    return {before: (start, len(old) - end), after: (start, len(new) - end)}
