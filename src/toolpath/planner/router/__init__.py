"""The router: which tools a request means, with which arguments."""
