"""What a slot may declare, and what is refused in words that say why."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from claims.lookups.over_http import address
from claims.lookups.recipes import CommandLookup, GitRefLookup, HttpLookup, Recipe, filled
from claims.lookups.sighting import Subject
from tests.unit.claims.lookups.conftest import EFFECT, PAYLOAD

RECIPES: TypeAdapter[Recipe] = TypeAdapter(Recipe)
HTTP = {"kind": "http", "url": "https://pay.example/charges?key={effectId}"}
GIT = {"kind": "git-ref", "repository": "billing", "ref": "refs/heads/release/{effectId}"}
COMMAND = {"kind": "command", "name": "check-dns"}


def refusal(body: object) -> str:
    with pytest.raises(ValidationError) as error:
        RECIPES.validate_python(body)
    return "; ".join(found["msg"] for found in error.value.errors())


def test_the_kind_tells_the_recipes_apart() -> None:
    kinds = [type(RECIPES.validate_python(body)) for body in (HTTP, GIT, COMMAND)]

    assert kinds == [HttpLookup, GitRefLookup, CommandLookup]


def test_a_source_decides_unless_it_is_said_to_lag() -> None:
    recipe = RECIPES.validate_python(HTTP)

    assert isinstance(recipe, HttpLookup)
    assert (recipe.found, recipe.notFound, recipe.timeoutSeconds) == (200, 404, 10)
    assert recipe.authoritative
    assert not RECIPES.validate_python({**HTTP, "authoritative": False}).authoritative


@pytest.mark.parametrize("body", [HTTP, GIT, COMMAND])
@pytest.mark.parametrize(
    "extra",
    [
        {"method": "POST"},
        {"authoritative": "yes"},
        {"timeoutSeconds": 0},
        {"timeoutSeconds": 61},
        {"kind": "dns"},
    ],
)
def test_fields_that_do_not_belong_are_refused(body: dict[str, Any], extra: dict[str, Any]) -> None:
    assert refusal({**body, **extra})


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (
            "https://pay.example/{runner}/{effectId}",
            "there is no placeholder {runner} here; there is {effectId}",
        ),
        ("https://pay.example/{effectId.__class__}", "there is no placeholder {effectId.__class__} here"),
        ("https://pay.example/{}/{effectId}", "there is no placeholder {} here"),
        ("https://pay.example/{{effectId}}", "a brace that belongs to no placeholder"),
        ("https://pay.example/{effectId}}", "a brace that belongs to no placeholder"),
        ("https://pay.example/{effectId", "a brace that belongs to no placeholder"),
        ("https://pay.example/charges", "must hold {effectId}"),
        ("https://pay.example/{payloadDigest}", "must hold {effectId}"),
        ("https://{effectId}.example/", "not in the host"),
        ("https://key:{effectId}@pay.example/", "not in the host"),
        ("https://key:secret@pay.example/{effectId}", "must not carry a user name or password"),
        ("https://pay.example@evil.example/{effectId}", "must not carry a user name or password"),
        ("https://pay.example\\@evil.example/{effectId}", "without spaces, backslashes"),
        ("https://pay.example/{effectId}#x", "without spaces, backslashes or fragment"),
        ("https://pay.example/a b/{effectId}", "without spaces"),
        ("https://pay.example/\r\nX: y/{effectId}", "without spaces"),
        ("https://pay.example/{effectId}\n", "without spaces"),
        ("https://päy.example/{effectId}", "in ASCII"),
        ("file:///etc/passwd?{effectId}", "must be an http or https address"),
        ("gopher://pay.example/{effectId}", "must be an http or https address"),
        ("//pay.example/{effectId}", "must be an http or https address"),
        ("https:///{effectId}", "must name a host"),
        ("https://:443/{effectId}", "must name a host"),
        ("https://pay.example:0/{effectId}", "a port from 1 to 65535"),
        ("https://pay.example:65536/{effectId}", "a port from 1 to 65535"),
        ("https://pay.example:/{effectId}", "a port from 1 to 65535"),
        ("https://pay.example:8x/{effectId}", "a port from 1 to 65535"),
        ("https://-pay.example/{effectId}", "must name a host"),
        ("https://pay%2eexample/{effectId}", "must name a host"),
        ("https://pay.example/" + "a" * 2_000 + "{effectId}", "at most 2000"),
    ],
)
def test_an_address_that_could_lead_elsewhere_is_refused(url: str, sentence: str) -> None:
    assert sentence in refusal({**HTTP, "url": url})


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9000/{effectId}",
        "https://[::1]:8443/a?b={payloadDigest}&c={effectId}",
        "https://pay_1.example?key={effectId}",
    ],
)
def test_an_address_that_names_the_effect_is_taken(url: str) -> None:
    assert RECIPES.validate_python({**HTTP, "url": url})


@pytest.mark.parametrize(
    "fields",
    [{"found": 404}, {"found": 302}, {"found": 200, "notFound": 200}, {"notFound": 401}, {"notFound": 429}, {"notFound": 500}, {"notFound": 301}, {"found": "200"}],
)  # fmt: skip
def test_statuses_that_do_not_speak_of_the_effect_are_refused(fields: dict[str, Any]) -> None:
    assert refusal({**HTTP, **fields})


@pytest.mark.parametrize(
    "repository", ["..", ".", "../billing", "a/../b", "a..b", "/srv/billing", "a/b", "-u", ".git", "", "a\n", "https://a.example/b", "{effectId}"]
)  # fmt: skip
def test_a_repository_is_a_name_and_never_a_path(repository: str) -> None:
    assert "the name of a repository of this server, not a path" in refusal({**GIT, "repository": repository})


@pytest.mark.parametrize(
    "ref",
    [
        "-refs/heads/{effectId}",
        "--upload-pack=/bin/sh",
        "HEAD",
        "main",
        "heads/{effectId}",
        "heads/release/{effectId}",
        "refs/{effectId}",
        "refs/heads/-{effectId}",
        "refs/heads/../{effectId}",
        "refs/heads/a..{effectId}",
        "refs/heads/.{effectId}",
        "refs/heads//{effectId}",
        "/refs/heads/{effectId}",
        "refs/heads/{effectId}/",
        "refs/heads/{effectId}.lock",
        "refs/heads/{effectId}.",
        "refs/heads/{effectId}*",
        "refs/heads/{effectId}^{commit}",
        "refs/heads/{effectId}@{1}",
        "refs/heads/{effectId}:path",
        "refs/heads/{effectId}\n",
        "refs/heads/{effectId} --exec=x",
        "refs/heads/{payloadDigest}",
        "refs/heads/{effectId}/{slot}",
    ],
)
def test_a_ref_that_is_no_full_name_of_one_is_refused(ref: str) -> None:
    assert refusal({**GIT, "ref": ref})


def test_a_ref_that_any_effect_would_find_needs_a_commit() -> None:
    assert "ref must hold {effectId}, or commit be given" in refusal({**GIT, "ref": "refs/tags/v1"})
    assert RECIPES.validate_python({**GIT, "ref": "refs/tags/v1", "commit": "ab" * 20})
    assert RECIPES.validate_python({**GIT, "ref": "refs/tags/v1", "commit": "ab" * 32})


@pytest.mark.parametrize("commit", ["HEAD", "abc1234", "AB" * 20, "ab" * 21, "ab" * 20 + "\n", "--all"])
def test_a_commit_is_a_whole_id(commit: str) -> None:
    assert "a whole commit id" in refusal({**GIT, "commit": commit})


@pytest.mark.parametrize("name", ["", "/bin/sh", "../x", "-c", ".x", "a b", "a;b", "Check", "a\n", "x" * 121])
def test_a_command_is_a_name_and_never_a_program(name: str) -> None:
    assert "the name of a command of this server" in refusal({**COMMAND, "name": name})


def test_a_value_is_never_read_as_a_template() -> None:
    assert filled("{a}-{b}", {"a": "{b}", "b": "{a}"}) == "{b}-{a}"


def test_the_ids_are_encoded_where_an_address_takes_them() -> None:
    recipe = HttpLookup.model_validate({**HTTP, "url": "https://a.example/{payloadDigest}?key={effectId}"})

    found = address(recipe, Subject(EFFECT, PAYLOAD, "charge", "x"))

    assert found == f"https://a.example/sha256%3A{PAYLOAD.removeprefix('sha256:')}?key={EFFECT}"


@pytest.mark.parametrize(
    "fields",
    [
        {"effect_id": EFFECT.upper()},
        {"effect_id": EFFECT + "\n"},
        {"effect_id": EFFECT[:-1] + "/"},
        {"effect_id": "../" + EFFECT[3:]},
        {"effect_id": ""},
        {"payload_digest": PAYLOAD.removeprefix("sha256:")},
        {"payload_digest": PAYLOAD + "&admin=1"},
        {"slot": "a b"},
        {"slot": "a\n"},
        {"target": "a\0b"},
        {"target": "\ud800"},
        {"target": "x" * 20_001},
    ],
)
def test_a_subject_that_is_no_effect_is_refused(fields: dict[str, str]) -> None:
    whole = {"effect_id": EFFECT, "payload_digest": PAYLOAD, "slot": "charge", "target": "x"}

    with pytest.raises(ValueError):
        Subject(**{**whole, **fields})
