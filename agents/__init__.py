"""Fencepost: agents."""
