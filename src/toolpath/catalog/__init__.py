"""The registry of tools: keys, aliases, statistics, frozen snapshots, search."""
