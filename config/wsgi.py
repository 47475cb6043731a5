"""The WSGI application: pages and API, behind granian (`api`) or a2wsgi (`web`)."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()
gc.freeze()  # what is loaded by now stays; going through it again for garbage would halt a request now and then
