"""Statuses as the small integers that rows hold."""

__all__ = ["STATUS_CODES", "STATUS_NAMES"]

STATUS_NAMES = ("pass", "fail", "review", "skipped", "error")
STATUS_CODES = {name: code for code, name in enumerate(STATUS_NAMES)}
