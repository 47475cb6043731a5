"""System checks: combinations of settings that would lose work or security are refused at start-up."""

from collections.abc import Sequence
from typing import Any

from django.apps.config import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags
from django.core.checks import register as register_check


def visibility_timeout_exceeds_every_limit(
    app_configs: Sequence[AppConfig] | None, **_: Any
) -> list[CheckMessage]:
    """Redis redelivers a message after the visibility timeout, so no job may run that long."""
    limits = {
        "FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS": settings.FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS,
        "FENCEPOST_UPKEEP_TIME_LIMIT_SECONDS": settings.FENCEPOST_UPKEEP_TIME_LIMIT_SECONDS,
    }
    visible = settings.FENCEPOST_VISIBILITY_TIMEOUT_SECONDS
    return [
        Error(
            f"FENCEPOST_VISIBILITY_TIMEOUT_SECONDS ({visible}) must be longer than {name} ({limit}).",
            id="fencepost.E001",
        )
        for name, limit in limits.items()
        if limit >= visible
    ]


def register() -> None:
    """Register the checks of this project."""
    register_check(visibility_timeout_exceeds_every_limit, Tags.compatibility)
