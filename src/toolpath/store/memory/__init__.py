"""The store in memory. Nothing outlives the process.

`records.py` has records and the audit trail. `results.py` has results of the cache and statistics.
"""
