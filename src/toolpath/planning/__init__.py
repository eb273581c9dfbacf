"""Planning for one Toolpath: which planner, what it stands on, what it remembers, and plans for runs that failed."""
