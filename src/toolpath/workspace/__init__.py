"""Workspace: what people keep between runs, that is plans with their versions, later templates and schedules."""
