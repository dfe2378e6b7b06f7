"""Indices: taking, putting, choosing, grids of indices, diagonals, iterators."""
__all__ = []
