"""One function for each page. respond() finds it from the address."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from app.dates import format_date
from app.export import export_csv
from app.money import format_amount
from app.paging import items_on, nearest_page, page_count
from app.store import Customer, get_cust, plan_named, plans
from app.templating import Template, read_template

STATIC = Path(__file__).resolve().parent.parent / "static"
PAGE_SIZE = 8
STATUSES = ("paid", "open", "refunded")


@dataclass(frozen=True)
class Request:
    """What was asked for: the path, the query and the customer it is about."""

    path: str
    query: dict[str, str]
    customer: Customer


@dataclass(frozen=True)
class Response:
    """What is answered."""

    status: int
    content_type: str
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def respond(address: str) -> Response:
    """The answer to a GET of this address."""
    parts = urlsplit(address)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if parts.path.startswith("/static/"):
        return static_file(parts.path.removeprefix("/static/"))

    customer = get_cust(query.get("customer", "halyard"))
    if customer is None:
        return Response(404, "text/plain; charset=utf-8", b"not found")
    request = Request(parts.path, query, customer)
    if parts.path.startswith("/invoices/"):
        return invoice_page(request, parts.path.removeprefix("/invoices/"))
    view = VIEWS.get(parts.path)
    if view is None:
        return missing(request)
    return view(request)


def page(template: str, request: Request, title: str, status: int = 200, **values: Any) -> Response:
    """A whole page: the template inside the frame that every page has."""
    filters = {"date": format_date, "money": format_amount}
    shared = {
        "title": title,
        "customer": request.customer,
        "theme": request.query.get("theme", ""),
        "here": {name: request.path == f"/{name}" for name in ("billing", "plans", "settings")},
    }
    body = Template(read_template("base.html").replace("{{ content }}", read_template(template)), filters)
    return Response(status, "text/html; charset=utf-8", body.render({**shared, **values}).encode())


def missing(request: Request) -> Response:
    """The answer to an address that leads nowhere."""
    return Response(404, "text/plain; charset=utf-8", b"not found")


def static_file(name: str) -> Response:
    """A style sheet or script; only what lies directly in static/."""
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if name not in {file.name for file in STATIC.iterdir()}:
        return Response(404, "text/plain; charset=utf-8", b"not found")
    return Response(200, f"{kind}; charset=utf-8", (STATIC / name).read_bytes())


def billing_page(request: Request) -> Response:
    """The plan and the billing history, filtered by status, a page at a time."""
    status = request.query.get("status", "")
    found = [row for row in request.customer.invoices if status in ("", row.status)]
    pages = page_count(len(found), PAGE_SIZE)
    number = nearest_page(int(request.query.get("page", "1")), pages)
    keep = {"customer": request.customer.slug, **({"status": status} if status else {})}
    return page(
        "billing.html",
        request,
        "Billing",
        plan=plan_named(request.customer.plan),
        seats_percent=100 * request.customer.seats_used // request.customer.seats,
        invoices=items_on(found, number, PAGE_SIZE),
        statuses=[{"name": name, "text": name.capitalize(), "chosen": name == status} for name in STATUSES],
        pages=[page_link(each, number, keep) for each in range(1, pages + 1)],
        page_number=number,
        page_total=pages,
    )


def page_link(each: int, current: int, keep: dict[str, str]) -> dict[str, Any]:
    """One link of the pagination."""
    return {
        "number": each,
        "current": each == current,
        "href": "/billing?" + urlencode({**keep, "page": each}),
    }


def invoice_page(request: Request, number: str) -> Response:
    """One invoice with its lines."""
    for invoice in request.customer.invoices:
        if invoice.number == number:
            return page("invoice.html", request, f"Invoice {number}", invoice=invoice)
    return missing(request)


def plans_page(request: Request) -> Response:
    """The plans side by side."""
    rows = [{**plan, "current": plan["name"] == request.customer.plan} for plan in plans()]
    return page("plans.html", request, "Plans", plans=rows)


def settings_page(request: Request) -> Response:
    """Where invoices go and what stands on them."""
    return page("settings.html", request, "Billing settings", settings=request.customer.settings)


def export_file(request: Request) -> Response:
    """The billing history as a file."""
    headers = {"Content-Disposition": "attachment; filename=export.csv"}
    body = export_csv(request.customer).encode()
    return Response(200, "text/csv; charset=utf-8", body, headers)


VIEWS = {
    "/": billing_page,
    "/billing": billing_page,
    "/plans": plans_page,
    "/settings": settings_page,
    "/export.csv": export_file,
}
