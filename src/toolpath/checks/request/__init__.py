"""What a request in words commands, and whether a plan does that and no more. Pure."""
