"""Settings of the test run: those of production, with the differences below, each with its reason."""

import os
import re

from tests.support.workers import with_own_database

# Several processes may share the tests of a run; each has a database of Valkey of its own.
with_own_database(os.environ)

from config.settings import *  # noqa: E402, F403 - the settings under test
from config.settings import DATABASES, STORAGES  # noqa: E402

# Tests do not run collectstatic, so pages name files without their hash.
STORAGES = {
    **STORAGES,
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# Hundreds of users are made; the real hasher is slow on purpose.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# A rolled-back test is one long transaction that idles while Python works.
DATABASES["default"]["OPTIONS"]["options"] = re.sub(
    r"idle_in_transaction_session_timeout=\d+",
    "idle_in_transaction_session_timeout=120000",
    DATABASES["default"]["OPTIONS"]["options"],
)

# Several people may run tests on one server, each in a database of their own.
DATABASES["default"]["TEST"] = {"NAME": os.environ.get("FENCEPOST_TEST_DATABASE") or None}

# For the same reason whitenoise serves files from where they are written.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
