"""Shapes, axes, joining, splitting, repeating, padding, inserting and deleting."""
__all__ = []
