"""Language models as data: records, the chats behind their names, and trials of whether they answer.

`trial.py` is the trial.
"""
