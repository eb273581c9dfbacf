"""The journal read as views: the outcome of each step and of the run, questions, cost, statistics, records. Pure.

`comparison.py` has two runs beside each other. `questions.py` has what waits for people, `paths.py` reads the path of
a step.
"""
