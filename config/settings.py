"""Django's settings of Fencepost, all of them from the environment through `config.readers`.

The process does not start on a missing or unreadable variable. Production and development differ
only in variables: secure cookies and HTTPS rules follow from FENCEPOST_URL starting with https://.
"""

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kombu import Queue

from config.logs import logging_of
from config.readers import read
from config.up.chromium import found_chromium

BASE_DIR = Path(__file__).resolve().parent.parent
_env = read(os.environ)

FENCEPOST_VAR: Path = _env["FENCEPOST_VAR"]
FENCEPOST_URL: str = _env["FENCEPOST_URL"].rstrip("/")
FENCEPOST_REDIS_URL: str = _env["FENCEPOST_REDIS_URL"]
FENCEPOST_BROKER_URL: str = _env["FENCEPOST_BROKER_URL"]
FENCEPOST_EVIDENCE_URL: str = _env["FENCEPOST_EVIDENCE_URL"]
FENCEPOST_ENVIRONMENT_NAME: str = _env["FENCEPOST_ENVIRONMENT_NAME"]
FENCEPOST_REPOSITORIES: Path = Path(_env["FENCEPOST_REPOSITORIES"] or FENCEPOST_VAR / "repositories")
FENCEPOST_CHROMIUM: str = _env["FENCEPOST_CHROMIUM"] or found_chromium() or ""
FENCEPOST_PREPARED_STATEMENTS: bool = _env["FENCEPOST_PREPARED_STATEMENTS"]
FENCEPOST_API_CALLS_IN_TEN_SECONDS: int = _env["FENCEPOST_API_CALLS_IN_TEN_SECONDS"]
FENCEPOST_VISIBILITY_TIMEOUT_SECONDS: int = _env["FENCEPOST_VISIBILITY_TIMEOUT_SECONDS"]
FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS: int = _env["FENCEPOST_ATTEMPT_TIME_LIMIT_SECONDS"]
FENCEPOST_UPKEEP_TIME_LIMIT_SECONDS: int = _env["FENCEPOST_UPKEEP_TIME_LIMIT_SECONDS"]
FENCEPOST_API_WAITERS = 24  # long polls a process of `web` keeps waiting, of its 32 threads for them
FENCEPOST_LOOKUP_HOSTS: list[str] = _env["FENCEPOST_LOOKUP_HOSTS"]
FENCEPOST_LOOKUP_COMMANDS: dict[str, list[str]] = _env["FENCEPOST_LOOKUP_COMMANDS"]
FENCEPOST_TRUSTED_PROXY: bool = _env["FENCEPOST_TRUSTED_PROXY"]
FENCEPOST_SESSION_ABSOLUTE_SECONDS: int = _env["FENCEPOST_SESSION_ABSOLUTE_SECONDS"]

SECRET_KEY: str = _env["FENCEPOST_SECRET_KEY"]
DEBUG: bool = _env["FENCEPOST_DEBUG"]
ALLOWED_HOSTS: list[str] = _env["FENCEPOST_ALLOWED_HOSTS"]
IS_HTTPS = FENCEPOST_URL.startswith("https://")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "django_htmx",
    "django_structlog",
    "ninja",
    "pgtrigger",
    "template_partials",
    "config",
    "claims",
    "reviews",
    "agents",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django_structlog.middlewares.RequestMiddleware",
    "config.plans.OwnPlansMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.sessions.SessionLifetimeMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
FORM_RENDERER = "django.forms.renderers.DjangoTemplates"

