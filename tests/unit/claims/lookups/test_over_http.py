"""Looking up over HTTP, against a real server that keeps the truth."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from django.conf import LazySettings

from claims.lookups.looking import look_up
from claims.lookups.over_http import BODY_BYTES
from claims.lookups.recipes import HttpLookup
from claims.lookups.sighting import EXCERPT_CHARACTERS, Sighted, Subject
from claims.vocabulary import Said
from tests.unit.claims.lookups.conftest import EFFECT, PAYLOAD, Asked, Sink
from tests.unit.claims.lookups.untrusted import PEM


def recipe(sink: Sink, path: str = "/charges?key={effectId}", **fields: object) -> HttpLookup:
    body = {"kind": "http", "url": f"http://{sink.host}{path}", "authoritative": True, **fields}
    return HttpLookup.model_validate(body)


def seen(sink: Sink, subject: Subject, **fields: object) -> Sighted:
    return look_up(recipe(sink, **fields), subject)


def test_an_effect_that_the_sink_knows_happened(sink: Sink, subject: Subject) -> None:
    sink.truth[EFFECT] = '{"amount": 900}'

    sighted = seen(sink, subject)

    assert sighted.said is Said.HAPPENED
    assert sighted.receipt == {
        "status": 200,
        "body": '{"amount": 900}',
        "bodyIsCut": False,
        "resourceEtag": '"7"',
    }
    assert sighted.how == f"GET http://{sink.host}/charges?key={EFFECT}"
    assert sighted.is_authoritative


def test_an_effect_that_the_sink_does_not_know_did_not_happen(sink: Sink, subject: Subject) -> None:
    sink.truth["5b" * 32] = "another"

    sighted = seen(sink, subject)

    assert sighted.said is Said.DID_NOT_HAPPEN
    assert sighted.receipt["status"] == 404


def test_how_strong_it_is_comes_from_the_recipe(sink: Sink, subject: Subject) -> None:
    assert not seen(sink, subject, authoritative=False).is_authoritative


def test_a_look_up_is_one_get_without_a_body_credentials_or_a_key(sink: Sink, subject: Subject) -> None:
    seen(sink, subject, path="/charges/{effectId}/{payloadDigest}")

    [(path, headers)] = sink.asked
    assert unquote(path) == f"/charges/{EFFECT}/{PAYLOAD}"
    assert headers["cache-control"] == "no-cache"
    assert not {"authorization", "cookie", "idempotency-key", "content-length"} & set(headers)


def test_the_statuses_that_tell_are_the_recipes(sink: Sink, subject: Subject) -> None:
    sink.instead = lambda asked: asked.say(204)

    assert seen(sink, subject, found=204, notFound=410).said is Said.HAPPENED
    assert seen(sink, subject, found=200, notFound=204).said is Said.DID_NOT_HAPPEN


@pytest.mark.parametrize("status", [201, 204, 400, 401, 403, 410, 429, 500, 502, 503])
def test_any_other_status_cannot_tell(sink: Sink, subject: Subject, status: int) -> None:
    sink.instead = lambda asked: asked.say(status)

    sighted = seen(sink, subject)

    assert sighted.said is Said.CANNOT_TELL
    assert str(status) in sighted.note
    assert sighted.receipt["status"] == status


def test_a_redirect_is_not_followed(sink: Sink, subject: Subject) -> None:
    sink.truth[EFFECT] = "charged"
    sink.instead = lambda asked: asked.say(302, Location=f"http://{sink.host}/charges?key={EFFECT}")

    sighted = seen(sink, subject)

    assert (sighted.said, len(sink.asked)) == (Said.CANNOT_TELL, 1)
    assert sighted.note == "it answered 302; redirects are not followed"


def test_a_not_found_from_a_cache_cannot_tell(sink: Sink, subject: Subject) -> None:
    sink.instead = lambda asked: asked.say(404, Age="30")
    assert seen(sink, subject).said is Said.CANNOT_TELL

    sink.instead = lambda asked: asked.say(404, Age="0")
    assert seen(sink, subject).said is Said.DID_NOT_HAPPEN


def test_no_host_is_allowed_at_first(sink: Sink, subject: Subject, settings: LazySettings) -> None:
    settings.FENCEPOST_LOOKUP_HOSTS = []

    sighted = seen(sink, subject)

    assert (sighted.said, sink.asked) == (Said.CANNOT_TELL, [])
    assert sighted.note == "no host is allowed; FENCEPOST_LOOKUP_HOSTS is empty"


@pytest.mark.parametrize("allowed", ["127.0.0.1", "127.0.0.1:1", "0.0.1", "pay.example", "localhost"])
def test_a_host_that_is_not_on_the_list_with_its_port_is_not_asked(
    sink: Sink, subject: Subject, settings: LazySettings, allowed: str
) -> None:
    settings.FENCEPOST_LOOKUP_HOSTS = [allowed]

    sighted = seen(sink, subject)

    assert (sighted.said, sink.asked) == (Said.CANNOT_TELL, [])
    assert f"{sink.host} is not allowed" in sighted.note


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.98.76.54/{effectId}", "127.98.76.54"),
        ("http://127.98.76.54:80/{effectId}", "127.98.76.54"),
        ("https://LOCALHOST/{effectId}", "localhost:443"),
    ],
)
def test_a_host_alone_stands_for_the_usual_port(
    subject: Subject, settings: LazySettings, url: str, allowed: str
) -> None:
    settings.FENCEPOST_LOOKUP_HOSTS = [allowed]

    sighted = look_up(HttpLookup.model_validate({"kind": "http", "url": url}), subject)

    assert "not allowed" not in sighted.note


def test_a_proxy_of_the_environment_is_not_used(
    sink: Sink, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    assert seen(sink, subject).said is Said.DID_NOT_HAPPEN


def test_a_port_where_nobody_listens_cannot_tell(subject: Subject, settings: LazySettings) -> None:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{unheard.getsockname()[1]}"
        settings.FENCEPOST_LOOKUP_HOSTS = [host]
        url = f"http://{host}/{{effectId}}"

        sighted = look_up(HttpLookup.model_validate({"kind": "http", "url": url}), subject)

    assert sighted.said is Said.CANNOT_TELL
    assert sighted.note.startswith("no answer: ")


def test_a_server_that_never_answers_is_left_at_the_time_limit(sink: Sink, subject: Subject) -> None:
    sink.instead = lambda _: sink.is_closing.wait(30) and None

    began = time.monotonic()
    sighted = seen(sink, subject, timeoutSeconds=1)

    assert sighted.said is Said.CANNOT_TELL
    assert sighted.note == "no whole answer within 1 s"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("start", [b"HTTP/1.1 404 Not Found\r\nX: ", b"HTTP/1.1 404 Not Found\r\n\r\n"])
def test_an_answer_that_comes_byte_by_byte_is_left_at_the_time_limit(
    sink: Sink, subject: Subject, start: bytes
) -> None:
    def trickle(asked: Asked) -> None:
        asked.wfile.write(start)
        while not sink.is_closing.wait(0.1):
            asked.wfile.write(b"x")

    sink.instead = trickle

    began = time.monotonic()
    sighted = seen(sink, subject, timeoutSeconds=1)

    assert sighted.said is Said.CANNOT_TELL
    assert time.monotonic() - began < 5


def test_an_answer_that_breaks_off_cannot_tell(sink: Sink, subject: Subject) -> None:
    sink.instead = lambda asked: asked.say(404, b"half", **{"Content-Length": "100"})

    assert seen(sink, subject).said is Said.CANNOT_TELL


def test_what_is_no_http_cannot_tell(sink: Sink, subject: Subject) -> None:
    sink.instead = lambda asked: asked.wfile.write(b"SSH-2.0-OpenSSH\r\n") and None

    assert seen(sink, subject).said is Said.CANNOT_TELL


def test_a_body_is_read_within_its_bound(sink: Sink, subject: Subject) -> None:
    written: list[int] = []

    def pour(asked: Asked) -> None:
        asked.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while not sink.is_closing.is_set():
            written.append(asked.wfile.write(b"x" * BODY_BYTES))

    sink.instead = pour

    sighted = seen(sink, subject)

    assert sighted.said is Said.HAPPENED
    assert sighted.receipt["bodyIsCut"] is True
    assert sighted.receipt["body"] == "x" * EXCERPT_CHARACTERS


def test_bytes_that_no_column_takes_are_replaced(sink: Sink, subject: Subject) -> None:
    sink.truth[EFFECT] = "a\0b"
    sink.instead = lambda asked: asked.say(200, b"\0\x1b[31m\xff")

    assert seen(sink, subject).receipt["body"] == "\ufffd\ufffd[31m\ufffd"


def test_https_to_a_server_that_speaks_http_cannot_tell(sink: Sink, subject: Subject) -> None:
    url = f"https://{sink.host}/{{effectId}}"

    sighted = look_up(HttpLookup.model_validate({"kind": "http", "url": url}), subject)

    assert (sighted.said, sink.asked) == (Said.CANNOT_TELL, [])


def test_a_certificate_that_nobody_trusts_cannot_tell(sink: Sink, subject: Subject, tmp_path: Path) -> None:
    file = tmp_path / "untrusted.pem"
    file.write_text(PEM)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(file)
    sink.socket = server.wrap_socket(sink.socket, server_side=True)
    sink.truth[EFFECT] = "charged"
    url = f"https://{sink.host}/charges?key={{effectId}}"

    sighted = look_up(HttpLookup.model_validate({"kind": "http", "url": url}), subject)

    assert (sighted.said, sink.asked) == (Said.CANNOT_TELL, [])
    assert "CERTIFICATE_VERIFY_FAILED" in sighted.note


def test_a_look_up_leaves_no_event_loop_behind(sink: Sink, subject: Subject) -> None:
    seen(sink, subject)

    with pytest.raises(RuntimeError):
        asyncio.get_running_loop()
