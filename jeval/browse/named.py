"""The store's named queries as Datasette serves them, with runs named as on the command line."""

import re
from typing import Any

from jeval.store.queries import QUERIES

__all__ = ["named_queries"]

# The id of the run that is meant: by @last or @prev, its id, its name, or the beginning of its id.
_RUN = """(SELECT id FROM runs WHERE CASE :{0}
    WHEN '@last' THEN pk = (SELECT pk FROM runs ORDER BY started_at DESC, pk DESC LIMIT 1)
    WHEN '@prev' THEN pk = (SELECT pk FROM runs ORDER BY started_at DESC, pk DESC LIMIT 1 OFFSET 1)
    ELSE :{0} <> '' AND (id = :{0} OR name = :{0} OR substr(id, 1, length(:{0})) = :{0}) END
  ORDER BY id = :{0} DESC, name = :{0} DESC, started_at DESC, pk DESC LIMIT 1)"""

_HOW = "A run is named by its id, its name, the beginning of its id, @last or @prev."


def named_queries() -> dict[str, dict[str, Any]]:
    """The queries by name, each with its SQL, parameters, title and description."""
    return {
        name: {
            "sql": re.sub(r":(run\w*)", lambda match: _RUN.format(match[1]), query.sql),
            "params": list(query.parameters),
            "title": query.title,
            "description": _HOW,
            "hide_sql": True,
        }
        for name, query in QUERIES.items()
    }
