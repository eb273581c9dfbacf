"""The routes of OpenAI's API that its clients use to talk: `/v1/chat/completions` and `/v1/models`.

`completions.py` is the first of them. `models.py` is the second.
"""
