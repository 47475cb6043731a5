"""How screenshots are looked at: modes and sizes in the address, each a link that keeps the rest."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.test import Client

from claims import transitions
from claims.decide import Judgement
from claims.models import Delivery, Task
from reviews.desk.evidence.lens import MODES, WIDTHS, ZOOMS, Lens, lens_of
from tests.support import deliveries
from tests.unit.reviews.world import World, as_person, done


@pytest.fixture
def second(world: World, task: Task, delivery: Delivery) -> Delivery:
    """A round with another before it, whose pictures have the same names."""
    judged = Judgement(delivery.subject_digest, {}, "Once more.", "Ines is away.")
    done(transitions.request_changes(as_person(world.ben), delivery.pk, judged))
    items = [
        deliveries.item(
            "billing-empty-390", "screenshot", deliveries.picture(390, label="now"), page="/", width=390
        ),
        deliveries.usual_items(diff=deliveries.IN_SCOPE)[0],
    ]
    return deliveries.deliver(task, world.agents["agent-7"], deliveries.next_fence(task), items)


def shots_of(client: Client, address: str) -> str:
    """The section of the screenshots."""
    body = client.get(address).content.decode()
    return body[body.index('<section id="shots"') : body.index('<section id="diff"')]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("zoom", ZOOMS)
def test_what_an_address_says_of_pictures_goes_on_with_every_link(mode: str, width: str, zoom: str) -> None:
    lens = replace(Lens(), mode=mode, width=width, zoom=zoom)
    query = dict(part.split("=") for part in lens.query(tab="shots").split("&"))

    assert lens_of(query) == lens


def test_a_size_that_is_not_offered_is_the_fitting_one() -> None:
    assert lens_of({"zoom": "9000"}).zoom == "fit"


def test_overlay_is_offered_where_another_round_is_and_a_script_runs(
    ines: Client, delivery: Delivery, second: Delivery
) -> None:
    shots = shots_of(ines, f"/reviews/{second.pk}?tab=shots&mode=overlay&zoom=200")

    assert 'data-mode="overlay"' in shots
    (link,) = re.findall(r'<a href="[^"]*"(?= data-shots="overlay")[^>]*>', shots)
    assert "data-needs-script hidden" in link
    assert "zoom=200" in link
    assert "Black is the same in rounds 1 and 2" in shots
    assert "data-differs" not in shots_of(ines, f"/reviews/{delivery.pk}?tab=shots")


def test_sizes_are_links_that_keep_the_mode(ines: Client, second: Delivery) -> None:
    shots = shots_of(ines, f"/reviews/{second.pk}?tab=shots&mode=single&width=1280")

    links = re.findall(r'href="([^"]*)" data-zoom="(\w+)"', shots)
    assert [size for _, size in links] == list(ZOOMS)
    assert all("mode=single&width=1280" in address.replace("&amp;", "&") for address, _ in links)


def test_a_picture_that_may_be_larger_than_its_box_is_reached_by_keyboard(
    ines: Client, second: Delivery
) -> None:
    address = f"/reviews/{second.pk}?tab=shots"

    assert "tabindex" not in re.findall(r'<div class="frames"[^>]*>', shots_of(ines, address))[0]
    (box, *_) = re.findall(r'<div class="frames"[^>]*>', shots_of(ines, f"{address}&zoom=100"))
    assert 'role="group" aria-label="Pictures of billing-empty-390" tabindex="0"' in box
