"""Window functions, and the special functions i0 and sinc."""
__all__ = []
