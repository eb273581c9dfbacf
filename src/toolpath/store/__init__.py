"""Where runs are kept: in memory, in SQLite."""
