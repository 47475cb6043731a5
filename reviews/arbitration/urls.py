"""The attempts at a task that have evidence, side by side."""

from django.urls import path

from reviews.arbitration import acting, views
from reviews.arbitration import bytes as evidence

_ATTEMPTS = "tasks/<str:ref>/attempts"

urlpatterns = [
    path(_ATTEMPTS, views.page, name="task-attempts"),
    path(f"{_ATTEMPTS}/adopt", acting.adopt, name="task-attempts-adopt"),
    path(f"{_ATTEMPTS}/<int:generation>/files/<str:sha256>", evidence.download, name="task-attempt-bytes"),
    path(f"{_ATTEMPTS}/<int:generation>/shots/<str:sha256>.png", evidence.picture, name="task-attempt-shot"),
]
