"""Access: callers, their credentials, what they may do, the trail they leave."""
