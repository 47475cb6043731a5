"""/tasks/<task>/deps.svg and the same picture in the page: who waits for whom, bounded, and of one pool."""

from __future__ import annotations

from html import unescape
from uuid import UUID, uuid4
from xml.etree import ElementTree

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from claims import transitions
from claims.inputs import NewTask
from claims.models import Task
from claims.selectors import waiting
from claims.selectors.waiting import Graph, Waiting
from reviews.taskpage import picture
from tests.unit.reviews.world import World, as_person, done

SVG = "{http://www.w3.org/2000/svg}"


def graph_of(task: Task) -> Graph:
    return waiting.graph(task.pool_id, task.lineage_id)


def titles(graph: Graph) -> set[str]:
    return {node.title for node in graph.nodes}


def written(world: World, waits: dict[str, tuple[str, ...]]) -> dict[str, Task]:
    """A graph in one call: each node with those it waits for."""
    body = {"task": "x"}
    nodes = [NewTask(f"Node {name}", body, node_id=name, depends_on=before) for name, before in waits.items()]
    made = done(transitions.create(as_person(world.mira), "billing", nodes)).tasks
    return {one.node_id: Task.objects.get(pk=one.task_id) for one in made}


def test_both_sides_are_told_transitively_and_nothing_beside_them(world: World) -> None:
    tasks = written(
        world, {"a": (), "b": ("a",), "own": ("b",), "c": ("own",), "d": ("c",), "beside": ("a",), "lone": ()}
    )
    found = graph_of(tasks["own"])
    assert titles(found) == {f"Node {name}" for name in ("a", "b", "own", "c", "d")}
    assert (found.more_before, found.more_after, found.is_cut) == (0, 0, False)


def test_of_a_lineage_the_newest_revision_is_told(world: World) -> None:
    tasks = written(world, {"a": (), "own": ("a",)})
    done(transitions.revise(as_person(world.noor), tasks["a"].pk, 1, {"task": "y"}, "Node a again"))
    assert titles(graph_of(tasks["own"])) == {"Node a again", "Node own"}


def test_at_most_forty_are_drawn_the_nearest_and_the_rest_is_counted(world: World) -> None:
    chain = {f"n{at}": (f"n{at - 1}",) if at else () for at in range(90)}
    tasks = written(world, chain)
    found = graph_of(tasks["n60"])
    assert len(found.nodes) == waiting.DRAWN
    assert titles(found) == {f"Node n{at}" for at in range(41, 81)}
    assert (found.more_before, found.more_after) == (41, 9)
    drawn = picture.picture_of(found, tasks["n60"].lineage_id)
    assert drawn.more == "Not drawn: 41 that it waits for and 9 that wait for it, further away."


def test_one_side_takes_what_the_other_leaves(world: World) -> None:
    tasks = written(world, {"own": (), **{f"n{at}": ("own",) for at in range(50)}})
    found = graph_of(tasks["own"])
    assert (len(found.nodes), found.more_before, found.more_after) == (waiting.DRAWN, 0, 11)


def test_what_is_beyond_the_count_is_said_to_be(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "COUNTED", 45)
    tasks = written(world, {"own": (), **{f"n{at}": ("own",) for at in range(50)}})
    found = graph_of(tasks["own"])
    assert (found.more_after, found.is_cut) == (6, True)
    assert "beyond 500 on a side they are not counted" in picture.more_of(found)


def test_a_task_of_another_pool_is_not_told(world: World) -> None:
    tasks = written(world, {"a": (), "own": ("a",)})
    assert waiting.graph(world.sandbox.pk, tasks["own"].lineage_id).nodes == ()


def test_a_claim_whose_lease_ran_out_is_quiet_in_the_picture(world: World) -> None:
    tasks = written(world, {"a": (), "own": ("a",)})
    world.claim(tasks["a"], "agent-3")
    assert not any(node.is_quiet for node in graph_of(tasks["own"]).nodes)
    world.run_out(tasks["a"])
    assert [node.title for node in graph_of(tasks["own"]).nodes if node.is_quiet] == ["Node a"]


def node(number: int, key: UUID, *after: UUID, state: str = "OPEN", title: str = "A task") -> Waiting:
    return Waiting(key, number, title, state, False, after)


def test_who_is_waited_for_stands_left_of_everybody_who_waits() -> None:
    a, b, c, d = (uuid4() for _ in range(4))
    nodes = (node(1, a), node(2, b, a), node(3, c, b, a), node(4, d, a))
    drawn = picture.picture_of(Graph(nodes, 0, 0, False), c)
    places = {box.task.lineage_id: box.x for box in drawn.boxes}
    assert places[a] < places[b] < places[c]
    assert places[d] == places[b]
    assert len(drawn.lines) == 4
    assert [box.task.number for box in drawn.boxes if box.is_own] == [3]


