"""Keys of the generator from seeds. _stream.py uses it for new generators and for children."""
import os
from operator import index


def key_of(seed):
    """The 64-bit key of a seed: None (the system's randomness), an integer >= 0, several of them, or an object with
    generate_state(), such as NumPy's SeedSequence. Integers below 2^64 are their own keys; others are hashed."""
    if seed is None:
        return int.from_bytes(os.urandom(8), "little")
    if hasattr(seed, "generate_state"):
        low, high = (int(word) for word in seed.generate_state(2))
        return low | high << 32
    try:
        return _of_integers([index(seed)])
    except TypeError:
        pass
    try:
        if isinstance(seed, (str, bytes)):
            raise TypeError
        return _of_integers([index(part) for part in (seed.tolist() if hasattr(seed, "tolist") else seed)])
    except TypeError:
        raise TypeError("random: the seed is %r; it may be None, an integer, a sequence of integers or another "
                        "Generator" % (seed,)) from None


def _of_integers(parts):
    if any(part < 0 for part in parts):
        raise ValueError("random: the seed is %d; seeds are integers of at least 0" % min(parts))
    if len(parts) == 1 and parts[0] < 2 ** 64:
        return parts[0]
    return hashed("seed", parts)


def hashed(purpose, integers):
    """64 bits that depend on all of the integers; equal lists give equal bits on every machine."""
    from hashlib import blake2b
    text = " ".join([purpose] + [str(part) for part in integers])
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
