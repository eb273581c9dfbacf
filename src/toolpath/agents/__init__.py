"""Agents: a model reaches a goal in rounds, with the tools it was given."""
