"""The routes of the plan execution service, as its clients know them: each translates to our own nouns."""
