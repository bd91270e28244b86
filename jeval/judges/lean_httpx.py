"""httpx without its command line.

Importing httpx imports that too where click and rich are installed, as they are here: a tenth of a second of every
run for something nobody calls. A module that is None in `sys.modules` cannot be imported, which httpx is prepared
for. Everything in this package takes httpx from here.
"""

import sys

__all__ = ["httpx"]

_COMMAND_LINE = "httpx._main"

_loaded = "httpx" in sys.modules
if not _loaded:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment]
try:
    import httpx
finally:
    if not _loaded:
        del sys.modules[_COMMAND_LINE]
