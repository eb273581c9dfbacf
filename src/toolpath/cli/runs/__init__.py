"""`toolpath run` and `toolpath runs`: starting runs, watching, steering and reading them."""
