"""Plans scored against gold, and ways of planning compared."""
