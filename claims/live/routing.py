"""Addresses of the sockets."""

from __future__ import annotations

from typing import Any, cast

from django.urls import path

from claims.live.consumer import LiveConsumer

websocket_urlpatterns: list[Any] = [path("ws", cast(Any, LiveConsumer.as_asgi()))]
