"""Pages, files, sockets and rights: B41, B49, B50, B59, B60, B62, B63, B64, B65, B67."""

from __future__ import annotations

import asyncio
import hashlib
import io
import logging
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import LazySettings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from claims.models import CanonicalCommit, Decision, Delivery, History, Lease, PoolEvent, Task
from config.asgi import application
from config.logs import logging_of
from reviews.desk.viewers import ansi
from reviews.models import CommentDraft, VerdictDraft
from tests.api.conftest import Caller, claimed
from tests.support import deliveries
from tests.support.world import World, a_world
from tests.unit.reviews.world import World as PageWorld
from tests.unit.reviews.world import fill, make_world

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[2]
MISSING = "0192f0c1-2b3c-7d4e-8f50-61728394a5b6"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>'
ATTRIBUTES = re.compile(r"\bhx-([a-z0-9:-]+)\s*=")
KNOWN_ATTRIBUTES = {
    "get", "post", "put", "patch", "delete", "target", "swap", "trigger", "select", "include", "indicator",
    "push-url", "replace-url", "vals", "confirm", "headers", "sync", "boost", "disable", "encoding", "preserve",
    "status:409:inherited", "status:412:inherited", "status:422:inherited",
}  # fmt: skip


@pytest.fixture
def pages(db: None) -> PageWorld:
    """Two pools with a task in every state, for the pages."""
    return make_world()


@pytest.fixture
def delivery(pages: PageWorld) -> Delivery:
    task = deliveries.new_task(pages.billing, reviewer="ines")
    items = deliveries.usual_items(diff=deliveries.IN_SCOPE)
    return deliveries.deliver(task, pages.agents["agent-7"], items=items)


def routes(patterns: list[Any], before: str = "") -> list[tuple[str, set[str]]]:
    """Every route of the application with the names in it."""
    found: list[tuple[str, set[str]]] = []
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and "^" not in route:
            found.append((route, set(re.findall(r"<(?:\w+:)?(\w+)>", route))))
    return found


def standing() -> list[Any]:
    """Everything that a person or an agent can change, as the tables have it."""
    counted = [
        model.objects.count()
        for model in (History, Decision, CanonicalCommit, PoolEvent, Delivery, VerdictDraft, CommentDraft)
    ]
    return [
        counted,
        list(Task.objects.order_by("id").values()),
        list(Lease.objects.order_by("task_id").values()),
    ]


def test_b41_activepieces_14024_no_address_changes_anything_when_it_is_only_read(
    pages: PageWorld, delivery: Delivery, client: Client
) -> None:
    fill(pages)
    client.force_login(pages.ines)
    sha256 = hashlib.sha256(deliveries.IN_SCOPE).hexdigest()
    values = {
        "ref": f"T-{delivery.task.number}", "tab": "history", "bucket": "mine", "code": "FENCED", "rest": "nowhere",
        "delivery": str(delivery.id), "sheet": "commands", "index": "0", "number": "1", "sha256": sha256,
        "task": str(delivery.task_id), "task_id": str(delivery.task_id), "attempt_id": str(delivery.attempt_id),
        "delivery_id": str(delivery.id), "effect_id": "e" * 64, "effect": "e" * 64, "pool": "billing", "criterion": "1",
        "generation": "1", "template": "empty",
    }  # fmt: skip
    before, read = standing(), 0
    for route, names in routes(get_resolver().url_patterns):
        assert names <= set(values), f"{route} has a name that this test does not know"
        path = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], route)
        for ask in (client.get, client.head):
            ask(f"/{path}", headers={"Purpose": "prefetch"})
            read += 1
    assert read > 40
    assert standing() == before


def test_b49_htmx_3483_every_attribute_of_htmx_in_the_templates_is_one() -> None:
    found = {
        name for path in (ROOT / "templates").rglob("*.html") for name in ATTRIBUTES.findall(path.read_text())
    }
    assert found <= KNOWN_ATTRIBUTES


