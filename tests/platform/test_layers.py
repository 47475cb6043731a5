"""What import-linter cannot see: outside claims nobody writes, or locks, a row of claims."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WRITES = {
    "abulk_create",
    "acreate",
    "adelete",
    "aupdate",
    "bulk_create",
    "bulk_update",
    "create",
    "delete",
    "get_or_create",
    "save",
    "select_for_update",
    "update",
    "update_or_create",
}


def modules() -> list[Path]:
    found = [path for app in ("reviews", "agents") for path in (ROOT / app).rglob("*.py")]
    return [path for path in found if not {"demo", "migrations"} & set(path.relative_to(ROOT).parts)]


def claims_models(tree: ast.Module) -> set[str]:
    """The names a module gives to models of claims."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("claims.models")
        for alias in node.names
    }


def base_of(node: ast.expr) -> str:
    """The name at the start of `Task.objects.filter(…).update`."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.value if isinstance(node, ast.Attribute) else node.func
    return node.id if isinstance(node, ast.Name) else ""


def writes(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    models = claims_models(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr in WRITES and base_of(node.func) in models:
            yield f"line {node.lineno}: {base_of(node.func)} … .{node.func.attr}()"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_outside_claims_no_module_writes_a_model_of_claims(path: Path) -> None:
    assert list(writes(path.read_text())) == []


def test_a_write_is_found_at_the_end_of_any_chain() -> None:
    source = (
        "from claims.models import Task as T\nT.objects.filter(id=1).exclude(id=2).update(state='DONE')\n"
    )

    assert list(writes(source)) == ["line 2: T … .update()"]
