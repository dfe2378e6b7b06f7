"""Distinct elements and operations on sets."""
__all__ = []
