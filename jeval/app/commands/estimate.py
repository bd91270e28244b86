"""jeval estimate OVERRIDE…: what a run would ask and cost."""

from collections.abc import Sequence

__all__ = ["raw"]


def raw(arguments: Sequence[str]) -> int:
    """The same as `jeval run --dry-run`."""
    from jeval.app.commands.run import raw as run

    if any(argument in ("-h", "--help") for argument in arguments):
        print(
            "usage: jeval estimate [OVERRIDE…] [--json]\n\n"
            "Says what `jeval run` with the same overrides would ask and cost."
        )
        return 0
    return run(["--dry-run", *arguments])
