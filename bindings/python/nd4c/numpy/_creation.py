"""Arrays from values, shapes, other arrays and functions."""
__all__ = []
