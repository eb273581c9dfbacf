"""The checker: every rule, all findings at once. Pure."""
