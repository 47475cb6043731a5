"""The tables of the contract: columns, constraints, triggers and indexes. No logic."""

from claims.models.agents import Agent, AgentPool, Token
from claims.models.audit import CanaryRun, PoolEvent, ToolAcceptance
from claims.models.effects import Acknowledgement, Approval, Effect, Observation, Permit
from claims.models.graph import Dependency, Pin
from claims.models.history import History, IdempotencyKey, Refusal
from claims.models.people import Deputy, Membership, ReviewerGroup
from claims.models.pools import Pool
from claims.models.results import Blob, CanonicalCommit, Decision, Delivery, EvidenceFile, StagedResult
from claims.models.tasks import Attempt, Lease, Task, TaskInput

__all__ = [
    "Acknowledgement",
    "Agent",
    "AgentPool",
    "Approval",
    "Attempt",
    "Blob",
    "CanaryRun",
    "CanonicalCommit",
    "Decision",
    "Delivery",
    "Dependency",
    "Deputy",
    "Effect",
    "EvidenceFile",
    "History",
    "IdempotencyKey",
    "Lease",
    "Membership",
    "Observation",
    "Permit",
    "Pin",
    "Pool",
    "PoolEvent",
    "Refusal",
    "ReviewerGroup",
    "StagedResult",
    "Task",
    "TaskInput",
    "Token",
    "ToolAcceptance",
]
