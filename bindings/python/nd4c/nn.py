"""Networks' layers, activations, losses, normalisations and steps of optimisers: the ops of those categories."""
from nd4c import ops

_EXTRA = ("relu leaky_relu gelu sigmoid tanh elu selu celu softplus softsign hard_sigmoid hard_swish mish swish prelu "
          "threshold hard_tanh log_sigmoid tanh_shrink shrink swiglu erf one_hot embedding_lookup pad im2col col2im "
          "depth_to_space space_to_depth").split()
__all__ = sorted(set(ops.CATEGORIES["NN"]) | {name for name in _EXTRA if hasattr(ops, name)})
globals().update({name: getattr(ops, name) for name in __all__})


def __getattr__(name):
    """The text about a name that the module lacks."""
    from nd4c._suggestions import MissingAttribute
    raise MissingAttribute(__name__, name)
