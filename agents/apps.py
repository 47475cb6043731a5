"""The Django application `agents`."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    """Names the application; nothing happens at import."""

    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"
