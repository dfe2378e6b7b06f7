"""Helpers beside the tests are found from wherever pytest was started."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
