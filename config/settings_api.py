"""Settings of the lean `api` process: the JSON API alone, bearer tokens, no sessions, no CSRF."""

from config.settings import *  # noqa: F403 - the same settings, with fewer addresses and middleware

ROOT_URLCONF = "config.urls_api"
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.calls.CallLogMiddleware",
]

# A long poll holds a thread of granian, which has few: most of them stay free for everybody else.
FENCEPOST_API_WAITERS = 1
