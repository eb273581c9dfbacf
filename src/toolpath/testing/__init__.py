"""Public fakes for the tests of tools and plans: a clock, scripted tools, a crashing store, record and replay.

`composites.py` tests a composite alone, `crashing.py` is the store that dies, `model_server.py` a server of models
that speaks what `model_wire.py` writes. `scripted.py` and `scripted_chat.py` are tools and a chat that answer from a
script, `model_replies.py` the replies of that server.
"""
