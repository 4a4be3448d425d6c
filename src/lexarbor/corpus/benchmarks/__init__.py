"""Benchmarks of statutory retrieval: questions, gold articles, splits, statistics, export."""
