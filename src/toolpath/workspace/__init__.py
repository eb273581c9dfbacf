"""What people keep between runs: plans with their versions, and later templates, conversations and schedules."""
