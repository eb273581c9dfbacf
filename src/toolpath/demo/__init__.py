"""The demo's ground: a folder with a plan, tools, a repository and a page. Running it is the command line's work."""
