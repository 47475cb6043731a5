"""The tables of the contract: columns, constraints, triggers and indexes. No logic."""

from claims.models.agents import Agent, AgentPool, Token
from claims.models.history import History, IdempotencyKey, Refusal
from claims.models.people import Membership, ReviewerGroup
from claims.models.pools import Pool
from claims.models.results import Blob, CanonicalCommit, Decision, Delivery, EvidenceFile, StagedResult
from claims.models.tasks import Attempt, Lease, Task, TaskInput

__all__ = [
    "Agent",
    "AgentPool",
    "Attempt",
    "Blob",
    "CanonicalCommit",
    "Decision",
    "Delivery",
    "EvidenceFile",
    "History",
    "IdempotencyKey",
    "Lease",
    "Membership",
    "Pool",
    "Refusal",
    "ReviewerGroup",
    "StagedResult",
    "Task",
    "TaskInput",
    "Token",
]
