"""The state of a run: its records, and what each event changes in them. Pure."""
