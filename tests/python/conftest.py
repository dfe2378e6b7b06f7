"""Helpers beside the tests are found from wherever pytest was started; SciPy and scikit-learn look at SCIPY_ARRAY_API when
they are first imported."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ["SCIPY_ARRAY_API"] = "1"
