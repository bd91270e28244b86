"""Which cases of a dataset a run takes."""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from jeval.app.metadata_seen import MetadataSeen, why_none
from jeval.case import Case

__all__ = ["Selection", "keep_lowest"]


@dataclass(frozen=True)
class Selection:
    """Which cases of a file are wanted: `where` on metadata first, then `sample` of them, then `limit`.

    The sample is drawn by a hash of `seed` and the case's id, so it does not depend on the file's order.
    """

    where: Mapping[str, Any]
    sample: int | None = None
    seed: int = 0
    limit: int | None = None

    def wants(self, case: Case) -> bool:
        return not self.where or self.matches(case.metadata or {})

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether metadata has every value that `where` asks for."""
        return all(key in metadata and _equal(metadata[key], value) for key, value in self.where.items())

    def why_none(self, seen: MetadataSeen) -> str:
        """Why none of the cases that were seen is wanted; empty where that has nothing to do with metadata."""
        return why_none(self.where, seen, _equal)

    def draw(self, case_id: str) -> int:
        return int.from_bytes(blake2b(f"{self.seed}:{case_id}".encode(), digest_size=8).digest(), "big")


def _equal(value: Any, wanted: Any) -> bool:
    # A command line cannot say whether 3 is a number or a text.
    return value == wanted or str(value).lower() == str(wanted).lower()


def keep_lowest(draws: list[int], draw: int, size: int) -> None:
    """Keep the `size` lowest draws as a heap of their negatives."""
    if len(draws) < size:
        heapq.heappush(draws, -draw)
    elif size and draw < -draws[0]:
        heapq.heapreplace(draws, -draw)
