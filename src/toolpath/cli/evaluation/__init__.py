"""`toolpath eval`: planners and the router on data sets."""
