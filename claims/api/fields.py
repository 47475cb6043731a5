"""Types of the fields a body may carry: strict, bounded, refused rather than converted."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, TypeVar
from uuid import UUID

from ninja import Schema
from pydantic import BeforeValidator, ConfigDict, Field, PlainValidator, WithJsonSchema

from claims.canonical import DIGEST

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LINE_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MEDIA_TYPE = r"^[a-zA-Z0-9!#$&^_.+-]{1,60}/[a-zA-Z0-9!#$&^_.+-]{1,60}(?:; ?[a-zA-Z0-9=\"_.-]{1,70})?$"


class Body(Schema):
    """What every body is: no unknown field, nothing converted from another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _uuid(value: Any) -> UUID:
    if not isinstance(value, str) or _ID.fullmatch(value) is None:
        raise ValueError("must be an id in lower-case form, such as 0192f0c1-2b3c-7d4e-8f50-61728394a5b6")
    return UUID(value)


def _moment(value: Any) -> datetime:
    if not isinstance(value, str) or _MOMENT.fullmatch(value) is None:
        raise ValueError("must be a time of RFC 3339 with its zone, such as 2026-11-30T09:00:00Z")
    try:
        moment = datetime.fromisoformat(value.upper()).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError("is not a time that exists") from error
    if not 1970 <= moment.year <= 9000:
        raise ValueError("must be between the years 1970 and 9000")
    return moment


def _digest(value: Any) -> str:
    if not isinstance(value, str) or DIGEST.fullmatch(value) is None:
        raise ValueError("must be sha256: and 64 lower-case hexadecimal digits")
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, str) and _CONTROL.search(value):
        raise ValueError("must hold no control characters")
    return value


def _one_line(value: Any) -> Any:
    if isinstance(value, str) and _LINE_CONTROL.search(value):
        raise ValueError("must be one line without control characters")
    return value


W = TypeVar("W", bound=StrEnum)


def word_of(words: type[W]) -> Any:
    """A field that holds one word of a list of ``vocabulary``."""

    def read(value: Any) -> StrEnum:
        if not isinstance(value, str) or value not in list(words):
            raise ValueError(f"must be one of {', '.join(words)}")
        return words(value)

    return Annotated[words, PlainValidator(read), WithJsonSchema({"type": "string", "enum": list(words)})]


Id = Annotated[UUID, PlainValidator(_uuid), WithJsonSchema({"type": "string", "format": "uuid"})]
Moment = Annotated[
    datetime, PlainValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
Digest = Annotated[
    str, PlainValidator(_digest), WithJsonSchema({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
EffectId = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
Seconds = Annotated[int, Field(ge=1, le=7 * 86_400)]
Name = Annotated[str, Field(pattern=r"^[a-z0-9_.-]{1,120}$")]
TaskName = Annotated[str, Field(pattern=r"^(?:[a-z0-9_.-]{1,120}|T-[0-9]{1,15})$")]
"""A node of the same call, or a task of the pool by its number or its id."""
Person = Annotated[str, Field(min_length=1, max_length=150), BeforeValidator(_one_line)]
Title = Annotated[str, Field(min_length=1, max_length=300), BeforeValidator(_one_line)]
Note = Annotated[str, Field(max_length=2_000), BeforeValidator(_plain)]
Reason = Annotated[str, Field(min_length=1, max_length=2_000), BeforeValidator(_plain)]
Summary = Annotated[str, Field(max_length=20_000), BeforeValidator(_plain)]
Needs = Annotated[str, Field(max_length=140), BeforeValidator(_one_line)]
DisplayName = Annotated[str, Field(min_length=1, max_length=255), BeforeValidator(_one_line)]
MediaType = Annotated[str, Field(max_length=200, pattern=_MEDIA_TYPE)]
CriterionNumber = Annotated[int, Field(ge=1, le=200)]
