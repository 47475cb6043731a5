"""The recipes a slot may declare for looking its effect up, and what they refuse.

Promises: a recipe that parses can be followed with any effect; what a task may choose is bounded
here, and what it may reach is the operator's to allow (FENCEPOST_LOOKUP_HOSTS,
FENCEPOST_REPOSITORIES, FENCEPOST_LOOKUP_COMMANDS). Each must tell effects apart: a recipe that
answers the same for every effect would confirm calls that were never made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Discriminator, Field, field_validator, model_validator

PLACEHOLDERS = ("effectId", "payloadDigest")
_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_AUTHORITY = re.compile(
    r"([A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(:(?P<port>[0-9]{1,5}))?"
)
_NAME = re.compile(r"[a-z0-9_][a-z0-9_.-]{0,119}")
_REPOSITORY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,119}")
_PART_OF_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")


def filled(template: str, values: Mapping[str, str]) -> str:
    """The template with each ``{name}`` replaced by its value, once: a value is never read as a template."""
    return _PLACEHOLDER.sub(lambda found: values[found[1]], template)


class _Lookup(BaseModel):
    """``authoritative``: whoever declares the slot says that this source decides; false where it lags."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    authoritative: bool = True
    timeoutSeconds: int = Field(default=10, ge=1, le=60)


class HttpLookup(_Lookup):
    """GET an address that names the effect. ``found`` and ``notFound`` are the two statuses that tell."""

    kind: Literal["http"]
    url: str = Field(max_length=2_000)
    found: int = Field(default=200, ge=200, le=299)
    notFound: int = 404

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        if re.fullmatch(r"https?://[!-~]+", url) is None or set(url) & set('\\"<>^`|#'):
            raise ValueError(
                "must be an http or https address in ASCII without spaces, backslashes or fragment"
            )
        parts = urlsplit(url)
        if "{" in parts.netloc or "}" in parts.netloc:
            raise ValueError("placeholders may stand in the path and the query, not in the host")
        if "@" in parts.netloc:
            raise ValueError("must not carry a user name or password; use a command for what needs a secret")
        _refuse_authority(parts.netloc)
        _refuse_placeholders(url, PLACEHOLDERS)
        if "{effectId}" not in url:
            raise ValueError("must hold {effectId}; without it the answer would be the same for every effect")
        return url

    @field_validator("notFound")
    @classmethod
    def _says_that_it_is_not_there(cls, status: int) -> int:
        if status not in (404, 410) and not 200 <= status <= 299:
            raise ValueError(
                "must be 404, 410 or from 200 to 299; other statuses say nothing about the effect"
            )
        return status

    @model_validator(mode="after")
    def _statuses_differ(self) -> HttpLookup:
        if self.found == self.notFound:
            raise ValueError("found and notFound must be different statuses")
        return self


class GitRefLookup(_Lookup):
    """A ref of a repository of this server; with ``commit``, it must stand exactly there."""

    kind: Literal["git-ref"]
    repository: str
    ref: str = Field(max_length=500)
    commit: str | None = None

    @field_validator("repository")
    @classmethod
    def _is_a_name(cls, repository: str) -> str:
        if _REPOSITORY.fullmatch(repository) is None or ".." in repository:
            raise ValueError("must be the name of a repository of this server, not a path")
        return repository

    @field_validator("ref")
    @classmethod
    def _is_a_full_ref(cls, ref: str) -> str:
        _refuse_placeholders(ref, ("effectId",))
        parts = filled(ref, {"effectId": "e"}).split("/")
        if parts[0] != "refs" or len(parts) < 3:
            raise ValueError("must be a full ref such as refs/heads/release/{effectId}")
        for part in parts:
            if _PART_OF_REF.fullmatch(part) is None or ".." in part or part.endswith((".", ".lock")):
                raise ValueError(f"git has no ref with a part {part!r}")
        return ref

    @field_validator("commit")
    @classmethod
    def _is_a_commit_id(cls, commit: str | None) -> str | None:
        if commit is not None and _COMMIT.fullmatch(commit) is None:
            raise ValueError("must be a whole commit id of 40 or 64 lower-case hex digits")
        return commit

    @model_validator(mode="after")
    def _tells_effects_apart(self) -> GitRefLookup:
        if self.commit is None and "{effectId}" not in self.ref:
            raise ValueError(
                "ref must hold {effectId}, or commit be given; else a ref that was there before would do"
            )
        return self


class CommandLookup(_Lookup):
    """A command that the operator of this server set up under a name."""

    kind: Literal["command"]
    name: str

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if _NAME.fullmatch(name) is None:
            raise ValueError("must be the name of a command of this server: a-z, 0-9, '_', '.', '-'")
        return name


Recipe = Annotated[HttpLookup | GitRefLookup | CommandLookup, Discriminator("kind")]
"""What a slot's ``lookup`` may be."""


def _refuse_placeholders(template: str, known: tuple[str, ...]) -> None:
    for name in _PLACEHOLDER.findall(template):
        if name not in known:
            those = " and ".join(f"{{{each}}}" for each in known)
            raise ValueError(f"there is no placeholder {{{name}}} here; there is {those}")
    if set(_PLACEHOLDER.sub("", template)) & set("{}"):
        raise ValueError("holds a brace that belongs to no placeholder")


def _refuse_authority(authority: str) -> None:
    found = _AUTHORITY.fullmatch(authority)
    if found is None or not 1 <= int(found["port"] or 80) <= 65_535:
        raise ValueError("must name a host, and a port from 1 to 65535 if any")
