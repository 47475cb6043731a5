"""Renaming: a name in all sources, a file with everything that mentions it, and the check that nothing was missed."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import PurePosixPath

from skill import Asked, Work, skill
from workspace import CannotDo, Workspace

TEXT_FILES = (".py", ".html", ".js", ".css", ".md", ".json")


def renamed(path: str, text: str, old: str, new: str) -> str:
    """The text with a name replaced: by tokens in Python, so that parts of other names stay; elsewhere as a word."""
    if not path.endswith(".py"):
        return re.sub(rf"(?<![\w-]){re.escape(old)}(?![\w-])", new, text)
    lines = text.splitlines(keepends=True)
    found = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.string == old]
    for token in reversed(found):
        row, column = token.start
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return re.sub(rf"`{re.escape(old)}`", f"`{new}`", "".join(lines))


def sorted_imports(text: str) -> str:
    """The names of each one-line import in order again, after one of them changed."""

    def in_order(match: re.Match[str]) -> str:
        return match[1] + ", ".join(sorted(match[2].split(", "), key=lambda name: (name.islower(), name)))

    return re.sub(r"(?m)^(from app\.\w+ import )([\w, ]+)$", in_order, text)


def rename_name(work: Work, asked: list[Asked]) -> None:
    """Renames a name wherever it is used."""
    for each in asked:
        changed = []
        for path in work.workspace.changeable(*TEXT_FILES):
            before = work.workspace.read(path)
            after = renamed(path, before, each["old"], each["new"])
            if after != before:
                work.workspace.write(path, sorted_imports(after) if path.endswith(".py") else after)
                changed.append(path)
        if not changed and not mentions(work.workspace, each["new"]):
            raise CannotDo(f"no file in scope has the name {each['old']}")
        line = f"`{each['old']}` became `{each['new']}` in {len(changed)} files: {', '.join(changed)}."
        work.claim(each, line, f"that `{each['new']}` is the better name")


def rename_file(work: Work, asked: list[Asked]) -> None:
    """Moves a file and changes every mention of it."""
    for each in asked:
        old, new = each["old"], each["new"]
        if old in work.workspace.listed():
            if not work.workspace.may_change(old):
                raise CannotDo(f"{old} is outside the scope")
            work.workspace.write(new, work.workspace.read(old))
            (work.workspace.root / old).unlink()
        elif new not in work.workspace.listed():
            raise CannotDo(f"there is no file {old}")
        names = (PurePosixPath(old).name, PurePosixPath(new).name)
        changed = work.workspace.exchange(*names, *TEXT_FILES)
        line = f"{old} is now {new}; {', '.join(changed) or 'nothing else'} followed."
        work.claim(each, line, f"that every page still loads {new}")


def mentions(workspace: Workspace, word: str) -> list[str]:
    """The text files that have a word."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    return [path for path in workspace.listed(*TEXT_FILES) if pattern.search(workspace.read(path))]


def nothing_left(work: Work, asked: list[Asked]) -> None:
    """Searches all files, those outside the scope too, for what should be gone."""
    for each in asked:
        words = re.findall(r"`([^`]+)`", each.criterion.text)
        left = {word: mentions(work.workspace, word) for word in words}
        found = [f"{word} in {', '.join(paths)}" for word, paths in left.items() if paths]
        if found:
            raise CannotDo("still mentioned: " + "; ".join(found))
        count = len(work.workspace.listed(*TEXT_FILES))
        work.claim(each, f"A search of {count} files finds {' and '.join(words)} nowhere.")


SKILLS = [
    skill(r"^[Tt]he file `(?P<old>[\w./-]+)` is called `(?P<new>[\w./-]+)`", rename_file),
    skill(r"^`(?P<old>\w+)` is called `(?P<new>\w+)` everywhere", rename_name),
    skill(r"[Nn]o file mentions `", nothing_left),
]
