"""The command line: one face of `Toolpath`. `main.py` is the door; each noun has its commands in a folder.

`session.py` opens the `Toolpath` that a command uses, `target.py` finds what it is about; `findings.py` is `validate`
and `explain`. `groups.py` are groups of commands, `inputs.py` reads `-i`, `uploads.py` brings files, `prompt.py` asks
a line, `requests.py` has the tools that composites need without settings, `reference.py` writes
`docs/reference/cli.md`.
"""
