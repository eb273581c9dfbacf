"""Examples that come with the package: small tools, and plans of them to be run with one click."""
