"""Tools that come with the package.

A module a group: `files.py`, `parallel.py`, `schedules.py`, `http.py`, `database.py` (its rows `database_rows.py`,
its sources `database_sources.py`), `documents.py` (read in a process of its own by `document_reader.py`).
`moments.py` has `time.now` and `util.uuid`, `tables.py` writes rows as text.
"""
