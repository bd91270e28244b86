"""The command line, its configuration and its files."""
