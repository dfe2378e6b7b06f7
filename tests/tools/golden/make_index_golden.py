"""Writes tests/data/index/numpy.txt: x[items] and x[items] = value as NumPy (2.4 or newer) computes them.

    python3 tests/tools/golden/make_index_golden.py > tests/data/index/numpy.txt

x is 0, 1, 2, ... in its shape. A line is words with spaces between:

    get X COUNT ITEM... RESULT            set X COUNT ITEM... VALUE RESULT
    X = rank extents                      VALUE, RESULT = rank extents values
    ITEM = i NUMBER | s START STOP STEP (_ for None) | e | n | m rank extents bits | a rank extents values
    RESULT may be "! STATUS" instead: NumPy refuses, too, and nd4c says this status.

Where a place is set several times, the last value in C order of the indices wins; NumPy promises no order, so results of
`set` are found by setting one element after the other.
"""
import random
import sys

import numpy as np

SEED = 20261121
GETS, SETS = 700, 500
SHAPES = [(), (1,), (5,), (0,), (3, 4), (4, 1), (0, 3), (2, 3, 4), (3, 1, 5), (2, 0, 2), (2, 3, 2, 3), (1, 2, 2, 3, 2)]
MOST_ELEMENTS = 600


def random_slice(rng, extent):
    def bound():
        return None if rng.random() < 0.4 else rng.randint(-extent - 3, extent + 3)

    step = rng.choice([None, 1, 1, 2, 3, -1, -2, -5])
    return slice(bound(), bound(), step)


def random_indices(rng, extent, shape):
    size = int(np.prod(shape, dtype=int))
    if extent == 0:
        shape, size = (0,), 0
    values = [rng.randint(-extent, extent - 1) for _ in range(size)]
    return np.array(values, dtype=np.int64).reshape(shape)


def random_mask(rng, shape):
    chance = rng.choice([0.0, 0.3, 0.5, 1.0])
    size = int(np.prod(shape, dtype=int))
    return np.array([rng.random() < chance for _ in range(size)], dtype=bool).reshape(shape)


def random_items(rng, shape, advanced):
    """Items for some or all axes; now and then an ellipsis, new axes, 0-d masks."""
    items, axis, ellipsis = [], 0, False
    common = rng.choice([(3,), (2,), (1,), (2, 3), (2, 1), (), (0,)])
    rank = len(shape)
    while axis < rank:
        choice = rng.random()
        if choice < 0.08:
            items.append(None)
        elif choice < 0.16 and not ellipsis:
            ellipsis = True
            items.append(Ellipsis)
            axis += rng.randint(0, rank - axis)
        elif choice < 0.2 and advanced:
            items.append(np.array(rng.random() < 0.7))
        elif choice < 0.35 and advanced:
            width = rng.randint(1, rank - axis)
            items.append(random_mask(rng, shape[axis:axis + width]))
            axis += width
        elif choice < 0.65 and advanced:
            own = tuple(1 if rng.random() < 0.25 else n for n in common[rng.randint(0, len(common)):])
            items.append(random_indices(rng, shape[axis], own))
            axis += 1
        elif choice < 0.8 and shape[axis] > 0:
            items.append(rng.randint(-shape[axis], shape[axis] - 1))
            axis += 1
        elif choice < 0.95:
            items.append(random_slice(rng, shape[axis]))
            axis += 1
        else:
            break
    if ellipsis:
        # The ellipsis passes over the axes that the items after it leave.
        used = sum(1 if isinstance(i, (int, slice)) else 0 for i in items)
        used += sum((i.ndim if i.dtype == bool else 1) for i in items if isinstance(i, np.ndarray))
        if used > rank:
            return random_items(rng, shape, advanced)
    return tuple(items)


def numbers(values):
    return " ".join(str(int(v)) for v in values)


def array_text(array):
    return " ".join(str(n) for n in (array.ndim, *array.shape)) + (" " + numbers(array.ravel()) if array.size else "")


