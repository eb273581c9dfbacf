"""Composites as typed Python modules with their tests.

`source.py` writes the module, `generated_tests.py` its tests. `module.py` the module itself.
"""
