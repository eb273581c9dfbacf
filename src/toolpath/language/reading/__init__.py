"""How the parts of a plan are read from a tree: fields, durations, ids, policies, actions, steps, schemas."""
