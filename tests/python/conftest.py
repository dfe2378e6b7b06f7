"""Adds the tests' helpers to the path, wherever pytest was started, and sets SCIPY_ARRAY_API, which SciPy and scikit-learn
read when they are first imported."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ["SCIPY_ARRAY_API"] = "1"
