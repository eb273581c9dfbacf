"""The web page: its files as they were built from `ui/`, and how a person signs in to it."""
