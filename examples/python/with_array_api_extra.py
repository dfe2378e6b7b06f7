"""array-api-extra, functions over any array library, on nd4c's arrays; array-api-compat takes nd4c as it is.

    python examples/python/with_array_api_extra.py"""
import array_api_compat
import array_api_extra as xpx

import nd4c as xp


def main() -> None:
    x = xp.asarray([[1.0, 2.0], [3.0, 5.0]])
    print("namespace:", array_api_compat.array_namespace(x).__name__)
    print("covariance:", xp.asarray(xpx.cov(x)).tolist())
    print("kron:", xpx.kron(x, xp.eye(2)).shape)
    print("padded:", xpx.pad(xp.asarray([1, 2]), 2, constant_values=7))
    print("set at:", xpx.at(xp.zeros(4))[1:3].set(5.0))
    print("one hot:", xp.asarray(xpx.one_hot(xp.asarray([2, 0]), 3)).tolist())
    chosen = xpx.apply_where(x > 2, x, lambda large: large * 10, lambda small: -small)
    print("where:", xp.asarray(chosen).tolist())


if __name__ == "__main__":
    main()
