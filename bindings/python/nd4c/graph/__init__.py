"""Graphs: programs that are recorded once, optimised, and run as plans.

    @nd4c.compile                        # a Python function as a plan
    def layer(x, w, b):
        return nd4c.nn.relu(x @ w + b)

    nd4c.grad(loss)                      # the function that gives a loss's derivatives
    nd4c.Graph()                         # a graph built by hand
"""
from nd4c._symbols import Dim, Symbol
from nd4c.graph import _methods  # noqa: F401: gives Symbols their methods
from nd4c.graph._compile import Compiled, compile
from nd4c.graph._control import cond, scan, while_loop
from nd4c.graph._gradient import grad, stop_gradient, value_and_grad
from nd4c.graph._graph import Graph, Node
from nd4c.graph._plan import Plan, State, Step
from nd4c.graph._runner import Runner

__all__ = ["Compiled", "Dim", "Graph", "Node", "Plan", "Runner", "State", "Step", "Symbol", "compile", "cond", "grad", "scan",
           "stop_gradient", "value_and_grad", "while_loop"]


def __getattr__(name):
    """The text about a name that the module lacks."""
    from nd4c._suggestions import MissingAttribute
    raise MissingAttribute(__name__, name)
