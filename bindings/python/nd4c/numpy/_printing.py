"""Arrays as texts."""
__all__ = []
