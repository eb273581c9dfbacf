"""The registry of tools: keys, aliases, statistics, frozen snapshots, search.

`registry.py` is its life: what comes and goes. `words.py` has texts as words in their plainest form, which search and
planner compare; `postings.py` is the index, `text_vectors.py` keeps the vectors of texts. `sentence_model.py` makes
these vectors, `vector_cache.py` keeps them in a file.
"""
