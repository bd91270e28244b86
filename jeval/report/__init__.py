"""A run as others read it: JUnit XML, Markdown, workflow annotations. Plain data in, text out."""
