"""Requests in the manner of people, with what is right for each."""
