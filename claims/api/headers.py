"""The headers that calls take beside the token, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "1 to 255 letters, digits or any of _ . : ~ + = -, quoted or not. The same key and request have the same answer.",
    "schema": {"type": "string", "pattern": r'^("[A-Za-z0-9_.:~+=-]{1,255}"|[A-Za-z0-9_.:~+=-]{1,255})$'},
}
_VERSION = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The task's ETag as it was seen; another version is 412.",
    "schema": {"type": "string", "pattern": r'^("[0-9]{1,16}"|\*)$'},
}
_FENCE = {
    "name": "Fencepost-Fence",
    "in": "header",
    "required": True,
    "description": "epoch=3, generation=7, cancel=0",
    "schema": {
        "type": "string",
        "pattern": "^epoch=[0-9]{1,15}, generation=[0-9]{1,15}, cancel=[0-9]{1,15}$",
    },
}

KEYED: dict[str, Any] = {"parameters": [{**_KEY, "required": True}]}
KEY_TAKEN: dict[str, Any] = {"parameters": [{**_KEY, "required": False}]}
VERSIONED: dict[str, Any] = {"parameters": [{**_KEY, "required": True}, _VERSION]}
UPLOAD: dict[str, Any] = {
    "parameters": [_FENCE, {**_KEY, "required": False}],
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    },
}
