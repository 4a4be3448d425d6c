"""The tiny corpus: two codes of law of an invented commune, with questions, as package data."""
