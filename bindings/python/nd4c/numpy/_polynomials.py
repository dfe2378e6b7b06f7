"""Polynomials by their coefficients."""
__all__ = []
