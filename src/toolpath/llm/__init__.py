"""Language models behind `ports.Chat`: one request and its answer, over pydantic-ai's model layer.

`requests.py` makes one attempt, `faults.py` says what a failure is and whether to ask again.
"""
