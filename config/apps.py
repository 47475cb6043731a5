"""`config` as a Django application: it brings the Celery app up, checks, and set-up commands."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Makes `shared_task` use Fencepost's Celery app in every process, and registers checks."""

    name = "config"

    def ready(self) -> None:
        """Load the Celery app and the system checks once the applications are there."""
        from config import celery, checks

        celery.app.set_default()
        checks.register()