def item_text(item):
    if item is None:
        return "n"
    if item is Ellipsis:
        return "e"
    if isinstance(item, slice):
        return "s " + " ".join("_" if b is None else str(b) for b in (item.start, item.stop, item.step))
    if isinstance(item, np.ndarray):
        return ("m " if item.dtype == bool else "a ") + array_text(item)
    return f"i {item}"


def head(kind, shape, items):
    words = [kind, str(len(shape)), *map(str, shape), str(len(items)), *map(item_text, items)]
    return " ".join(words)


def refusal(error, items):
    if isinstance(error, IndexError):
        return "! INDEX"
    if any(isinstance(i, slice) and i.step == 0 for i in items):
        return "! ARGUMENT"
    return "! SHAPE"


def counting(shape):
    return np.arange(int(np.prod(shape, dtype=int)), dtype=np.int64).reshape(shape)


def get_line(shape, items):
    try:
        result = counting(shape)[items]
    except (IndexError, ValueError) as error:
        return f"{head('get', shape, items)} {refusal(error, items)}"
    result = np.asarray(result)
    return f"{head('get', shape, items)} {array_text(result)}" if result.size <= MOST_ELEMENTS else None


def set_line(shape, items, value):
    x = counting(shape)
    start = f"{head('set', shape, items)} {array_text(value)}"
    try:
        places = np.asarray(x[items])
        if places.ndim == 0 and value.ndim > 0 and value.size == 1:
            return None  # NumPy takes an array for one element behind an ellipsis only
        x.copy()[items] = value
    except TypeError:
        return None  # NumPy takes no value of several axes for a mask over all of x
    except (IndexError, ValueError) as error:
        return f"{start} {refusal(error, items)}"
    if places.size > MOST_ELEMENTS:
        return None
    flat = x.ravel().copy()
    stripped = value.reshape(value.shape[value.ndim - places.ndim:]) if value.ndim > places.ndim else value
    for place, element in zip(places.ravel(), np.broadcast_to(stripped, places.shape).ravel()):
        flat[place] = element
    return f"{start} {array_text(flat.reshape(shape))}"


def random_value(rng, shape):
    """A value for a target of `shape`, mostly one that broadcasts."""
    own = [1 if rng.random() < 0.25 else n for n in shape[rng.randint(0, len(shape)):]]
    if rng.random() < 0.1:
        own = [1] * rng.randint(1, 2) + list(shape)
    if rng.random() < 0.08 and own:
        own[rng.randrange(len(own))] += 1
    size = int(np.prod(own, dtype=int))
    return (1000 + np.arange(size, dtype=np.int64)).reshape(own)


