"""The pages for people: inbox, decisions, board, operations."""

from django.apps import AppConfig


class ReviewsConfig(AppConfig):
    """Everything a person sees in the browser."""

    name = "reviews"
    verbose_name = "Reviews"