def test_no_two_tasks_stand_on_one_another_and_all_are_inside() -> None:
    keys = [uuid4() for _ in range(12)]
    nodes = tuple(node(at, key, *keys[max(0, at - 3) : at : 2]) for at, key in enumerate(keys))
    drawn = picture.picture_of(Graph(nodes, 0, 0, False), keys[6])
    assert len({(box.x, box.y) for box in drawn.boxes}) == 12
    assert all(0 <= box.x <= drawn.width - picture.WIDE for box in drawn.boxes)
    assert all(0 <= box.y <= drawn.height - picture.HIGH for box in drawn.boxes)


def test_a_line_to_a_far_column_passes_every_task_between() -> None:
    a, b, c, d = (uuid4() for _ in range(4))
    nodes = (node(1, a), node(2, b, a), node(3, c, b, a), node(4, d, c, a))
    drawn = picture.picture_of(Graph(nodes, 0, 0, False), b)
    by_key = {box.task.lineage_id: box for box in drawn.boxes}
    far = next(line for line in drawn.lines if line.count("H") == 2)
    lanes = [float(part.split("C")[0]) for part in far.split("H")[1:]]
    assert lanes == [by_key[b].x + picture.WIDE, by_key[c].x + picture.WIDE]
    heights = {float(part.rsplit(" ", 1)[1]) for part in far.split("H")[:-1]}
    for box in (by_key[b], by_key[c]):
        assert not any(box.y <= height <= box.y + picture.HIGH for height in heights)


def test_a_long_title_is_cut_in_the_box_and_whole_in_its_name() -> None:
    key = uuid4()
    drawn = picture.picture_of(Graph((node(1, key, title="x" * 80),), 0, 0, False), key)
    assert drawn.boxes[0].title == "x" * 25 + "…"
    assert drawn.boxes[0].task.title == "x" * 80


@pytest.fixture
def around(world: World) -> dict[str, Task]:
    """A task between two others; a title that would break a page."""
    return written(world, {"a": (), "own": ("a",), "c": ("own",)})


def test_the_file_is_a_picture_that_runs_and_loads_nothing(
    ines: Client, world: World, around: dict[str, Task]
) -> None:
    done(
        transitions.adjust(as_person(world.noor), around["a"].pk, {"title": "<script>alert(1)</script> & co"})
    )
    answer = ines.get(f"/tasks/{around['own']}/deps.svg")
    root = ElementTree.fromstring(answer.content)
    links = [one.attrib["href"] for one in root.iter(f"{SVG}a")]
    assert answer["Content-Type"] == "image/svg+xml"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert sorted(links) == sorted(f"/tasks/{task}" for task in around.values())
    assert b"<script>" not in answer.content
    words = [one.text for one in root.iter(f"{SVG}text")]
    assert {"Open", "Blocked"} <= set(words)


def test_the_page_holds_the_same_picture_with_a_name_and_a_way_to_the_file(
    ines: Client, around: dict[str, Task]
) -> None:
    body = unescape(ines.get(f"/tasks/{around['own']}/spec").content.decode())
    drawn = body.split('class="deps"')[1].split("</div>")[0]
    assert f"What {around['own']} waits for, at its left, and what waits for it, at its right" in drawn
    assert drawn.count("<a href=") == 3
    assert f'href="/tasks/{around["own"]}/deps.svg"' in body
    assert "fill=" not in drawn.replace('fill="currentColor"', "")
    timeline = unescape(ines.get(f"/tasks/{around['own']}/timeline").content.decode())
    assert f'href="/tasks/{around["own"]}/spec#graph"' in timeline
    assert 'class="deps"' not in timeline


def test_a_task_that_waits_for_nothing_has_no_picture_and_asks_for_none(ines: Client, world: World) -> None:
    assert 'class="deps"' not in ines.get(f"/tasks/{world.write('Alone')}/spec").content.decode()


def test_who_may_not_see_the_pool_does_not_find_the_file(
    client: Client, world: World, around: dict[str, Task]
) -> None:
    client.force_login(world.stranger)
    assert client.get(f"/tasks/{around['own']}/deps.svg").status_code == 404


@pytest.mark.parametrize(("path", "most"), [("deps.svg", 6), ("spec", 19)])
def test_a_picture_takes_the_same_queries_however_large_the_graph_is(
    ines: Client, world: World, path: str, most: int
) -> None:
    small = written(world, {"a": (), "own": ("a",)})
    large = written(world, {f"n{at}": (f"n{at - 1}",) if at else () for at in range(60)})
    counts = []
    for task in (small["own"], large["n30"]):
        ines.get(f"/tasks/{task}/{path}")
        with CaptureQueriesContext(connection) as queries:
            ines.get(f"/tasks/{task}/{path}")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= most
