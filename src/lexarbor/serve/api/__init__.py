"""The HTTP API: searching, reading articles, walking the tree of law."""
