"""Every address of `web`: pages at /, the JSON API at /api/v1/, and two probes."""

from django.urls import include, path

from config import probes

urlpatterns = [
    path("healthz", probes.healthz, name="healthz"),
    path("readyz", probes.readyz, name="readyz"),
    path("api/v1/", include("claims.api.urls")),
    path("", include("reviews.urls")),
]
