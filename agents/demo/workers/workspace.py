"""The files of a workspace: what is there, what may be changed, and tests that are added to it."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from wording import test_name


class CannotDo(Exception):
    """The files do not have what a criterion speaks of; the message says what was looked for."""


def glob_matches(pattern: str, path: str) -> bool:
    """Whether a path is meant by a glob: ** crosses folders, * and ? do not."""
    regex = ""
    for part in re.split(r"(\*\*/?|\*|\?)", pattern):
        regex += {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(part, re.escape(part))
    return re.fullmatch(regex, path) is not None


class Workspace:
    """A folder of text files. Paths are relative to it, with forward slashes."""

    def __init__(self, root: Path, files: tuple[str, ...] = ("**",), excluded: tuple[str, ...] = ()) -> None:
        self.root = root
        self.files = files
        self.excluded = excluded
        self.found: dict[str, str] = {}

    def may_change(self, path: str) -> bool:
        """In scope, and not excluded."""
        inside = any(glob_matches(each, path) for each in self.files)
        return inside and not any(glob_matches(each, path) for each in self.excluded)

    def listed(self, *suffixes: str) -> list[str]:
        """The files that git knows or would take, in order; everything where there is no git."""
        git = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        found = subprocess.run(git, cwd=self.root, capture_output=True, text=True, check=False)
        if found.returncode:
            paths = [str(path.relative_to(self.root)) for path in self.root.rglob("*") if path.is_file()]
        else:
            paths = found.stdout.splitlines()
        there = (
            path for path in set(paths) if path.endswith(suffixes or ("",)) and (self.root / path).is_file()
        )
        return sorted(there)

    def changeable(self, *suffixes: str) -> list[str]:
        """The files in scope."""
        return [path for path in self.listed(*suffixes) if self.may_change(path)]

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def write(self, path: str, text: str) -> None:
        """Writes a file in scope. Raises CannotDo outside it: an agent does not widen its own task."""
        if not self.may_change(path):
            raise CannotDo(f"{path} is outside the scope")
        target = self.root / path
        self.found.setdefault(path, target.read_text(encoding="utf-8") if target.exists() else "")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def is_changed(self) -> bool:
        """Whether this run left any file other than it found it."""
        return any(
            not (self.root / path).exists() or self.read(path) != text for path, text in self.found.items()
        )

    def at_base(self, path: str) -> str:
        """The text of a file as it was committed last."""
        shown = subprocess.run(
            ["git", "show", f"HEAD:{path}"], cwd=self.root, capture_output=True, text=True, check=False
        )
        return shown.stdout if shown.returncode == 0 else self.read(path)

    def first(self, pattern: str, *suffixes: str) -> tuple[str, re.Match[str]]:
        """The first file in scope, and where in it, that has the pattern. Raises CannotDo."""
        for path in self.changeable(*suffixes):
            if match := re.search(pattern, self.read(path)):
                return path, match
        raise CannotDo(f"no file in scope has {pattern}")

    def exchange(self, old: str, new: str, *suffixes: str) -> list[str]:
        """Replaces a text in every file in scope, and says in which."""
        changed = []
        for path in self.changeable(*suffixes):
            text = self.read(path)
            if old in text:
                self.write(path, text.replace(old, new))
                changed.append(path)
        return changed

    def functions(self) -> Iterator[tuple[str, ast.FunctionDef]]:
        """Every function of the Python files in scope, tests left out."""
        for path in self.changeable(".py"):
            if not Path(path).name.startswith("test_"):
                for node in ast.walk(ast.parse(self.read(path))):
                    if isinstance(node, ast.FunctionDef):
                        yield path, node

    def replace_lines(self, path: str, node: ast.stmt, text: str) -> None:
        """Puts a text in place of a statement's lines."""
        lines = self.read(path).splitlines(keepends=True)
        assert node.end_lineno is not None
        self.write(
            path, "".join([*lines[: node.lineno - 1], text.rstrip("\n") + "\n", *lines[node.end_lineno :]])
        )


def insert_import(text: str, statement: str) -> str:
    """The source with one more import, beside the first import that it sorts after."""
    if statement in text.splitlines():
        return text
    tree = ast.parse(text)
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    lines = text.splitlines(keepends=True)
    standard = [node for node in imports if not is_own(node)]
    place = standard[-1] if standard else imports[0] if imports else tree.body[0]
    assert place.end_lineno is not None
    lines.insert(place.end_lineno, statement + "\n")
    return "".join(lines)


def is_own(node: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import is of the repository's own package."""
    return isinstance(node, ast.ImportFrom) and (node.module or "").startswith("app")


def add_test(workspace: Workspace, uses: str, sentence: str, body: list[str], beginning: str = "") -> None:
    """Adds a test, named after its criterion, to the test file that imports what it uses; again replaces it.

    Where no test file imports it, one is made from `beginning` (docstring and imports), named after its docstring.
    """
    name = test_name(sentence)
    wanted = re.compile(rf"^(?:from|import) .*\b{re.escape(uses)}\b", re.MULTILINE)
    tests = [path for path in workspace.listed(".py") if Path(path).name.startswith("test_")]
    holding = [each for each in tests if f"def {name}(" in workspace.read(each)]
    path = next((each for each in holding or tests if holding or wanted.search(workspace.read(each))), "")
    if not path:
        path = f"{Path(tests[0]).parent if tests else 'tests'}/test_{'_'.join(title_words(beginning)).lower()}.py"
    if not workspace.may_change(path):
        return
    if not (workspace.root / path).exists():
        title = "".join(word.capitalize() for word in title_words(beginning))
        workspace.write(path, f"{beginning.strip()}\n\n\nclass {title}Test(unittest.TestCase):\n")
    method = [f"    def {name}(self):", *(f"        {line}" if line else "" for line in body)]
    put_method(workspace, path, name, "\n".join(method))


def title_words(beginning: str) -> list[str]:
    """The words of a docstring's first part."""
    return re.findall(r"\w+", beginning.strip('" \n').split(".")[0].split(",")[0])


def put_method(workspace: Workspace, path: str, name: str, method: str) -> None:
    """Replaces the method of that name, or adds it at the end of the file's last class."""
    text = workspace.read(path)
    if f"def {name}(" in text:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                workspace.replace_lines(path, node, method)
                return
    gap = "" if text.rstrip().endswith(":") else "\n"
    workspace.write(path, f"{text.rstrip()}\n{gap}{method}\n")
