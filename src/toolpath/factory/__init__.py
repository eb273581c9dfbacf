"""Tool factory: a composite → a typed Python module that runs it, and a pytest module that proves it."""
