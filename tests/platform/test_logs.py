"""Log lines are JSON, carry the request's id, and hold no token."""

import io
import json
import logging
import logging.config
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from config.logs import logging_of, masked

TOKEN = "fp_attempt_9aZ-very_secret_Words01"


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged during the test, through the formatter of the real configuration."""
    wanted = logging_of("INFO")["formatters"]["json"]
    options = {key: value for key, value in wanted.items() if key != "()"}
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(wanted["()"](**options))
    logger = logging.getLogger("fencepost.test")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield stream
    logger.removeHandler(handler)
    structlog.contextvars.clear_contextvars()


def only_line(lines: io.StringIO) -> dict[str, Any]:
    written = lines.getvalue().splitlines()
    assert len(written) == 1
    answer: dict[str, Any] = json.loads(written[0])
    return answer


def test_a_token_in_a_message_is_masked(lines: io.StringIO) -> None:
    logging.getLogger("fencepost.test").info("came with %s", TOKEN)

    assert only_line(lines)["event"] == "came with fp_***"


def test_a_token_in_a_field_of_a_field_is_masked(lines: io.StringIO) -> None:
    structlog.get_logger("fencepost.test").info("asked", headers={"Authorization": [f"Bearer {TOKEN}"]})

    assert only_line(lines)["headers"] == {"Authorization": ["Bearer fp_***"]}


def test_a_token_in_a_traceback_is_masked(lines: io.StringIO) -> None:
    try:
        raise ValueError(f"bad token {TOKEN}")
    except ValueError:
        logging.getLogger("fencepost.test").exception("failed")

    assert "bad token fp_***" in lines.getvalue()
    assert TOKEN not in lines.getvalue()


def test_the_request_id_is_on_lines_of_the_standard_library_too(lines: io.StringIO) -> None:
    structlog.contextvars.bind_contextvars(request_id="r-1")

    logging.getLogger("fencepost.test").warning("something")

    assert only_line(lines)["request_id"] == "r-1"


def test_other_words_are_left_alone() -> None:
    assert masked({"a": ["fp_", 1, None, True, "graph_pool"]}) == {"a": ["fp_", 1, None, True, "graph_pool"]}
