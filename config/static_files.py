"""Collected static files: named by their content, compressed, with imports that follow the names.

Promises: a module that a page loads and another module imports is one module, loaded once. Without the
names in imports a browser fetched and ran it twice, and what was typed there was sent twice. Comments
are for who reads the repository; browsers are not sent them.
"""

from __future__ import annotations

import re

from django.core.files.base import ContentFile, File
from whitenoise.storage import CompressedManifestStaticFilesStorage  # type: ignore[import-untyped]

OUR_SCRIPTS = "js/"
REMARKS = re.compile(rb"^[ \t]*//[^\n]*\n|^[ \t]+", re.MULTILINE)
"""A line that is a comment, and what a line is indented by. No script here has a text of several lines."""


class NamedModules(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """WhiteNoise's storage, which also rewrites `import … from "./other.js"` to the collected name."""

    support_js_module_import_aggregation = True

    def _save(self, name: str, content: File[bytes]) -> str:
        if name.startswith(OUR_SCRIPTS):
            content = ContentFile(REMARKS.sub(b"", b"".join(content.chunks())))
        saved: str = super()._save(name, content)
        return saved
