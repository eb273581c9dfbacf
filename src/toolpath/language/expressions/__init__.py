"""The language inside {{ }}: found in text, parsed, resolved, compiled to code over JSON, and run within bounds."""
