"""Guard triggers: promises the database keeps on its own, also against psql.

Each refuses with SQLSTATE 23514 (``check_violation``) and a sentence naming the rule of
claim.v1 it keeps.
"""

from __future__ import annotations

import pgtrigger


def _refuse(sentence: str) -> str:
    return f"RAISE EXCEPTION '{sentence}' USING ERRCODE = 'check_violation';"


def refuse_when(name: str, condition: str, sentence: str, *, is_locked: bool = False) -> pgtrigger.Trigger:
    """Refuse an UPDATE for which ``condition`` (SQL over OLD and NEW) holds.

    A BEFORE trigger locks the row, and logs the lock, before it looks at its condition. That is
    free where every writer holds the row's lock (``is_locked``), and it speaks before the CHECKs
    do; elsewhere the guard comes AFTER the row.
    """
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.Before if is_locked else pgtrigger.After,
        operation=pgtrigger.Update,
        condition=pgtrigger.Condition(f"({condition})"),
        func=_refuse(sentence),
    )


def guard(rules: dict[str, str], *, is_locked: bool = True) -> pgtrigger.Trigger:
    """Refuse an UPDATE for which a condition (SQL over OLD and NEW) holds, with that condition's sentence.

    One function for all of a table's rules: the plan of a function is kept, while the condition
    of a trigger is parsed again for each statement. When it comes is as for ``refuse_when``.
    """
    return pgtrigger.Trigger(
        name="guarded",
        when=pgtrigger.Before if is_locked else pgtrigger.After,
        operation=pgtrigger.Update,
        func=" ".join(
            f"IF {condition} THEN {_refuse(sentence)} END IF;" for sentence, condition in rules.items()
        )
        + " RETURN NEW;",
    )


def refuse_new_when(name: str, condition: str, sentence: str) -> pgtrigger.Trigger:
    """Refuse an INSERT for which ``condition`` (SQL over NEW; it may look at other rows) holds."""
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
        func=f"IF {condition} THEN {_refuse(sentence)} END IF; RETURN NEW;",
    )


def append_only(what: str) -> list[pgtrigger.Trigger]:
    """Refuse every UPDATE and DELETE."""
    return [
        pgtrigger.Trigger(
            name="append_only",
            when=pgtrigger.Before,
            operation=pgtrigger.Update | pgtrigger.Delete,
            func=_refuse(f"{what} is append-only: a row is never changed or deleted (claim.v1 section 7)"),
        )
    ]


def never_deleted(what: str) -> pgtrigger.Trigger:
    """Refuse every DELETE."""
    return pgtrigger.Trigger(
        name="never_deleted",
        when=pgtrigger.Before,
        operation=pgtrigger.Delete,
        func=_refuse(f"{what} is never deleted (claim.v1 section 7)"),
    )
