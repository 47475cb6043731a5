"""The lean addresses of `api`: the JSON API and two probes; bearer tokens only."""

from django.urls import include, path

from config import probes

urlpatterns = [
    path("healthz", probes.healthz, name="healthz"),
    path("readyz", probes.readyz, name="readyz"),
    path("api/v1/", include("claims.api.urls")),
]
