"""Settings are read once, typed, and refused with one sentence that names the variable."""

from pathlib import Path

import pytest

from config.readers import VARIABLES, Misconfigured, read

ENOUGH = {
    "FENCEPOST_SECRET_KEY": "k" * 50,
    "FENCEPOST_DATABASE_URL": "postgresql://someone:p%40ss@db.example:5433/fencepost",
    "FENCEPOST_REDIS_URL": "redis://cache.example/0",
    "FENCEPOST_BROKER_URL": "amqp://broker.example//",
    "FENCEPOST_EVIDENCE_URL": "file:///srv/evidence",
    "FENCEPOST_VAR": "/srv/fencepost",
}


def test_the_required_variables_are_enough() -> None:
    values = read(ENOUGH)

    assert set(values) == {variable.name for variable in VARIABLES}
    assert values["FENCEPOST_VAR"] == Path("/srv/fencepost")
    assert values["FENCEPOST_DEBUG"] is False


def test_the_database_url_is_taken_apart() -> None:
    database = read(ENOUGH)["FENCEPOST_DATABASE_URL"]

    assert (database["NAME"], database["USER"], database["PASSWORD"]) == ("fencepost", "someone", "p@ss")
    assert (database["HOST"], database["PORT"]) == ("db.example", 5433)


@pytest.mark.parametrize("name", sorted(ENOUGH))
def test_a_required_variable_that_is_missing_is_named(name: str) -> None:
    without = {key: value for key, value in ENOUGH.items() if key != name}

    with pytest.raises(Misconfigured, match=f"^{name} is not set: "):
        read(without)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("FENCEPOST_SECRET_KEY", "short", "at least 50 characters"),
        ("FENCEPOST_DATABASE_URL", "mysql://a/b", "postgresql://"),
        ("FENCEPOST_DATABASE_URL", "postgresql://a", "must name a database"),
        ("FENCEPOST_REDIS_URL", "http://a", "redis://"),
        ("FENCEPOST_BROKER_URL", "sqs://a", "amqp://"),
        ("FENCEPOST_EVIDENCE_URL", "/srv/evidence", "file://"),
        ("FENCEPOST_VAR", "var", "must be an absolute path"),
        ("FENCEPOST_DEBUG", "maybe", "must be true or false, not 'maybe'"),
        ("FENCEPOST_LOCK_TIMEOUT_MS", "2s", "must be a whole number, not '2s'"),
        ("FENCEPOST_LOCK_TIMEOUT_MS", "0", "must lie between 100 and 60000, not 0"),
        ("FENCEPOST_LOCK_TIMEOUT_MS", "٣٠٠", "must be a whole number"),
        ("FENCEPOST_LOOKUP_HOSTS", "https://pay.example", "must list hosts such as"),
        ("FENCEPOST_LOOKUP_HOSTS", "*.example", "must list hosts such as"),
        ("FENCEPOST_LOOKUP_COMMANDS", "check-dns", "must be a JSON object"),
        ("FENCEPOST_LOOKUP_COMMANDS", '["/bin/true"]', "must be a JSON object"),
        ("FENCEPOST_LOOKUP_COMMANDS", '{"../x": ["/bin/true"]}', "must name commands in"),
        ("FENCEPOST_LOOKUP_COMMANDS", '{"x": "/bin/true --all"}', "as a list of words"),
        ("FENCEPOST_LOOKUP_COMMANDS", '{"x": ["true"]}', "the absolute path of a program"),
        ("FENCEPOST_LOG_LEVEL", "LOUD", "must be DEBUG, INFO, WARNING or ERROR"),
    ],
)
def test_a_value_that_cannot_be_understood_is_refused(name: str, value: str, sentence: str) -> None:
    with pytest.raises(Misconfigured) as refusal:
        read({**ENOUGH, name: value})

    assert str(refusal.value).startswith(name)
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("word", ["1", "true", "Yes", "on"])
def test_words_for_true_are_read(word: str) -> None:
    assert read({**ENOUGH, "FENCEPOST_DEBUG": word})["FENCEPOST_DEBUG"] is True


def test_lists_are_split_at_commas() -> None:
    values = read({**ENOUGH, "FENCEPOST_ALLOWED_HOSTS": "a.example, b.example,"})

    assert values["FENCEPOST_ALLOWED_HOSTS"] == ["a.example", "b.example"]


def test_hosts_of_look_ups_are_kept_in_lower_case_and_commands_as_lists() -> None:
    values = read(
        {
            **ENOUGH,
            "FENCEPOST_LOOKUP_HOSTS": "Pay.example, [::1]:8443",
            "FENCEPOST_LOOKUP_COMMANDS": '{"check-dns": ["/bin/check", "a b"]}',
        }
    )

    assert values["FENCEPOST_LOOKUP_HOSTS"] == ["pay.example", "[::1]:8443"]
    assert values["FENCEPOST_LOOKUP_COMMANDS"] == {"check-dns": ["/bin/check", "a b"]}


def test_no_look_up_reaches_anything_until_it_is_allowed() -> None:
    values = read(ENOUGH)

    assert (values["FENCEPOST_LOOKUP_HOSTS"], values["FENCEPOST_LOOKUP_COMMANDS"]) == ([], {})
