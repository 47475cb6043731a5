"""Look-ups: how an outside effect whose fate is in doubt is asked after (claim.v1 section 5).

Promises: a look-up only reads, ends by itself, and answers CANNOT_TELL for everything it does not
understand. It knows no database and no task. It does not promise that the sink tells the truth.

`recipes` is what a slot declares, and is free of Django; `looking.look_up` does it.
"""
