"""Views by strides and broadcasting."""
__all__ = []
