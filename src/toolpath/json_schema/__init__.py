"""JSON Schema: validate, coerce, does this fit that, locate, shorten. Pure."""
