"""The command line: one face of `Toolpath`. `main.py` is the door; each noun has its commands in a folder.

`session.py` opens the `Toolpath` that a command uses, `target.py` finds what it is about; `findings.py` is `validate`
and `explain`.
"""
