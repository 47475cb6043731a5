#!/usr/bin/env python
"""Django's command line for Fencepost."""

import os
import sys


def main() -> None:
    """Run one management command with the settings of this project; a bad setting is one sentence."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.core.management import execute_from_command_line

    from config.readers import Misconfigured

    try:
        execute_from_command_line(sys.argv)
    except Misconfigured as refusal:
        sys.exit(str(refusal))


if __name__ == "__main__":
    main()
