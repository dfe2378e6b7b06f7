"""Settings about floating-point errors, which nd4c does not report."""
__all__ = []
