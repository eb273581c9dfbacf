"""The command line: one face of `Toolpath`. `main.py` is the door; each noun has its commands in a folder."""
