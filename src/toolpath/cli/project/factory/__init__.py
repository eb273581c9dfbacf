"""Composites as typed Python modules with their tests."""
