"""numpy.lib as far as it is public: stride_tricks and array_utils."""
from nd4c.numpy.lib import array_utils, stride_tricks

__all__ = ["array_utils", "stride_tricks"]