def test_b49_htmx_3483_a_decision_sent_twice_is_one_decision_and_no_error(
    pages: PageWorld, delivery: Delivery, client: Client
) -> None:
    client.force_login(pages.ines)
    met = {f"verdict-{number}": "met" for number in range(1, 5)}
    posted = {"subject": delivery.subject_digest, "key": str(uuid4()), "do": "accept", **met}
    answers = [client.post(f"/reviews/{delivery.id}/decide", posted, follow=True) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert Decision.objects.filter(delivery=delivery).count() == 1
    other = client.post(f"/reviews/{delivery.id}/decide", {**posted, "key": str(uuid4())})
    assert other.status_code == 409
    assert "already" in other.content.decode()


def test_b50_django_htmx_270_a_form_from_before_the_sign_in_changes_nothing_and_says_so(
    pages: PageWorld, delivery: Delivery
) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(pages.ines)
    before = standing()
    for headers in ({}, {"HX-Request": "true"}):
        answer = strict.post(
            f"/reviews/{delivery.id}/decide",
            {"subject": delivery.subject_digest, "do": "accept", "csrfmiddlewaretoken": "x" * 64},
            headers=headers,
        )
        assert answer.status_code == 403
        assert "what you typed is still in it" in answer.content.decode()
    assert standing() == before


def uploaded(world: World, agent: Caller, content: bytes, name: str = "shot.svg") -> str:
    """Where a delivered file is read; the answer of the API is its path."""
    grant = claimed(world, agent, input={"task": "x"})
    at, sha256 = f"/attempts/{grant['attemptId']}", hashlib.sha256(content).hexdigest()
    fence = grant["fence"]
    header = f"epoch={fence['schedulerEpoch']}, generation={fence['claimGeneration']}, cancel={fence['cancelGeneration']}"
    kept = agent.put(
        f"{at}/files/{sha256}", content, headers={"Fencepost-Fence": header}, content_type="image/svg+xml"
    )
    assert kept.status == 201, kept.body
    item = {
        "name": name,
        "kind": "file",
        "sha256": sha256,
        "size": len(content),
        "mediaType": "image/svg+xml",
    }
    body = {"fence": fence, "inputDigest": grant["inputDigest"], "result": {}, "evidence": [item]}
    delivered = agent.post(f"{at}/deliver", body)
    assert delivered.status == 200, delivered.body
    return f"/deliveries/{delivered.body['deliveryId']}/files/{sha256}"


def test_b59_multica_3022_a_drawing_with_a_script_is_never_shown_by_the_application(
    world: World, agent: Caller, client: Client
) -> None:
    path = uploaded(world, agent, SVG)
    client.force_login(world.reviewer)
    page = client.get(path.replace("/deliveries/", "/reviews/"))
    for headers in (agent.get(path).headers, page.headers):
        assert headers["Content-Disposition"].startswith("attachment")
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "sandbox" in headers["Content-Security-Policy"]
        assert "allow-scripts" not in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "output",
    [
        "\x1b]8;;javascript:alert(1)\x07click\x1b]8;;\x07",
        "\x1b[31m<script>alert(1)</script>",
        '\x1b[0m"><img src=x onerror=alert(1)>',
        "\x1b]0;<script>\x07",
        "\x1b[38;5;<b>m",
        "\x1b[31\n<script>",
    ],
)
def test_b60_ansi_up_4_the_colours_of_a_log_make_no_markup_and_no_link(output: str) -> None:
    drawn = "".join(ansi.lines_of(output))
    assert not re.search(r"<(?!/?span\b)", drawn)
    assert "href" not in drawn
    assert "\x1b" not in drawn


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "C:\\x", "a/b", "..", "", "a\x00b", "x\n", "\u202egpj.exe"]
)
def test_b62_xagent_420_a_name_that_is_a_path_names_no_file(world: World, agent: Caller, name: str) -> None:
    grant = claimed(world, agent, input={"task": "x"})
    item = {"name": name, "kind": "file", "sha256": "a" * 64, "size": 1, "mediaType": "text/plain"}
    body = {"fence": grant["fence"], "inputDigest": grant["inputDigest"], "result": {}, "evidence": [item]}
    answer = agent.post(f"/attempts/{grant['attemptId']}/deliver", body)
    assert (answer.status, answer.code) in ((400, "MALFORMED"), (409, "NOT_STAGED"), (422, "UNPROCESSABLE"))
    traversal = agent.put(f"/attempts/{grant['attemptId']}/files/..%2f..%2fx", b"x")
    assert traversal.status == 404


@pytest.mark.parametrize("coding", ["gzip", "zstd", "br", "deflate", "identity, gzip"])
def test_b63_headroom_3284_an_encoded_body_is_not_unpacked(world: World, agent: Caller, coding: str) -> None:
    answer = agent.call(
        "POST",
        f"/pools/{world.pool.name}/claim-next",
        raw=b"\x1f\x8b" + bytes(20_000),
        headers={"Content-Encoding": coding},
    )
    assert (answer.status, answer.code) == (415, "UNSUPPORTED_MEDIA")


