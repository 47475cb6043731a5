"""The invoices of a customer as CSV."""

from __future__ import annotations

import csv
import io

from app.store import Customer


def export_csv(customer: Customer) -> str:
    """One line for each invoice, the newest first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for invoice in customer.invoices:
        writer.writerow([invoice.number, invoice.date, invoice.status, invoice.currency, invoice.total_cents])
    return text.getvalue()
