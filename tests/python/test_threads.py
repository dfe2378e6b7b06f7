"""Several threads make, read and drop arrays: results stay right, memory use does not grow, and each thread sees its own
errors."""
import gc
import os
import threading

import nd4c

THREADS = 8
ARRAYS = int(os.environ.get("ND4C_TEST_ARRAYS", 1_000_000))
MOST_GROWTH = 4 << 20


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def in_threads(work, count=THREADS):
    """Runs work(number) in threads that begin together; the first failure is raised."""
    failures, start = [], threading.Barrier(count)

    def run(number):
        start.wait()
        try:
            work(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def make_and_drop(count):
    one = nd4c.asarray([1.0, 2.0, 3.0])

    def work(number):
        kept = [None] * 16
        for i in range(count // THREADS // 2):
            y = one + number
            kept[i % 16] = y[1:]  # dropped 16 rounds later
        assert float(kept[-1][0]) == 2.0 + number

    in_threads(work)


def test_memory_of_a_million_arrays():
    make_and_drop(min(ARRAYS // 4, 100_000))
    gc.collect()
    live, before = nd4c.Device("cpu:0").memory["live_count"], resident()
    make_and_drop(ARRAYS)
    gc.collect()
    assert resident() - before < MOST_GROWTH
    assert nd4c.Device("cpu:0").memory["live_count"] - live <= 8


def test_arrays_dropped_by_another_thread():
    """Each thread drops arrays that another one made."""
    boxes = [[] for _ in range(THREADS)]

    def work(number):
        for i in range(2000):
            boxes[(number + 1) % THREADS].append(nd4c.full((4,), float(i)))
            if boxes[number]:
                boxes[number].pop()

    in_threads(work)
    live = nd4c.Device("cpu:0").memory["live_count"]
    in_threads(work)
    boxes.clear()
    gc.collect()
    assert nd4c.Device("cpu:0").memory["live_count"] <= live


def test_one_array_read_by_all():
    x = nd4c.reshape(nd4c.arange(20_000, dtype=nd4c.float64), (100, 200))
    expected = [float(nd4c.sum(x[row])) for row in range(100)]

    def work(number):
        for row in range(100):
            assert float(nd4c.sum(x[row])) == expected[row]
            assert float(nd4c.sum(x * 2 - x)) == float(sum(expected))

    in_threads(work)


def test_errors_stay_with_their_thread():
    x = nd4c.arange(10)

    def work(number):
        for _ in range(500):
            try:
                x[100 + number]
            except IndexError as error:
                assert "index %d is out of range" % (100 + number) in str(error)

    in_threads(work)


def test_long_ops_let_others_run():
    """While one thread multiplies large matrices, this one goes on."""
    a = nd4c.ones((700, 700))
    done, counted = threading.Event(), 0

    def multiply():
        for _ in range(5):
            a @ a
        done.set()

    thread = threading.Thread(target=multiply)
    thread.start()
    while not done.is_set():
        counted += 1
    thread.join()
    assert counted > 100
