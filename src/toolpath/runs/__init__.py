"""The life of a run around the engine: prepare, start, drive, steer, fork, retry, read."""
