"""Lexarbor: ask a legal question in everyday words, get the statutory articles that govern it."""

__version__ = "0.1.0"
