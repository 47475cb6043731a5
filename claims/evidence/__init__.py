"""Evidence: bytes under their own digest, and what the server can establish about them.

Promises: bytes are read with bounds, never unpacked and never executed; a fact here is one the
server found in the bytes, apart from anything the agent says.
"""

from claims.evidence.facts import establish
from claims.evidence.storage import EvidenceMismatch, keep, open_bytes, read_bytes

__all__ = ["EvidenceMismatch", "establish", "keep", "open_bytes", "read_bytes"]
