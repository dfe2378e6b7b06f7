"""Names of dtypes, scalar types and their hierarchy, promotion, limits."""
__all__ = []
