"""Tool factory: a composite → a typed Python module that runs it, and a pytest module that proves it."""

from toolpath.factory.generating import Generated, generate
from toolpath.factory.source import annotation_of, literal, python_name

__all__ = ["Generated", "annotation_of", "generate", "literal", "python_name"]
