"""`manage.py import_tasks`: files become tasks of a person, or every flaw is told."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from claims.models import Task
from tests.support.world import World

HELLO = "title: Say hello\ntask: Say hello in the door.\nacceptance:\n  - text: It says hello\n"


def imported(path: Path, person: User, *words: str) -> str:
    said = StringIO()
    call_command("import_tasks", str(path), "--as", person.username, *words, stdout=said)
    return said.getvalue()


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_folder_becomes_tasks_of_the_person_in_the_order_of_names(world: World, tmp_path: Path) -> None:
    write(tmp_path, b=HELLO.replace("hello", "bye"), a=HELLO + f"pool: {world.pool.name}\n")
    (tmp_path / "notes.txt").write_text("not read")

    said = imported(tmp_path, world.preparer, "--pool", world.pool.name).splitlines()

    tasks = list(Task.objects.filter(pool=world.pool).order_by("number"))
    assert [task.title for task in tasks] == ["Say hello", "Say bye"]
    assert {task.created_by for task in tasks} == {world.preparer.username}
    assert said == [
        f"T-{tasks[0].number}  Say hello  ({tmp_path / 'a.yaml'})",
        f"T-{tasks[1].number}  Say bye  ({tmp_path / 'b.yaml'})",
        f"2 tasks in the pool {world.pool.name}.",
    ]


def test_the_same_file_again_makes_no_second_task(world: World, tmp_path: Path) -> None:
    file = write(tmp_path, a=HELLO) / "a.yaml"
    first = imported(file, world.preparer, "--pool", world.pool.name)

    assert imported(file, world.preparer, "--pool", world.pool.name) == first
    assert Task.objects.filter(pool=world.pool).count() == 1


def test_every_flaw_of_every_file_is_told_and_nothing_is_made(world: World, tmp_path: Path) -> None:
    write(tmp_path, a="task: x\nscop: {}\npriority: 12\n", b=HELLO, c="task: x\n")
    (tmp_path / "d.yml").write_bytes(b"\xff")
    told = StringIO()

    with pytest.raises(CommandError, match="No task was made: 4 of 4 files have flaws"):
        call_command("import_tasks", str(tmp_path), "--as", world.preparer.username, stderr=told)

    assert told.getvalue().splitlines() == [
        f"{tmp_path}/a.yaml:2:1: there is no key scop; did you mean scope?",
        f"{tmp_path}/a.yaml:3:11: priority: must be a whole number from 0 to 9",
        f"{tmp_path}/b.yaml:1:1: it names no pool; write one, or give --pool",
        f"{tmp_path}/c.yaml:1:1: it names no pool; write one, or give --pool",
        f"{tmp_path}/d.yml:1:1: the file is not text in UTF-8",
    ]
    assert not Task.objects.filter(pool=world.pool).exists()


def test_only_a_preparer_of_the_pool_can_import(world: World, tmp_path: Path) -> None:
    write(tmp_path, a=HELLO)

    with pytest.raises(CommandError, match="Only a preparer of the pool can write tasks"):
        imported(tmp_path, world.reviewer, "--pool", world.pool.name)
    with pytest.raises(CommandError, match=r"There is no pool nowhere in which .* has a right"):
        imported(tmp_path, world.preparer, "--pool", "nowhere")
    with pytest.raises(CommandError, match="There is no person nobody"):
        imported(tmp_path, User(username="nobody"), "--pool", world.pool.name)


def test_what_makes_no_sense_in_the_pool_names_its_file(world: World, tmp_path: Path) -> None:
    write(tmp_path, a=HELLO, b=HELLO + "reviewPolicy: NONE\n")

    with pytest.raises(CommandError, match=r"b\.yaml: reviewPolicy: the pool .* asks for a review"):
        imported(tmp_path, world.preparer, "--pool", world.pool.name)
    assert not Task.objects.filter(pool=world.pool).exists()


def test_a_path_that_holds_no_template_is_said_in_one_sentence(world: World, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no YAML file in"):
        imported(tmp_path, world.preparer)
    with pytest.raises(CommandError, match=r"absent\.yaml cannot be read: No such file or directory\."):
        imported(tmp_path / "absent.yaml", world.preparer)
