"""The pages, read as a browser gets them."""

import unittest

from app.store import get_cust
from app.views import respond


def text_of(address):
    """The body of a page."""
    return respond(address).body.decode()


class PagesTest(unittest.TestCase):
    def test_every_page_answers(self):
        for address in (
            "/",
            "/billing",
            "/billing?customer=new",
            "/plans",
            "/settings",
            "/billing?theme=dark",
        ):
            self.assertEqual(respond(address).status, 200, address)

    def test_the_history_shows_the_newest_invoice(self):
        self.assertIn(get_cust("halyard").invoices[0].number, text_of("/billing"))

    def test_the_filter_keeps_only_its_status(self):
        page = text_of("/billing?status=open")
        self.assertIn('class="pill open"', page)
        self.assertNotIn('class="pill paid"', page)

    def test_the_pagination_leads_to_the_second_page(self):
        self.assertIn("page=2", text_of("/billing?customer=halyard"))

    def test_an_invoice_has_its_lines(self):
        number = get_cust("kobo").invoices[0].number
        self.assertIn("Coast plan", text_of(f"/invoices/{number}?customer=kobo"))

    def test_a_value_is_escaped(self):
        self.assertIn("Halyard &amp; Daughters", text_of("/settings"))

    def test_an_unknown_address_is_404(self):
        self.assertEqual(respond("/nowhere").status, 404)
        self.assertEqual(respond("/static/../server.py").status, 404)
