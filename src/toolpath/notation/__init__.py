"""Notations of plans and tools: YAML and JSON text → records, and back. Pure; executes nothing."""
