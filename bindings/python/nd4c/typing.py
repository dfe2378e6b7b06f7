"""Types for annotations of programs that use nd4c, as numpy.typing has them: what functions take where they say array,
dtype, device, shape or axis. The package's stubs use the same names.

    def scaled(x: nd4c.typing.ArrayLike, dtype: nd4c.typing.DTypeLike = "float32") -> nd4c.Array: ..."""
from typing import Any, Protocol, Sequence, SupportsIndex, Type, Union

from nd4c import Array, Device, DType

__all__ = ["ArrayLike", "AxisLike", "DTypeLike", "DeviceLike", "ForeignDType", "ShapeLike", "SupportsArray",
           "SupportsDLPack"]


class SupportsArray(Protocol):
    """Another library's array that becomes one of NumPy: of NumPy itself, pandas, xarray."""

    def __array__(self) -> Any:
        """The object as a NumPy array."""
        ...


class SupportsDLPack(Protocol):
    """Another library's array that shares its memory by DLPack: of PyTorch, CuPy, JAX."""

    def __dlpack__(self) -> Any:
        """A capsule with the array."""
        ...


class ForeignDType(Protocol):
    """A dtype of NumPy."""

    @property
    def kind(self) -> str:
        """The letter of the dtype's kind: "f", "i", ..."""
        ...

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        ...


ArrayLike = Union[Array, complex, str, SupportsArray, SupportsDLPack, Sequence["ArrayLike"]]
DTypeLike = Union[DType, str, Type[Any], ForeignDType]
DeviceLike = Union[Device, str]
ShapeLike = Union[SupportsIndex, Sequence[SupportsIndex]]
AxisLike = Union[None, SupportsIndex, Sequence[SupportsIndex]]
