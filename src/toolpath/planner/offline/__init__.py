"""The planner that needs no model: rules, a search index and schemas."""
