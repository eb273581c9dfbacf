"""Who may do what: callers, their credentials, the trail they leave."""
