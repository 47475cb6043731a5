"""The agents compute their work: other criteria or other files lead to another change."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

from tests.demo.conftest import DEMO, Demo, template


def asked(name: str, *texts: str, files: list[str] | None = None) -> dict[str, Any]:
    """A template with these criteria instead of its own."""
    body = template(name)
    body["acceptance"] = [{"text": text, "proof": ""} for text in texts]
    if files:
        body["scope"]["files"] = files
    return body


def test_other_copy_in_a_criterion_ends_up_in_the_page(demo: Demo) -> None:
    body = template("empty-state")
    criterion = body["acceptance"][0]
    criterion["text"] = criterion["text"].replace("No invoices yet", "Nothing billed so far")
    ran = demo.run("careful", body)
    page = (ran.workspace / "templates/billing.html").read_text(encoding="utf-8")
    assert "<h3>Nothing billed so far</h3>" in page
    assert "No invoices yet" not in ran.diff()


def test_without_a_criterion_the_change_is_smaller(demo: Demo) -> None:
    body = template("empty-state")
    whole = demo.run("careful", body).diff()
    del body["acceptance"][1]
    fewer = demo.run("careful", body).diff()
    assert len(fewer.splitlines()) < len(whole.splitlines())
    assert "pagination" not in fewer


def test_a_renamed_template_is_found(demo: Demo) -> None:
    pages = demo.repository / "templates"
    (pages / "billing.html").rename(pages / "overview.html")
    views = demo.repository / "app/views.py"
    views.write_text(
        views.read_text()
        .replace('"billing.html"', '"overview.html"')
        .replace('"/billing": ', '"/billing": billing_page, "/overview": ')
    )
    demo.commit("Call the billing page overview")
    body = template("empty-state")
    body["scope"]["files"] = ["templates/**", "static/app.css", "tests/**"]
    ran = demo.run("careful", body)
    assert ran.exit_code == 0, ran.output
    assert "templates/overview.html" in ran.changed()
    assert 'respond("/overview?customer=new")' in ran.diff()


def test_amounts_follow_the_examples(demo: Demo) -> None:
    ran = demo.run(
        "careful", asked("currency-totals", "129000 in EUR read “1.290,00 €”.", "-50 in EUR read “-0,50 €”.")
    )
    assert ran.exit_code == 0, ran.output
    assert '"EUR": ("", " €", 2)' in ran.diff()


def test_examples_that_contradict_each_other_are_not_done(demo: Demo) -> None:
    ran = demo.run(
        "careful", asked("currency-totals", "1000 in EUR read “€10.00”.", "1000 in USD read “$10,00”.")
    )
    assert ran.exit_code == 65
    assert "differ in their mark" in ran.output
    assert ran.changed() == []


def test_dates_follow_the_examples(demo: Demo) -> None:
    ran = demo.run("careful", asked("invoice-dates", "2026-03-05 reads “Thu 05 Mar 2026”."))
    assert 'f"{day:%a} {day:%d} {day:%b} {day:%Y}"' in ran.diff()


def test_a_repair_is_searched_for_and_not_known(demo: Demo) -> None:
    paging = demo.repository / "app/paging.py"
    paging.write_text(
        paging.read_text().replace("(page - 1) * size : page * size", "page * size : page * size")
    )
    paging.write_text(
        paging.read_text() + "\n\ndef first_of(page: int, size: int) -> int:\n    return page * size\n"
    )
    demo.commit("Break the pages in another way")
    ran = demo.run("careful", asked("full-last-page", "`first_of(1, 8)` is 0.", "`first_of(3, 8)` is 16."))
    assert "return (page - 1) * size" in ran.diff()


def test_a_higher_contrast_needs_a_lighter_colour(demo: Demo) -> None:
    text = "In dark mode `--muted` has a contrast of at least {}:1 on `--surface`."
    low = demo.run("careful", asked("dark-contrast", text.format("4.5"))).diff()
    high = demo.run("careful", asked("dark-contrast", text.format("7"))).diff()
    found = [
        next(line for line in diff.splitlines() if line.startswith("+  --muted")) for diff in (low, high)
    ]
    assert found[0] < found[1]


def test_a_file_outside_the_scope_is_left_alone(demo: Demo) -> None:
    body = template("filter-focus")
    body["scope"]["files"] = ["tests/**"]
    ran = demo.run("careful", body)
    assert ran.exit_code == 65
    assert ran.changed() == []


def test_a_task_that_no_skill_can_read_ends_with_65(demo: Demo) -> None:
    ran = demo.run("careful", asked("empty-state", "The page feels welcoming."))
    assert ran.exit_code == 65
    assert ran.body == {}


def test_a_criterion_that_cannot_be_read_is_named_in_the_delivery(demo: Demo) -> None:
    ran = demo.run("careful", asked("currency-totals", "9900 cents in EUR read “€99.00”.", "It is fast."))
    assert "2" not in ran.body["claims"]
    assert "Criterion 2 is not done" in ran.body["summary"]
    assert ran.body["needs"] == "Decide about what I could not do: criterion 2."


def test_every_sentence_of_the_readme_is_understood() -> None:
    listed = (DEMO / "README.md").read_text(encoding="utf-8").split("## What the agents can read")[1]
    sentences = re.findall(r"(?m)^- ([A-Z`\d].*[.”])$", listed.split("A proof may ask")[0])
    assert len(sentences) >= 27
    code = "import re, sys, run; print(*[s for s in sys.argv[1:] if not any(k.pattern.search(s) for k in run.SKILLS)])"
    command = [sys.executable, "-B", "-c", code, *sentences]
    ran = subprocess.run(command, cwd=DEMO / "workers", capture_output=True, text=True)
    assert (ran.stdout.strip(), ran.returncode) == ("", 0), ran.stderr
