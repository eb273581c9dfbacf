"""Queues, where runs wait for a worker."""
