"""A run as one HTML file for mail and CI artefacts: no scripts, nothing from elsewhere, the browser told so.

It tells the story of the run's page, from the same templates, and shows the cases that failed.
"""

import base64
import hashlib
import sqlite3
from typing import Any

from markupsafe import Markup

from jeval.browse.case_page import body_of
from jeval.browse.check_list import checks
from jeval.browse.filters import Filters, where
from jeval.browse.run_page import run_page
from jeval.browse.screen import ASSETS, render

__all__ = ["FAILURES", "REVIEWS", "html_report"]

# How many checks are shown in full, and how many that are for review.
FAILURES = 200
REVIEWS = 100


def html_report(conn: sqlite3.Connection, run_name: str, *, made_at: str) -> str:
    """The report of a run; `made_at` is the time written on it. Raises NotHere."""
    found = run_page(conn, run_name, Filters())
    css = (ASSETS / "style.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    values = found | {
        "css": Markup(css),
        "policy": policy,
        "made_at": made_at,
        "failures": _shown(conn, found, "fail", FAILURES) + _shown(conn, found, "error", 20),
        "reviews": _shown(conn, found, "review", REVIEWS),
    }
    return render("report.html", values)


def _shown(conn: sqlite3.Connection, found: dict[str, Any], status: str, size: int) -> list[dict[str, Any]]:
    """The first checks of a status, each with its case."""
    run, rubrics = found["run"], found["rubrics"]
    counts = {status: found["totals"]["counts"][status]}
    rows = checks(conn, run, rubrics, where(Filters(), run["pk"], rubrics), counts, size=size)
    bodies: dict[int, Any] = {}
    for row in rows:
        key = row["case_key"]
        if key not in bodies:
            bodies[key] = body_of(conn, run["pk"], key)
        row["case"] = bodies[key]
    return rows
