"""A file that is no record of a result is refused before anything in it is looked at."""

from __future__ import annotations

import pytest

from client.records import Wrong, parsed


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"no json", "The file is no JSON"),
        (b'{"_type": 1, "_type": 2}', "names a key twice"),
        (b'{"subject": NaN}', "NaN is no number"),
        (b"[" * 100_000, "The file is no JSON"),
        (b"[]", "The statement is no object"),
        (b"{}", "The statement has no part _type"),
        (b'{"_type": "x", "subject": [], "predicateType": "y", "predicate": {}}', "a statement of type x"),
        (
            b'{"_type": "https://in-toto.io/Statement/v1", "subject": [], "predicateType": "y", "predicate": {}}',
            "The statement is of y, not a record",
        ),
    ],
)
def test_what_is_no_record_is_said(content: bytes, sentence: str) -> None:
    with pytest.raises(Wrong) as found:
        parsed(content)
    assert sentence in str(found.value)
