"""Reductions that leave out elements that are not numbers."""
__all__ = []
