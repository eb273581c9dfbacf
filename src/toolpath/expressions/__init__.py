"""The language inside `{{ }}`: scan, parse, compile, evaluate, list references. Pure."""
