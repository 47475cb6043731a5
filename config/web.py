"""`python -m config.web`: uvicorn on one port, several processes, logs through Django's LOGGING."""

import argparse

import uvicorn


def main() -> None:
    """Serve until told to end; open sockets get five seconds."""
    parser = argparse.ArgumentParser("config.web")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    uvicorn.run(
        "config.asgi:application",
        host=given.host,
        port=given.port,
        workers=given.processes,
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=5,
    )


if __name__ == "__main__":
    main()
