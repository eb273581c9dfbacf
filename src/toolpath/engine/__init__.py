"""The engine: a checked plan compiled to a program, its state, and the loop that drives it."""
