"""The store in Datasette: a plugin with descriptions, named queries and pages made for this data."""
