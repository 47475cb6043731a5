"""`python -m config.up`: the entry behind `scripts/up`; see `scripts/up --help`."""

from __future__ import annotations

import sys

from config.up import environment, guard, launch, options
from config.up.supervisor import Failed

INNER = "--inner"


def main(arguments: list[str]) -> int:
    """Check what can be checked at once, make the environment, then run the inner process under guard."""
    if arguments[:1] == [INNER]:
        return inner(arguments[1:])
    try:
        asked = options.parse(arguments)
        options.check_folder(asked.data)
        options.check_port(asked.port)
        options.check_ready_file(asked.ready_file)
        python = environment.ensure("base", launch.say)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return guard.guard([str(python), "-m", "config.up", INNER, *arguments])


def inner(arguments: list[str]) -> int:
    """The supervisor's side, in the virtual environment's interpreter."""
    from pathlib import Path

    try:
        return launch.launch(options.parse(arguments), Path(sys.executable))
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"The data folder cannot be used: {error.strerror} ({error.filename}).", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
