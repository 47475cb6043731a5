"""The record of a task."""

from django.urls import path

from reviews.provenance import views

urlpatterns = [
    path("tasks/<str:ref>/record", views.page, name="task-record"),
    path("tasks/<str:ref>/record.json", views.download, name="task-record-file"),
]
