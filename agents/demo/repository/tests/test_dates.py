"""Dates."""

import unittest

from app.dates import format_date


class DatesTest(unittest.TestCase):
    def test_a_date_has_its_year(self):
        self.assertIn("2026", format_date("2026-03-05"))

    def test_a_text_that_is_no_date_is_refused(self):
        with self.assertRaises(ValueError):
            format_date("soon")
