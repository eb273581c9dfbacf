"""The process that drives runs which others have stored."""
