"""The contract: who may advance a task, and what happened to it."""
