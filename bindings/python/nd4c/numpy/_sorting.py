"""Sorting, partitioning, searching."""
__all__ = []
