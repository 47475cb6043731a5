"""The layers are whole and point one way, and nobody outside ``claims`` writes its tables."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps

ROOT = Path(__file__).parents[2]
CONTRACTS: list[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][
    "importlinter"
]["contracts"]
CLAIMS = next(contract for contract in CONTRACTS if contract.get("containers") == ["claims"])
WRITES = {
    "save", "asave", "update", "aupdate", "create", "acreate", "delete", "adelete", "bulk_create", "bulk_update", "get_or_create",
    "update_or_create", "select_for_update",
}  # fmt: skip
OUTSIDE = ("reviews", "agents", "client")
POSTED = {"Look", "Judgement", "VerdictGiven", "Sighting"}


def sources(*packages: str) -> Iterator[tuple[str, ast.Module]]:
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "demo" not in path.parts:
                yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def in_layers() -> list[str]:
    """The modules of the layers, and those that may be in none."""
    layers = [
        name.strip().strip("()") for layer in CLAIMS["layers"] for name in layer.replace("|", ":").split(":")
    ]
    return [*layers, *CLAIMS["exhaustive_ignores"]]


def test_a_module_in_no_layer_fails_the_build() -> None:
    assert CLAIMS["type"] == "layers"
    assert CLAIMS["exhaustive"] is True
    assert set(CLAIMS["exhaustive_ignores"]) <= {"apps", "migrations", "management"}


def test_every_module_of_claims_is_in_exactly_one_layer() -> None:
    modules = {
        path.stem
        for path in (ROOT / "claims").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    named = in_layers()
    assert len(named) == len(set(named))
    assert modules - {"__init__"} - set(named) == set()


def test_the_layers_stand_in_the_order_of_the_architecture() -> None:
    heights = {
        name.strip().strip("()"): height
        for height, layer in enumerate(CLAIMS["layers"])
        for name in layer.replace("|", ":").split(":")
    }
    order = ["api", "sweeps", "transitions", "kernel", "models", "decide", "fences", "vocabulary"]
    assert [heights[name] for name in order] == sorted({heights[name] for name in order})


def test_decisions_are_forbidden_the_database_and_the_framework() -> None:
    pure = next(contract for contract in CONTRACTS if contract.get("source_modules") == ["claims.decide"])
    assert {"django", "psycopg", "claims.models", "claims.kernel"} <= set(pure["forbidden_modules"])


def test_nothing_outside_claims_imports_the_kernel() -> None:
    for path, tree in sources(*OUTSIDE):
        for node in ast.walk(tree):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            modules += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in modules if name.startswith("claims.kernel")], path


def test_only_the_values_a_person_posts_are_taken_from_the_decisions() -> None:
    for path, tree in sources("reviews", "agents"):
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("claims.decide"):
                assert node.module == "claims.decide", path
                assert {each.name for each in node.names} <= POSTED, path
            if isinstance(node, ast.ImportFrom) and node.module == "claims":
                assert "decide" not in {each.name for each in node.names} or _takes_only_values(tree), path


@pytest.mark.parametrize("package", OUTSIDE)
def test_nothing_outside_claims_writes_its_models(package: str) -> None:
    models = {model.__name__ for model in apps.get_app_config("claims").get_models()}
    for path, tree in sources(package):
        imported = _names_of_claims_models(tree) & models
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if isinstance(call.func, ast.Attribute) and call.func.attr in WRITES:
                assert not _root(call.func) & imported, f"{path}:{call.lineno} writes a model of claims"


@pytest.mark.parametrize("package", OUTSIDE)
def test_nothing_outside_claims_saves_what_a_selector_gave_it(package: str) -> None:
    own = {
        model.__name__ for label in ("reviews", "agents") for model in apps.get_app_config(label).get_models()
    }
    for path, tree in sources(package):
        uses_own = bool(own & {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
        saves = [
            node.lineno
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("save", "delete")
        ]
        assert uses_own or not _names_of_claims_models(tree) or not saves, f"{path}:{saves}"


def _names_of_claims_models(tree: ast.Module) -> set[str]:
    return {
        each.asname or each.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("claims.models")
        for each in node.names
    }


def _takes_only_values(tree: ast.Module) -> bool:
    taken = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "decide"
    }
    return taken <= POSTED


def _root(node: ast.expr) -> set[str]:
    """The names at the bottom of a chain of attributes and calls."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return set()
    return {node.id}
