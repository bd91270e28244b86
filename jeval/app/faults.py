"""What is wrong in files and settings, in the words of `jeval.problems`."""

from jeval.problems import nearest, problems_of, shorten

__all__ = ["nearest", "problems_of", "shorten"]
