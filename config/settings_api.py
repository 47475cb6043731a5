"""Settings of the lean `api` process: the JSON API alone, bearer tokens, no sessions, no CSRF."""

import logging

from config.settings import *  # noqa: F403 - the same settings, with fewer addresses and middleware

ROOT_URLCONF = "config.urls_api"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
]

# A long poll holds a thread of granian, which has few: most of them stay free for everybody else.
FENCEPOST_API_WAITERS = 1

# One line of log for a call, at its end; the line at its start is for finding calls that never end.
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG
