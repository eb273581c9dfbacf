"""The store in memory. Nothing outlives the process."""
