"""Functions of bits: packing and counting."""
__all__ = []
