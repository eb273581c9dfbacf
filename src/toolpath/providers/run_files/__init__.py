"""Files of runs: folders that nothing leads out of."""
