"""einops rearranges nd4c's arrays through its functions for the Array API.

    python examples/python/with_einops.py"""
from einops.array_api import pack, rearrange, reduce, repeat

import nd4c as xp


def main() -> None:
    pictures = xp.reshape(xp.arange(2 * 3 * 4 * 4, dtype=xp.float32), (2, 3, 4, 4))  # batch, channel, height, width
    print("patches:", rearrange(pictures, "b c (y h) (x w) -> b (y x) (h w c)", h=2, w=2).shape)
    print("mean of each channel:", reduce(pictures, "b c h w -> c", "mean"))
    print("twice as large:", repeat(pictures, "b c h w -> b c (h two) (w too)", two=2, too=2).shape)
    together, shapes = pack([pictures, xp.zeros((3, 4, 4), dtype=xp.float32)], "* c h w")
    print("packed:", together.shape, shapes)


if __name__ == "__main__":
    main()
