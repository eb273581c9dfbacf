"""JSON Schema: validate, coerce without loss, look up a path, 'does this output fit that input', shorten. Pure."""
