"""Readers of evidence: bytes in, bounded rows of escaped text out.

Promises: nothing is unpacked or executed; every reader stops at a limit and says so; characters
that change how text is read are made visible. Rights are checked before any of this is called.
"""
