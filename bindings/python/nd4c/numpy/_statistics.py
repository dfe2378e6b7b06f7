"""Averages, quantiles, histograms, correlation, sums along axes, differences and integrals."""
__all__ = []