# PostgreSQL. Limits are set on the session, so that a wait that never ends becomes an error.
_session_options = {
    "default_transaction_isolation": r"read\ committed",
    "lock_timeout": _env["FENCEPOST_LOCK_TIMEOUT_MS"],
    "idle_in_transaction_session_timeout": _env["FENCEPOST_IDLE_TRANSACTION_TIMEOUT_MS"],
    "statement_timeout": _env["FENCEPOST_STATEMENT_TIMEOUT_MS"],
    "timezone": "UTC",
}
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        **_env["FENCEPOST_DATABASE_URL"],
        "ENGINE": "django.db.backends.postgresql",
        "CONN_MAX_AGE": _env["FENCEPOST_DATABASE_CONNECTION_SECONDS"],
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": not FENCEPOST_PREPARED_STATEMENTS,
        "OPTIONS": {
            **_env["FENCEPOST_DATABASE_URL"].get("OPTIONS", {}),
            "options": " ".join(f"-c {name}={value}" for name, value in _session_options.items()),
            "server_side_binding": True,
            "prepare_threshold": 2 if FENCEPOST_PREPARED_STATEMENTS else None,
            "application_name": os.environ.get("FENCEPOST_PROCESS", "fencepost"),
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis or Valkey: hints and caches, never the truth.
CACHES = {
    "default": {
        "BACKEND": "config.caches.ForgivingRedisCache",
        "LOCATION": FENCEPOST_REDIS_URL,
        "KEY_PREFIX": "fencepost",
        "TIMEOUT": 300,
    }
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # What is published reaches every database of a server: two Fenceposts on one have each their number.
        "CONFIG": {
            "hosts": [FENCEPOST_REDIS_URL],
            "prefix": f"fencepost{urlsplit(FENCEPOST_REDIS_URL).path.replace('/', '-')}",
        },
    }
}

# Celery. No ETA or countdown; tasks name their queue; `SCHEDULE` of each app's tasks is beat's.
CELERY_BROKER_URL = FENCEPOST_BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": FENCEPOST_VISIBILITY_TIMEOUT_SECONDS,
    "socket_timeout": 30,
    "socket_connect_timeout": 5,
}
CELERY_TASK_QUEUES = (Queue("attempts"), Queue("upkeep"))
CELERY_TASK_DEFAULT_QUEUE = "upkeep"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_TIME_LIMIT = FENCEPOST_UPKEEP_TIME_LIMIT_SECONDS
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 4.0
CELERY_TIMEZONE = "UTC"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
DJANGO_STRUCTLOG_CELERY_ENABLED = True

# People.
LOGIN_URL = "/signin"
LOGIN_REDIRECT_URL = "/"
SESSION_ENGINE = "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = _env["FENCEPOST_SESSION_IDLE_SECONDS"]
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = IS_HTTPS
SESSION_COOKIE_NAME = "__Host-fencepost-session" if IS_HTTPS else "fencepost-session"
CSRF_COOKIE_NAME = "__Host-fencepost-csrf" if IS_HTTPS else "fencepost-csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "reviews.shell.errors.forged"
CSRF_TRUSTED_ORIGINS = [FENCEPOST_URL] if IS_HTTPS else []
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
_VALIDATORS = "django.contrib.auth.password_validation."
AUTH_PASSWORD_VALIDATORS: list[dict[str, Any]] = [
    {"NAME": _VALIDATORS + "UserAttributeSimilarityValidator"},
    {"NAME": _VALIDATORS + "MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": _VALIDATORS + "CommonPasswordValidator"},
    {"NAME": _VALIDATORS + "NumericPasswordValidator"},
]

# Browsers.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
        "object-src": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = IS_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
SECURE_HSTS_SECONDS = _env["FENCEPOST_HSTS_SECONDS"] if IS_HTTPS else 0
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if FENCEPOST_TRUSTED_PROXY else None
SILENCED_SYSTEM_CHECKS = [
    "security.W005",  # whether other hosts below this one speak HTTPS is the operator's to know
    "security.W021",  # preloading is a promise about a whole domain, not Fencepost's to make
]
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2000
FILE_UPLOAD_PERMISSIONS = 0o600

# Files.
STATIC_URL = "/static/"
STATIC_ROOT = FENCEPOST_VAR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Ours and what is recorded beside it; no copy of a library that some application brings along.
STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]


def _evidence_storage(url: str) -> dict[str, Any]:
    """Django storage of evidence: `file:///folder`, or `s3://bucket/prefix` with django-storages."""
    parts = urlsplit(url)
    if parts.scheme == "file":
        options = {"location": unquote(parts.path), "directory_permissions_mode": 0o700}
        return {"BACKEND": "claims.evidence.storage.WholeFiles", "OPTIONS": options}
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.netloc,
            "location": parts.path.strip("/"),
            "default_acl": None,
            "querystring_auth": True,
            "file_overwrite": False,
        },
    }


STORAGES = {
    "default": _evidence_storage(FENCEPOST_EVIDENCE_URL),
    "evidence": _evidence_storage(FENCEPOST_EVIDENCE_URL),
    "staticfiles": {"BACKEND": "config.static_files.NamedModules"},
}

LANGUAGE_CODE = "en-gb"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING = logging_of(_env["FENCEPOST_LOG_LEVEL"])
