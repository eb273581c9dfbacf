"""`toolpath run` and `toolpath runs`: starting runs, watching, steering and reading them.

`steering.py` has what changes a run: resume, cancel, pause, retry, fork, a person's answer. `answering_commands.py`
are the commands of answers, `preview.py` prints `--dry-run`.
"""
