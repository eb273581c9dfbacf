"""Files of runs and uploads."""
