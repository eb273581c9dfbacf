"""The journal read as views: what came of each step and of the run, questions, cost, statistics, records. Pure."""
