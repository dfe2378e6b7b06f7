"""Arrays in files and texts."""
__all__ = []
