"""The WSGI application of the lean `api` process, behind granian: the short way of the hot calls, then Django."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_api"
_django = get_wsgi_application()

from claims.api import short  # noqa: E402 - it needs the applications that the line above set up

application = short.before(_django)
gc.freeze()  # as config/wsgi.py
