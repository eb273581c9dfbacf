"""The command line: one face of `Toolpath`. `main.py` is the door; `verbs/` declares what can be typed."""
