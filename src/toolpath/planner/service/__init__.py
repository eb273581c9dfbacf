"""Planning for one Toolpath: the planner chosen, remembered plans, new plans for failed runs.

`early_reads.py` begins reads while their plan is still written. `report.py` tells of the memory of planning.
"""
