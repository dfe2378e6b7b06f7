"""NumPy's own test files, run from its wheel against nd4c.numpy: scripts/numpy-tests.

selection.txt says which files and tests; floors.txt how many of them have to pass. No test of NumPy's is copied here."""
