"""Access: callers, their credentials, what they may do, the trail they leave.

Besides what the page of the house names: `declared.py`, the entries of the audit trail that composites declare.
"""
