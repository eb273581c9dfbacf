"""The service over HTTP: REST and live events, and the doors that are mounted beside them.

`questions.py` has the open questions of runs as every door shows them.
"""
