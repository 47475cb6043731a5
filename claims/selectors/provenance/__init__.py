"""Who claimed, delivered and decided what, under which authority: the record of a task, and rival evidence."""

from claims.selectors.provenance.beside import (
    EVIDENCE_LIMIT,
    Rival,
    count_beside,
    file_of,
    operators_of,
    rivals,
)
from claims.selectors.provenance.record import (
    MEDIA_TYPE,
    PREDICATE_TYPE,
    STATEMENT_TYPE,
    Record,
    record_of,
    written,
)

__all__ = [
    "EVIDENCE_LIMIT",
    "MEDIA_TYPE",
    "PREDICATE_TYPE",
    "STATEMENT_TYPE",
    "Record",
    "Rival",
    "count_beside",
    "file_of",
    "operators_of",
    "record_of",
    "rivals",
    "written",
]
