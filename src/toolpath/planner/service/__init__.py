"""Planning for one Toolpath: the planner chosen, remembered plans, new plans for failed runs."""
