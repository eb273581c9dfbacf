"""Plans scored against gold, and ways of planning compared.

`intervals.py` has the intervals of shares.
"""
