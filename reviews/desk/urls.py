"""The decision page and operations."""

from django.urls import path

from reviews.desk import bundle, comparing, conflict, deciding, views
from reviews.desk import bytes as evidence
from reviews.operations import acting, pools
from reviews.operations import views as operations

_DELIVERY = "reviews/<uuid:delivery>"

urlpatterns = [
    path(_DELIVERY, views.show, name="review"),
    path(f"{_DELIVERY}/arrival", views.arrival, name="review-arrival"),
    path(f"{_DELIVERY}/presence", views.presence, name="review-presence"),
    path(f"{_DELIVERY}/save", views.save, name="review-save"),
    path(f"{_DELIVERY}/viewed", views.viewed, name="review-viewed"),
    path(f"{_DELIVERY}/sheet/<slug:sheet>", views.sheet, name="review-sheet"),
    path(f"{_DELIVERY}/diff/<int:index>", views.file, name="review-file"),
    path(f"{_DELIVERY}/commands/<int:number>", views.command, name="review-command"),
    path(f"{_DELIVERY}/decide", deciding.decide, name="review-decide"),
    path(f"{_DELIVERY}/draft", conflict.kept, name="review-draft"),
    path(f"{_DELIVERY}/draft/settle", conflict.settle, name="review-settle"),
    path(f"{_DELIVERY}/compare", comparing.compare, name="review-compare"),
    path(f"{_DELIVERY}/bundle.zip", bundle.bundle, name="review-bundle"),
    path(f"{_DELIVERY}/files/<str:sha256>", evidence.download, name="review-bytes"),
    path(f"{_DELIVERY}/shots/<str:sha256>.png", evidence.picture, name="review-shot"),
    path("operations", operations.page, name="operations"),
    path("operations/<uuid:task>/act", acting.act, name="operations-act"),
    path("operations/pools/<str:pool>/act", pools.act, name="operations-pool"),
]
