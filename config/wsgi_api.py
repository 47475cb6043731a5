"""The WSGI application of the lean `api` process, behind granian."""

import os

from django.core.wsgi import get_wsgi_application

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_api"
application = get_wsgi_application()
