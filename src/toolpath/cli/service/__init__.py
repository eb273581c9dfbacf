"""`toolpath serve`, `worker` and `mcp`: processes that serve others."""
