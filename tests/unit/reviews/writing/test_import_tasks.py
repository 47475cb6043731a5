"""Import: files become tasks of a person, are left alone, or every flaw is told; by command and by page."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from claims.models import Dependency, IdempotencyKey, Task
from claims.taskfile import MOST_BYTES
from reviews.models import ImportedTemplate
from tests.unit.reviews.world import World
from tests.unit.reviews.writing.conftest import text_of

HELLO = "title: Say hello\ntask: Say hello in the door.\nacceptance:\n  - text: It says hello\n"


def imported(path: Path, person: User, *words: str) -> str:
    said = StringIO()
    call_command("import_tasks", str(path), "--as", person.username, *words, stdout=said, stderr=StringIO())
    return said.getvalue()


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def numbers() -> list[int]:
    return list(Task.objects.order_by("number").values_list("number", flat=True))


def send(client: Client, **files: str) -> tuple[int, str]:
    sent = [SimpleUploadedFile(f"{name}.yaml", text.encode()) for name, text in files.items()]
    answer = client.post("/tasks/import", {"files": sent, "pool": "billing"})
    return answer.status_code, text_of(answer)


def test_a_folder_becomes_tasks_of_the_person_in_the_order_of_names(world: World, tmp_path: Path) -> None:
    write(tmp_path, b=HELLO.replace("hello", "bye"), a=HELLO + "pool: billing\n")
    (tmp_path / "notes.txt").write_text("not read")

    said = imported(tmp_path, world.mira, "--pool", "billing").splitlines()

    tasks = list(Task.objects.order_by("number"))
    assert [task.title for task in tasks] == ["Say hello", "Say bye"]
    assert {task.created_by for task in tasks} == {"mira"}
    assert said == [
        f"created    T-{tasks[0].number}  Say hello  ({tmp_path / 'a.yaml'})",
        f"created    T-{tasks[1].number}  Say bye  ({tmp_path / 'b.yaml'})",
        "2 created, 0 unchanged, 0 refused.",
    ]


def test_the_same_file_makes_no_second_task_also_when_keys_are_forgotten(
    world: World, tmp_path: Path
) -> None:
    file = write(tmp_path, a=HELLO) / "a.yaml"
    imported(file, world.mira, "--pool", "billing")
    (number,) = numbers()
    IdempotencyKey.objects.all().delete()

    again = imported(file, world.mira, "--pool", "billing").splitlines()

    assert again == [f"unchanged  T-{number}  Say hello  ({file})", "0 created, 1 unchanged, 0 refused."]
    assert numbers() == [number]


def test_a_file_that_was_not_recorded_as_imported_is_known_by_its_key(world: World, tmp_path: Path) -> None:
    file = write(tmp_path, a=HELLO) / "a.yaml"
    imported(file, world.mira, "--pool", "billing")
    ImportedTemplate.objects.all().delete()

    imported(file, world.mira, "--pool", "billing")

    assert len(numbers()) == 1
    assert ImportedTemplate.objects.count() == 1


def test_a_changed_file_beside_an_unchanged_one_waits_for_the_task_there_is(
    world: World, tmp_path: Path
) -> None:
    write(tmp_path, a=HELLO + "nodeId: hello\n")
    imported(tmp_path, world.mira, "--pool", "billing")
    (first,) = numbers()
    write(tmp_path, b=HELLO.replace("hello", "bye") + "dependsOn: [hello]\n")

    said = imported(tmp_path, world.mira, "--pool", "billing")

    assert said.splitlines()[0].startswith(f"unchanged  T-{first}")
    assert "1 created, 1 unchanged" in said
    edge = Dependency.objects.get()
    assert edge.predecessor_lineage == Task.objects.get(number=first).lineage_id


def test_the_same_text_twice_is_one_task(world: World, tmp_path: Path) -> None:
    write(tmp_path, a=HELLO, b=HELLO)
    said = imported(tmp_path, world.mira, "--pool", "billing")
    assert said.splitlines()[-1] == "1 created, 1 unchanged, 0 refused."
    assert len(numbers()) == 1


def test_every_flaw_of_every_file_is_told_and_nothing_is_made(world: World, tmp_path: Path) -> None:
    write(
        tmp_path, a="task: x\nscop: {}\npriority: 12\n", b=HELLO, c="task: x\n", e=HELLO + "pool: billing\n"
    )
    (tmp_path / "d.yml").write_bytes(b"\xff")
    told = StringIO()

    with pytest.raises(CommandError, match=r"No task was made: 0 created, 0 unchanged, 5 refused\."):
        call_command("import_tasks", str(tmp_path), "--as", "mira", stdout=StringIO(), stderr=told)

    none = "it names no pool; write one, or choose one for such files"
    assert told.getvalue().splitlines() == [
        f"{tmp_path}/a.yaml:2:1: there is no key scop; did you mean scope?",
        f"{tmp_path}/a.yaml:3:11: priority: must be a whole number from 0 to 9",
        f"{tmp_path}/b.yaml:1:1: {none}",
        f"{tmp_path}/c.yaml:1:1: {none}",
        f"{tmp_path}/d.yml:1:1: the file is not text in UTF-8",
        f"{tmp_path}/e.yaml: Held back, because {tmp_path}/a.yaml has flaws.",
    ]
    assert not numbers()


def test_only_a_preparer_of_the_pool_can_import(world: World, tmp_path: Path) -> None:
    write(tmp_path, a=HELLO)
    for person, pool, says in (
        ("ben", "billing", "Only a preparer of the pool can write tasks."),
        ("mira", "nowhere", "There is no pool nowhere in which mira has a right."),
    ):
        told = StringIO()
        with pytest.raises(CommandError, match="1 refused"):
            call_command(
                "import_tasks", str(tmp_path), "--as", person, "--pool", pool, stdout=StringIO(), stderr=told
            )
        assert told.getvalue() == f"{tmp_path}/a.yaml: {says}\n"
    with pytest.raises(CommandError, match="There is no person nobody"):
        imported(tmp_path, User(username="nobody"), "--pool", "billing")
    assert not numbers()


def test_what_makes_no_sense_in_the_pool_names_its_file(world: World, tmp_path: Path) -> None:
    write(tmp_path, a=HELLO, b=HELLO + "reviewPolicy: NONE\n")
    told = StringIO()
    with pytest.raises(CommandError, match="2 refused"):
        call_command(
            "import_tasks", str(tmp_path), "--as", "mira", "--pool", "billing", stdout=StringIO(), stderr=told
        )
    assert told.getvalue().splitlines() == [
        f"{tmp_path}/a.yaml: Held back, because {tmp_path}/b.yaml was refused.",
        f"{tmp_path}/b.yaml: reviewPolicy: the pool billing asks for a review of every task.",
    ]
    assert not numbers()


def test_a_path_that_holds_no_template_is_said_in_one_sentence(world: World, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no YAML file in"):
        imported(tmp_path, world.mira)
    with pytest.raises(CommandError, match=r"absent\.yaml cannot be read: No such file or directory\."):
        imported(tmp_path / "absent.yaml", world.mira)


def test_the_page_reports_created_unchanged_and_refused(mira: Client) -> None:
    status, page = send(mira, a=HELLO)
    assert (status, "1 created, 0 unchanged, 0 refused" in page) == (200, True)
    (number,) = numbers()
    status, page = send(mira, a=HELLO, b=HELLO.replace("hello", "bye"))
    assert (status, "1 created, 1 unchanged, 0 refused" in page) == (200, True)
    assert f"T-{number}" in page
    status, page = send(mira, c="task: x\nscop: {}\n", d=HELLO.replace("hello", "good day"))
    assert (status, "0 created, 0 unchanged, 2 refused" in page) == (422, True)
    assert "line 2, column 1: there is no key scop; did you mean scope?" in page
    assert "Held back, because c.yaml has flaws." in page
    assert len(numbers()) == 2


def test_a_circle_across_the_files_is_told(mira: Client) -> None:
    one, two = HELLO + "nodeId: a\ndependsOn: [b]\n", HELLO + "nodeId: b\ndependsOn: [a]\n"
    status, page = send(mira, a=one, b=two)
    assert status == 422
    assert "The dependencies go round in a circle: a -> b -> a." in page


def test_the_page_refuses_nothing_chosen_and_what_is_too_large(mira: Client) -> None:
    answer = mira.post("/tasks/import", {"pool": "billing"})
    assert answer.status_code == 422
    assert "Choose at least one file." in text_of(answer)
    status, page = send(mira, a="é" * MOST_BYTES)
    assert status == 422
    assert f"a template has at most {MOST_BYTES} bytes" in page


def test_who_prepares_nowhere_has_no_import(world: World, client: Client) -> None:
    client.force_login(world.ben)
    assert client.get("/tasks/import").status_code == 403
