"""Runs whose driver has gone: heartbeats, who is silent, which runs wait for nobody."""
