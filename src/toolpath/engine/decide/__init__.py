"""Decisions over the state of a run: what may start, what follows an end. Pure; writes events and commands."""
