"""Workspace: what people keep between runs, as plans, templates, schedules, conversations, files, models, settings."""
