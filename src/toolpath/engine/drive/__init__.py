"""Driving a run: journal first, then act. Dispatch, attempts, timers, inbox, commits."""
