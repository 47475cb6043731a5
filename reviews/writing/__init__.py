"""/tasks/new: writing tasks as a form and as YAML side by side, with drafts, checks, a preview and an import."""
