"""The planner that asks a model: shortlist, prompt, answer, repairs."""
