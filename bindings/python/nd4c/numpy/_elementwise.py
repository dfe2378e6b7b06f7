"""NumPy's names of functions element by element, which the package has by the standard's names, and those beyond the standard."""
__all__ = []
