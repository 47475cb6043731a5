"""Two probes for whoever runs Fencepost.

`healthz` says that this process answers. `readyz` says that it can do its work: PostgreSQL answers.
Redis is not asked, because Fencepost works without it.
"""

from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while the process lives."""
    return HttpResponse("ok\n", content_type="text/plain", headers={"Cache-Control": "no-store"})


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 when PostgreSQL answers a query, 503 when it does not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        connection.close()
        return HttpResponse("PostgreSQL does not answer\n", status=503, content_type="text/plain")
    return HttpResponse("ready\n", content_type="text/plain", headers={"Cache-Control": "no-store"})
