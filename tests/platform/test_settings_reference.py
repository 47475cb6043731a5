"""docs/reference/settings.md says what the code says; no file of the pins names an index."""

import re
from pathlib import Path

from config.reference import settings_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_reference_of_settings_equals_the_code() -> None:
    assert (ROOT / "docs" / "reference" / "settings.md").read_text() == settings_page()


def test_every_pin_has_a_hash_and_no_address() -> None:
    for file in sorted((ROOT / "requirements").glob("*.txt")):
        text = file.read_text()
        pins = re.findall(r"^[A-Za-z0-9][^\n]*==[^\n]*$", text, re.MULTILINE)
        assert pins, file.name
        assert all(pin.endswith("\\") for pin in pins), file.name
        assert "://" not in text, file.name
        assert "index" not in re.sub(r"# via.*|#   .*", "", text), file.name
