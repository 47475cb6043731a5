"""Fixtures every tier shares. PostgreSQL is real in all of them."""
