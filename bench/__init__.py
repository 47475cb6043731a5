"""Measures of Fencepost against the floor: the fewest rows and round trips a claim can be made of.

Every figure is a ratio taken in one run on one machine. See docs/reference/performance.md.
"""
