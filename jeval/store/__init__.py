"""The SQLite file: its tables, what is written to it and what is read from it."""
