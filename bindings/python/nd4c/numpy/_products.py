"""Products of arrays: dot, inner, outer, kron, einsum."""
__all__ = []
