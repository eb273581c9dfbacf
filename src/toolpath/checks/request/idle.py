"""Idle words: they change nothing of what is to be done, whatever the tools. Pure."""

from __future__ import annotations

from typing import Final

from toolpath.checks.request.blockers import words_of

IDLE: Final = words_of("""
ones things instead found round along finally endlich enfin finalmente
gefunden gefundene gefundenen trouvé trouvés trouvée trouvées encontrado encontrada encontrados encontradas
kommende kommenden kommender kommendes mr mrs ms miss sir monsieur madame mademoiselle mme mlle señor señora señorita
herrn puis ensuite luego después entonces danach anschließend
straight
friendly politely gently nicely freundlich freundliche freundlichen höflich nett poliment gentiment amablemente
""")
"""Words for what was just looked for, titles of people, what comes after, and how somebody is told something."""
