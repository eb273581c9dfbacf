"""The entry of the service: what every request passes before a door.

`lease.py` ends a request with its credentials, `stopping.py` notices that the process is to stop, `protocol.py` waits
for no endless head.
"""
