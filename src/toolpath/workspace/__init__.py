"""Workspace: what people keep between runs, as plans, templates, schedules, conversations, files, models, settings.

`configured.py` is what has to be known at once in every process: models, settings, MCP servers.
"""
