"""Prices, percentages, dates, times and durations in a text, in forms that can be compared.

`find_values` reads a text; `Evidence` gathers what evidence offers, from texts and from JSON, and tells
whether it holds a value.
"""

from jeval.values.evidence import Evidence
from jeval.values.finder import find_values
from jeval.values.value import Value

__all__ = ["Evidence", "Value", "find_values"]
