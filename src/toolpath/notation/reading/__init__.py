"""The parts of a plan's notation: each reads one kind of node. Pure."""
