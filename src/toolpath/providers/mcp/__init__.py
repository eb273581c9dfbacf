"""Tools of MCP servers: over stdio and streamable HTTP, both protocol generations.

`config.py` reads lists of servers, `asking_calls.py` holds a question until it is known which call asks. `flight.py`
is one call under way, `sifting.py` takes malformed tools out of lists.
"""
