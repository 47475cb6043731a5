"""``python -m client``: the command line without installing it."""

from .cli import main

main()
