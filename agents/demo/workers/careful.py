"""A demo agent that does every criterion it can read, and says which it cannot. No model: see run.py."""

from __future__ import annotations

import sys

from run import run

if __name__ == "__main__":
    sys.exit(run())
