"""Runs as this process holds them: begun, taken up, told things, waited for. The part of the door below `app.py`."""
