"""Settings, addresses, servers and processes of Fencepost.

Nothing is imported here: `config.up` runs on the standard library alone, before any dependency
is installed.
"""
