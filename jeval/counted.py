"""Counts as people read them."""

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun: `1 case`, `1,234 cases`. `plural` is for a noun that takes no s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
