"""The store in memory. Nothing outlives the process.

`records.py` has records and the audit trail.
"""
