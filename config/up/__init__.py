"""`scripts/up`: makes the environment, starts the servers and processes, and keeps them running.

Standard library only: this runs before anything is installed. Linux only: it relies on
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER and /proc.
"""
