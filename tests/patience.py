"""How long a test waits for what has to come."""

#: Seconds. It only ends a test that hangs, and says where; no test measures speed by it, however busy the machine is.
PATIENCE = 300
