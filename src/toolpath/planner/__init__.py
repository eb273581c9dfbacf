"""A request in words becomes a checked plan: by a model, by rules, from what was planned before."""
