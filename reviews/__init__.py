"""Fencepost: reviews."""