def chosen_gets():
    m = np.array([[True, False, True], [False, False, True]])
    a = np.array([0, 1])
    yield (2, 3, 4), (0, slice(None), a)
    yield (2, 3, 4), (0, a)
    yield (2, 3, 4), (slice(None), a, Ellipsis, a)
    yield (2, 3, 4), (slice(None), a, None, a)
    yield (2, 3, 4), (a, slice(None), 1)
    yield (2, 3, 4), (m,)
    yield (2, 3, 4), (m, 1)
    yield (2, 3, 4), (m, slice(None, None, -1))
    yield (2, 3, 4), (slice(None), np.ones((3, 4), bool))
    yield (4, 2, 3), (np.array([3, 0, 3]), m)
    yield (4, 2, 3), (1, m)
    yield (2, 3), (np.array(True),)
    yield (2, 3), (slice(None), np.array(False))
    yield (2, 3), (np.array(True), a[:1], slice(None), np.array(True))
    yield (), (np.array(True),)
    yield (), (np.array(False), Ellipsis, None)
    yield (), (Ellipsis,)
    yield (), ()
    yield (5,), (slice(10**15, -10**15, -10**15),)
    yield (5,), (slice(None, None, 2**62),)
    # refused
    yield (2, 3), (2,)
    yield (2, 3), (0, -4)
    yield (2, 3), (0, 0, 0)
    yield (2, 3), (Ellipsis, 0, 0, 0)
    yield (2, 3), (Ellipsis, Ellipsis)
    yield (), (0,)
    yield (2, 3), (slice(None, None, 0),)
    yield (2, 3), (slice(None), np.array([0, 3]))
    yield (2, 3), (np.array([[0, -3]]),)
    yield (2, 3), (np.array([0, 1]), np.array([2, -4]))
    yield (2, 3, 4), (np.array([0, 1]), slice(None), np.array([4, 0]))
    yield (2, 3), (np.array([0, 1]), np.array([0, 1, 2]))
    yield (2, 3), (np.array([True, False, True]),)
    yield (2, 3), (np.ones((2, 2), bool),)
    yield (2, 3), (np.ones((2, 3, 1), bool),)
    yield (2, 3), (m, np.array([0, 1]))
    yield (2, 0), (0, np.array([0]))
    yield (0, 3), (slice(None), np.array([3]))
    yield (2,), tuple([None] * 31)


def chosen_sets():
    m = np.array([[True, False, True], [False, False, True]])
    one, three = np.array(7), np.array([7, 8, 9])
    yield (2, 3), (m,), one
    yield (2, 3), (m,), three
    yield (2, 3), (m,), three[:2]
    yield (2, 3), (m,), np.array([5])
    yield (2, 3), (m & False,), one
    yield (2, 3), (m & False,), three[:1]
    yield (2, 3), (m & False,), three[:0]
    yield (2, 3), (m & False,), three
    yield (2, 3, 4), (m,), np.arange(4)
    yield (2, 3, 4), (slice(None), np.array([True, False, True])), np.arange(8).reshape(2, 1, 4)
    yield (2, 3, 4), (0, slice(None), np.array([True, False, True, True])), np.arange(3)
    yield (2, 3, 4), (0, slice(None), np.array([True, False, True, True])), np.arange(9).reshape(3, 3)
    yield (2, 3, 4), (0, m[0]), np.arange(8).reshape(2, 4)
    yield (5,), (np.array([1, 1, 2, 1]),), np.arange(4)
    yield (2, 3), (np.array([[1, 0], [1, 1]]), np.array([0, 0])), np.arange(4).reshape(2, 2)
    yield (2, 3), (np.array(True),), one
    yield (2, 3), (np.array(False),), one
    yield (2, 3), (Ellipsis,), three
    yield (2, 3), (Ellipsis,), np.arange(6).reshape(1, 1, 2, 3)
    yield (2, 3), (Ellipsis,), np.arange(4)
    yield (2, 3), (0, slice(0, 0)), np.zeros((0,), int)
    yield (2, 3), (0, slice(0, 0)), np.zeros((2,), int)
    yield (), (), one
    yield (), (Ellipsis,), three[:1]
    yield (2, 3), (5,), one
    yield (2, 3), (np.array([0, 2]),), one
    yield (2, 3), (0, np.array([0, 5])), one


def main():
    rng = random.Random(SEED)
    lines = [get_line(*case) for case in chosen_gets()] + [set_line(*case) for case in chosen_sets()]
    for number in range(GETS):
        shape = rng.choice(SHAPES)
        lines.append(get_line(shape, random_items(rng, shape, number % 4 != 0)))
    for number in range(SETS):
        shape = rng.choice(SHAPES)
        items = random_items(rng, shape, number % 4 != 0)
        try:
            target = np.shape(counting(shape)[items])
        except IndexError:
            target = ()
        if len(target) <= 30:
            lines.append(set_line(shape, items, random_value(rng, target)))
    sys.stdout.write("".join(line + "\n" for line in lines if line is not None))


if __name__ == "__main__":
    main()
