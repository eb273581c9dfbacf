"""Workspace: what people keep between runs, as plans, templates, schedules, conversations, files, models, settings.

`configured.py` is what has to be known at once in every process: models, settings, MCP servers. `changes.py` tells it
to them; `document_contents.py` keeps each document once, `template_exchange.py` brings templates in and out,
`schedule_calls.py` is what tools ask of schedules.
"""
