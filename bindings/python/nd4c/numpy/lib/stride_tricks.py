"""numpy.lib.stride_tricks: views by strides."""
from nd4c._functions.manipulation import broadcast_arrays, broadcast_shapes, broadcast_to
from nd4c.numpy._stride_tricks import as_strided, sliding_window_view

__all__ = ["as_strided", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]
