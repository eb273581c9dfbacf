"""Where runs wait for a worker."""
