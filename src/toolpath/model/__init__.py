"""The records that everything else speaks of: plans, tools, runs and their events. Pure data."""
