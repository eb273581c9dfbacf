"""Checks of a plan against its request: it does what the request commands, and no more. Pure."""
