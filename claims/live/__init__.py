"""Live pages."""
