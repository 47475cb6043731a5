"""Amounts."""

import unittest

from app.money import format_amount, total_of


class MoneyTest(unittest.TestCase):
    def test_a_total_is_the_sum_of_its_amounts(self):
        self.assertEqual(total_of([9900, 11250, -4550]), 16600)

    def test_an_amount_has_its_digits(self):
        self.assertIn("99", format_amount(9900, "EUR"))
