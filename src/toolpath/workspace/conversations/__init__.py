"""Conversations: messages that are kept, and turns that answer them."""
