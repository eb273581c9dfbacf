"""`toolpath schedules`."""
