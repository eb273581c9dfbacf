"""Learning from requests that went well: patterns, kept plans, lessons."""
