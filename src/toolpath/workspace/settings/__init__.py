"""Settings as data: those that may change while processes run."""
