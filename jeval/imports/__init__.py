"""Recorded traces as cases: one file a format, each from parsed JSON to drafts of cases. Reads no files."""
