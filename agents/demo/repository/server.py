"""Serves the billing pages on this machine: python3 server.py --port 8080."""

from __future__ import annotations

import argparse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from app.views import respond


class Pages(BaseHTTPRequestHandler):
    """Hands every GET to the views and writes their answer."""

    def do_GET(self) -> None:
        answer = respond(self.path)
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the tests and the screenshots read the pages, not the log."""


def main() -> None:
    """Reads --port (0 takes a free one), prints the address and serves until it is stopped."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8080)
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Pages)
    print(f"http://127.0.0.1:{server.server_address[1]}/billing", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
