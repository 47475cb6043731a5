"""The CSV export."""

import unittest

from app.export import export_csv
from app.store import get_cust


class ExportTest(unittest.TestCase):
    def test_each_invoice_has_a_line(self):
        customer = get_cust("halyard")
        lines = export_csv(customer).splitlines()
        for invoice in customer.invoices:
            self.assertTrue(any(line.startswith(invoice.number + ",") for line in lines), invoice.number)

    def test_the_newest_invoice_comes_first(self):
        numbers = [
            line.split(",")[0] for line in export_csv(get_cust("kobo")).splitlines() if line.startswith("TK-")
        ]
        self.assertEqual(numbers, sorted(numbers, reverse=True))
