"""A tool server asks, before it acts, whether the runner it acts for still has its claim."""

from __future__ import annotations

import re

from claims import decide, kernel
from claims.callers import Caller
from claims.decide.rows import TaskAsRead
from claims.fences import Fence
from claims.models import Agent, ToolAcceptance
from claims.outcomes import Refused, ToolAccepted, Why
from claims.vocabulary import Verb

_TOOL = re.compile(r"[a-z0-9_.:-]{1,120}", re.ASCII)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)


@kernel.verb(Verb.ACCEPT_TOOL)
def accept_tool(
    caller: Caller, fence: Fence, tool: str, args_digest: str, is_gateway: bool = False
) -> ToolAccepted | Refused:
    """No edge. The fence was current at ``accepted_at``, and that this was asked is kept.

    An agent asks for a fence of its own. A gateway (``is_gateway``) is another agent of the pool and
    asks for the runner whose fence it was shown. It is an answer about that moment: a tool that acts
    much later asks again. Refused with MALFORMED, NOT_FOUND, or as every fence is.
    """
    flaw = _flaw(tool, args_digest)
    if flaw:
        return Refused(Why.MALFORMED, flaw)
    seen = kernel.hold(caller, fence)
    if seen is None or (is_gateway and not _works_in(caller, seen)):
        return Refused(Why.NOT_FOUND)
    compared = (seen.task.runner_id or 0) if is_gateway else caller.actor.id
    standing = decide.claimed(seen, fence, compared)
    if isinstance(standing, Refused):
        return standing

    ToolAcceptance.objects.create(
        task_id=fence.task_id,
        attempt_id=fence.attempt_id,
        agent_id=caller.actor.id,
        tool=tool,
        args_digest=args_digest,
        validated=str(standing),
        at=seen.now,
    )
    return ToolAccepted(fence.attempt_id, tool, args_digest, seen.now)


def _flaw(tool: str, args_digest: str) -> str | None:
    if _TOOL.fullmatch(tool) is None:
        return "The tool's name has 1 to 120 lower-case letters, digits or any of _ . : -."
    if _DIGEST.fullmatch(args_digest) is None:
        return "argsDigest is sha256: and 64 lower-case hexadecimal digits."
    return None


def _works_in(caller: Caller, seen: TaskAsRead) -> bool:
    """Whether the gateway is an agent of this pool that may still be used."""
    here = Agent.objects.filter(id=caller.actor.id, agent_pools__pool_id=seen.pool.id)
    return here.filter(is_disabled=False).exists()