@pytest.mark.parametrize("origin", ["https://evil.example", "null", None, "https://testserver.evil.example"])
def test_b64_danbyte_228_a_socket_is_opened_for_our_own_pages_only(
    pages: PageWorld, client: Client, settings: LazySettings, origin: str | None
) -> None:
    settings.ALLOWED_HOSTS = ["testserver"]
    client.force_login(pages.ines)
    cookie = f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"
    headers = [(b"host", b"testserver"), (b"cookie", cookie.encode())]
    if origin is not None:
        headers.append((b"origin", origin.encode()))

    scope = {"type": "websocket", "path": "/ws", "raw_path": b"/ws", "query_string": b"", "headers": headers}

    async def answer() -> str:
        socket = ApplicationCommunicator(application, {**scope, "subprotocols": []})
        await socket.send_input({"type": "websocket.connect"})
        message = await socket.receive_output(10)
        return str(message["type"])

    assert asyncio.run(answer()) == "websocket.close"


def test_b65_home_assistant_169272_a_token_in_an_address_is_refused(
    world: World, agent: Caller, nobody: Caller
) -> None:
    for query in (f"token={agent.token}", f"access_token={agent.token}", f"q={agent.token}"):
        answer = nobody.get(f"/whoami?{query}")
        assert answer.status == 401
        assert str(agent.token) not in str(answer.body)


def test_b65_home_assistant_169272_no_log_line_carries_a_token(world: World, agent: Caller) -> None:
    """Through the formatter of every process: paths, fields and tracebacks."""
    options = dict(logging_of("INFO")["formatters"]["json"])
    lines, formatter = io.StringIO(), options.pop("()")
    handler = logging.StreamHandler(lines)
    handler.setFormatter(formatter(**options))
    logging.getLogger().addHandler(handler)
    try:
        agent.get(f"/tasks?q={agent.token}")
        agent.post(f"/pools/{world.pool.name}/claim-next", {"schedulerEpoch": "x", "token": agent.token})
    finally:
        logging.getLogger().removeHandler(handler)
    written = lines.getvalue()
    assert "request_started" in written
    assert str(agent.token) not in written
    assert "fp_***" in written


def test_b67_worklenz_396_nothing_of_another_pool_can_be_told_from_nothing(
    world: World, agent: Caller
) -> None:
    """Each address of the API that names something: what is foreign is answered as what is missing."""
    foreign = a_world()
    delivery = foreign.delivered()
    theirs = {
        "pool": foreign.pool.name, "task_id": delivery.task_id, "attempt_id": delivery.attempt_id,
        "delivery_id": delivery.id, "effect_id": "e" * 64, "sha256": "a" * 64,
    }  # fmt: skip
    absent = {**theirs, "pool": "no-such-pool"} | dict.fromkeys(
        ("task_id", "attempt_id", "delivery_id"), MISSING
    )
    asked = 0
    for route, names in routes(get_resolver("config.urls_api").url_patterns):
        if not names or not route.startswith("api/v1/"):
            continue
        for method in ("GET", "POST", "PUT"):
            answers = [
                agent.call(method, _path(route, named), {} if method != "GET" else None)
                for named in (theirs, absent)
            ]
            bodies = [{k: v for k, v in answer.body.items() if k != "requestId"} for answer in answers]
            assert answers[0].status in (404, 405, 403), (method, route, answers[0].body)
            assert (answers[0].status, bodies[0]) == (answers[1].status, bodies[1]), (method, route)
            asked += answers[0].status == 404
    assert asked > 15


def _path(route: str, named: dict[str, Any]) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(named[found[1]]), route.removeprefix("api/v1"))


def test_b67_worklenz_396_a_page_of_another_pool_is_a_page_that_is_not_there(
    pages: PageWorld, delivery: Delivery, client: Client
) -> None:
    client.force_login(pages.stranger)
    for path in (
        f"/tasks/T-{delivery.task.number}",
        f"/reviews/{delivery.id}",
        f"/reviews/{delivery.id}/sheet/commands",
    ):
        assert client.get(path).status_code == 404
    acts = [client.post(f"/operations/{task}/act", {"do": "release"}) for task in (delivery.task_id, uuid4())]
    assert [answer.status_code for answer in acts] in ([403, 403], [404, 404])
