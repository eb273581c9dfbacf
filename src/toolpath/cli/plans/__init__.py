"""`toolpath plan`, `validate` and `explain`."""
