"""``look_up``: follow a recipe for one effect."""

from __future__ import annotations

from typing import assert_never

from claims.lookups import by_command, in_git, over_http
from claims.lookups.recipes import CommandLookup, GitRefLookup, HttpLookup, Recipe
from claims.lookups.sighting import Sighted, Subject


def look_up(recipe: Recipe, subject: Subject) -> Sighted:
    """Ask the declared source whether the effect happened; CANNOT_TELL for all that goes wrong.

    Takes up to ``recipe.timeoutSeconds`` and a second: never call it inside a transaction, nor from a
    running event loop. The caller reads the database's clock before it, as the time it was begun.
    """
    match recipe:
        case HttpLookup():
            return over_http.look_up(recipe, subject)
        case GitRefLookup():
            return in_git.look_up(recipe, subject)
        case CommandLookup():
            return by_command.look_up(recipe, subject)
        case _:
            assert_never(recipe)
