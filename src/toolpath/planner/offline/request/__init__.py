"""A request of a person as clauses, entities and structure, and the calls that these make."""
