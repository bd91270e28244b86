"""Addresses of the pages and tables, for what is not made from a template: cells, menus, descriptions.

Where a Datasette has several stores, each address says which one it is about.
"""

from typing import Any, NamedTuple
from urllib.parse import quote, urlencode
from weakref import WeakKeyDictionary

from jeval.browse.stores import known_stores

__all__ = ["Links"]


class Links(NamedTuple):
    """Where the pages of a store are: their root, its name, its database's root; `store` where there are several."""

    base: str
    database: str
    tables: str
    store: str = ""

    @classmethod
    def of(cls, datasette: Any, database: str) -> "Links":
        """Those of a database that is a store. Kept, for every cell of a table asks for them."""
        store = database if len(known_stores(datasette)) > 1 else ""
        kept = _kept.setdefault(datasette, {})
        if (database, store) not in kept:
            urls = datasette.urls
            kept[database, store] = cls(urls.path("/-/jeval"), database, urls.database(database), store)
        return kept[database, store]

    def page(self, path: str = "", **pairs: Any) -> str:
        """A page by its path beneath the root, beginning with a slash."""
        return f"{self.base}{path}{_query({**pairs, 'store': self.store})}"

    def run(self, name: str) -> str:
        """The page of a run."""
        return self.page(f"/run/{_segment(name)}")

    def case(self, run: str, case_id: str) -> str:
        """The page of a case in a run."""
        return self.page(f"/case/{_segment(run)}/{_segment(case_id)}")

    def find(self, **pairs: Any) -> str:
        """Leads on to the page of a run or a case that is known by something else."""
        return self.page("/find", **pairs)

    def sweep(self, sweep: str) -> str:
        """The page of a sweep."""
        return self.page(f"/sweep/{_segment(sweep)}")

    def table(self, name: str, **pairs: Any) -> str:
        """A table or view of the store in Datasette, narrowed to rows with these values."""
        return f"{self.tables}/{name}{_query(pairs)}"

    def row(self, table: str, key: int) -> str:
        """One row of a table, by its primary key."""
        return f"{self.tables}/{table}/{key}"


_kept: "WeakKeyDictionary[Any, dict[tuple[str, str], Links]]" = WeakKeyDictionary()


def _segment(text: str) -> str:
    return quote(text, safe="")


def _query(pairs: dict[str, Any]) -> str:
    given = {name: value for name, value in pairs.items() if value not in (None, "")}
    return f"?{urlencode(given)}" if given else ""
