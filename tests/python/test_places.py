"""The devices on which arrays are made, copied and computed with, and the devices that they report; each test in a separate
process, which loads the stub backend (with_stub.py)."""
import pytest
from with_stub import needs_stub, run

pytestmark = needs_stub


def test_made_where_it_is_asked_for(tmp_path):
    run("""
        import os
        there, small, random = xp.Device("stub:0"), xp.ones(5), xp.random
        makers = []
        def asked(function, *arguments, **named):
            makers.append((function, arguments, named))
        for name, *arguments in (("uniform", -1, 2, 3), ("normal", 5, 2, 3), ("lognormal", 0, 1, 3),
                ("truncated_normal", 0, 1, -2, 2, 3),
                ("exponential", 2, 3), ("beta", 2, 5, 3), ("geometric", 0.3, 3), ("hypergeometric", 15, 10, 8, 3),
                ("vonmises", 0, 4, 300), ("wald", 3, 2, 3), ("zipf", 1.5, 300), ("multinomial", 9, [0.2, 0.3, 0.5], 3),
                ("dirichlet", [1.0, 2.0], 3), ("multivariate_normal", [0, 1], [[1, 0], [0, 1]], 3), ("normal", [0, 1], 1),
                ("integers", [0, 5], [3, 9]), ("permuted", [[1, 2], [3, 4]]), ("multivariate_hypergeometric", [3, 4], 5, 2),
                ("integers", 0, 9, 3), ("bits", 3), ("bernoulli", 0.5, 3), ("binomial", 9, 0.5, 3),
                ("gamma", 2.0, 1.0, 3), ("poisson", 2.0, 3), ("categorical", [[0.5, 0.5]], 3), ("permutation", 5),
                ("permutation", small), ("shuffled", small), ("choice", 5, 3), ("choice", small, 3), ("dropout", small)):
            asked(getattr(random, name), *arguments)
            here, elsewhere = random.Generator(7), random.Generator(7)
            for _ in range(2):  # the same numbers, and the stream stays on its device
                pair = [getattr(here, name)(*arguments), getattr(elsewhere, name)(*arguments, device=there)]
                first, second = (x[0] if type(x) is tuple else x for x in pair)
                assert first.device == "cpu:0" and second.device == there, name
                assert float(xp.max(xp.abs(first - second.to_device("cpu:0")))) < 1e-12 if first.dtype.kind != "b" else \
                    first.tolist() == second.tolist(), name  # logarithms may differ in their last bit
            assert here.state.tolist() == elsewhere.state.tolist() and elsewhere.state.states == {"cpu:0": "M"}
        assert random.Generator(1, device=there).state.device == there
        folder = os.environ["FOLDER"]
        xp.save(folder + "/one.npy", small)
        for ending in (".npz", ".safetensors"):
            xp.save(folder + "/all" + ending, {"a": small, "b": small})
        for name in ("logspace", "linspace"):
            asked(getattr(xp.ops, name), start=1.0, stop=2.0, num=5)
        for name in ("indices", "zeros", "ones"):
            asked(getattr(xp.ops, name), shape=(2, 3))
        asked(xp.tri, 3), asked(xp.indices, (2, 3)), asked(xp.logspace, 0, 1, 5), asked(xp.hann_window, size=5)
        asked(xp.meshgrid, xp.arange(3), xp.arange(4)), asked(xp.load, folder + "/one.npy")
        asked(xp.load, folder + "/all.npz"), asked(xp.load, folder + "/all.safetensors")
        asked(xp.full, 3, 7), asked(xp.full, 3, xp.ones(())), asked(xp.eye, 3), asked(xp.linspace, 0, 1j, 5)
        asked(xp.fft.fftfreq, 5), asked(xp.arange, 5), asked(xp.arange, 0.5, 3.0, 0.25), asked(xp.arange, 0.0),
        for bounds in ((1e16, 1e16 + 6, 1.0), (0.5, 0.5, 1.0), (1.0, -1.0, -0.3), (0.0, 1.0, 1e-3)):
            for dtype in ("float32", "float64"):
                assert xp.arange(*bounds, dtype=dtype, device=there).tolist() == xp.arange(*bounds, dtype=dtype).tolist()
        asked(xp.astype, small, "int32"), asked(xp.astype, small, small.dtype)
        for function, arguments, named in makers:
            for device in (there, "stub:1", "cpu:0"):
                made = function(*arguments, device=device, **named)
                for array in made.values() if isinstance(made, dict) else made if type(made) is tuple else (made,):
                    assert array.device == device, (function, device)
            with pytest.raises(TypeError, match="int"):
                function(*arguments, device=3, **named)
            with pytest.raises(xp.Error, match="nowhere"):
                function(*arguments, device="nowhere:0", **named)
        with xp.tracing() as trace:  # where the device can compute it, it does
            made = xp.astype(xp.ones(5000), "int8", device=there)
        assert made.states == {there: "M"} and trace.totals()["copied_bytes"] == 40000
        with xp.device("stub:1", fallback=False):  # what the block says still holds
            with pytest.raises(NotImplementedError, match="stub:0"):
                xp.eye(3, device=there)
            assert xp.astype(small, "int32", device=there).device == there and xp.current_device() == "stub:1"
            assert xp.eye(3, device="cpu:0").device == "cpu:0"
        with xp.routing("prefer_gpu", [there, "cpu:0"], small_bytes=0):
            with xp.tracing() as trace:
                assert xp.astype(xp.ones(5000), "int8", device="cpu:0").device == "cpu:0"
            assert trace.totals()["copies"] == 0
        with xp.device(there, transfer="none"):
            assert xp.astype(xp.ones(5), "int32", device=there).device == there
        for device in (None, there, "cpu:0"):  # arrays over a file's bytes are read-only, copies are not
            loaded = xp.load(folder + "/all.safetensors", device=device)["a"]
            if device is None:
                with pytest.raises(ValueError, match="read-only"):
                    loaded += 1
            else:
                loaded += 1
                assert loaded.device == device and loaded.tolist() == [2.0] * 5
        assert xp.load(folder + "/all.safetensors")["a"].tolist() == [1.0] * 5
    """, FOLDER=str(tmp_path))


@pytest.mark.parametrize("backend, device, policy", (("stub", "stub:0", "prefer_cpu"), ("cpu", "cpu:0", "prefer_gpu")))
def test_a_device_asked_for_comes_before_routing(backend, device, policy):
    """Also for the thread's default device, whose work routing outside of blocks would move elsewhere."""
    run("""
        import os
        there, policy, names = xp.Device(os.environ["DEVICE"]), os.environ["POLICY"], ["stub:0", "cpu:0"]
        assert xp.current_device() == there
        xp.config["nd4c.routing.devices"] = names
        x = xp.ones(5000, device=there)
        def by_property(value):
            xp.config["nd4c.routing"] = value or "off"
        def by_default(value):
            xp.set_default_routing(value and xp.routing(value, names))
        for routed in (by_property, by_default):
            for value in (policy, None):
                routed(value)
                assert ((x + x).device == there) == (value is None)
                with xp.tracing() as trace:
                    made = xp.astype(x, "int8", device=there), xp.asarray(x, copy=True)
                assert all(y.states == {there: "M"} for y in made), (routed, value)
                assert trace.totals(None, there)["executions"] == 2 and trace.totals()["copies"] == 0
    """, BACKEND_TYPE=backend, DEVICE=device, POLICY=policy)


def test_copies_stay_where_the_array_is():
    run("""
        import copy, numpy, pickle
        copies = (copy.copy, copy.deepcopy, lambda x: x.copy(), lambda x: xp.asarray(x, copy=True), lambda x: x.to(copy=True),
                  lambda x: xp.astype(x, x.dtype), lambda x: xp.reshape(x, x.shape, copy=True), lambda x: x.flatten())
        for size in (3, 5000):
            there = xp.ones(size, device="stub:0")
            str(there), float(there[0])
            here = xp.ones(size)
            here.prefetch("stub:0")
            names = ["stub:0", "cpu:0"]
            for setting in (None, xp.device("stub:1"), xp.device("cpu:0"), xp.device("stub:1", transfer="none"),
                            xp.routing("prefer_gpu", names, small_bytes=0), xp.routing("prefer_cpu", names, small_bytes=0)):
                for made in copies:
                    if setting is not None:
                        setting.__enter__()
                    for x, device in ((there, "stub:0"), (here, "cpu:0")):
                        y = made(x)
                        assert (x.device, y.device) == (device, device) and y is not x, (size, setting, copies.index(made))
                    if setting is not None:
                        setting.__exit__()
            assert pickle.loads(pickle.dumps(there)).device == "cpu:0" and there.device == "stub:0"
            with xp.device("stub:1"):
                assert pickle.loads(pickle.dumps(there)).device == "stub:1"
            shared = numpy.asarray(there.to("cpu:0"))
            assert there.device == "stub:0" and there.state("stub:0") == "S" and shared.sum() == size
            shared = numpy.asarray(there)  # NumPy may write into it
            assert there.device == "cpu:0" and there.states == {"cpu:0": "M", "stub:0": "I"}
            shared[0] = 7
            assert float(there.to_device("stub:0")[0]) == 7
    """)


@pytest.mark.parametrize("setting", ({"BACKEND_TYPE": "stub"}, {"ND4C_ROUTING_CREATION": "stub:0"}))
def test_numbers_go_where_the_array_is(setting):
    run("""
        with xp.tracing() as trace:  # no device is named: arrays over memory of others are on the host
            for here in (xp.asarray(memoryview(bytes(8)).cast("d")), xp.asarray(memoryview(bytes(40000)).cast("d"))):
                assert float((here + 1)[0]) == 1 and float((2.5 * here)[0]) == 0 and float(xp.minimum(here, -3.0)[0]) == -3
        assert trace.totals()["copies"] == 0
        there = xp.ones(5000, device="stub:0")
        with xp.tracing() as trace:
            assert (there + 1).device == "stub:0"
        assert trace.totals()["copied_bytes"] == 8  # the number, which is made on the device
    """, ND4C_ROUTING="follow_data", ND4C_ROUTING_DEVICES="cpu:0,stub:0", **setting)


def test_computation_follows_the_data():
    run("""
        here, there = xp.ones(5000), xp.ones(5000, device="stub:0")
        assert (there + there).device == "stub:0" and (here + here).device == "cpu:0"
        assert xp.sum(there * 2).device == "stub:0" and float(xp.sum(there * 2)) == 10000
        assert (there[1:3] + 1).tolist() == [2.0, 2.0]
        assert xp.atan(there).device == "cpu:0"  # the stub has no such kernel
        assert xp.config["nd4c.routing"] == "follow_data" and "stub:0" in xp.config["nd4c.routing.devices"]
        assert (xp.ones(3, device="stub:1") + 1).device == "stub:1"
        xp.config["nd4c.routing"] = "off"
        assert (there + there).device == "cpu:0"
        xp.Device("stub:1")
        assert xp.config["nd4c.routing"] == "off"
    """)


def test_reading_moves_no_computation(tmp_path):
    run("""
        import os
        reads = (str, repr, lambda x: x.tolist(), lambda x: float(x[0, 0]), lambda x: xp.save(os.environ["FILE"], x),
                 lambda x: x.to("cpu:0"), lambda x: x.prefetch("cpu:0"), lambda x: x == x, list)
        for size in (2, 100):
            for read in reads:
                x = xp.ones((size, size), device="stub:0")
                for _ in range(2):
                    read(x)
                    assert x.device == (x @ x).device == (x + 1).device == xp.sum(x).device == "stub:0", (size, reads.index(read))
                assert float(xp.sum(x @ x)) == size ** 3
    """, FILE=str(tmp_path / "x.npy"))


def test_a_part_is_read_alone():
    run("""
        here, x = xp.arange(10000.0), xp.arange(10000.0, device="stub:0")
        for read, moved in ((lambda x: float(x[5]), 8), (lambda x: x[-1].item(), 8), (lambda x: x[3:6].tolist(), 24),
                            (lambda x: x[::-4000].tolist(), 24), (str, 48), (repr, 48)):
            with xp.tracing() as trace:
                assert read(x) == read(here)
            assert trace.totals()["copied_bytes"] == moved and x.states == {"stub:0": "M"}, (moved, trace.totals())
    """)


def test_where_an_array_is():
    run("""
        import numpy
        there = xp.Device("stub:0")
        x = xp.reshape(xp.arange(1000.0), (10, 100))
        row = x[1]
        assert x.states == {"cpu:0": "M"} and x.state(there) == "-" and x.is_ready() and not x.is_ready(there)
        x.prefetch(there)
        there.synchronize()
        assert x.states == {"cpu:0": "S", "stub:0": "S"} and x.is_ready("stub:0")
        x.migrate("stub:0")
        assert x.device == row.device == there and x.states == row.states == {there: "M"}
        x += 1
        assert x.states == {"stub:0": "M"} and x.wait() is x
        assert row.tolist()[:2] == [101.0, 102.0] and x.states == row.states == {"stub:0": "M"}  # a tenth is read alone
        assert x.tolist()[1][0] == 101.0 and x.states == row.states == {"cpu:0": "S", "stub:0": "S"}
        row[0] = 7
        assert x.state("cpu:0") + x.state("stub:0") in ("MI", "IM") and x[1, 0].tolist() == 7.0
        assert x.to(there) is x and x.to("cpu:0").device == "cpu:0" and x.to(there, copy=True) is not x
        assert x.to(dtype="float32").dtype is xp.float32 and x.to("cpu:0", "int8").dtype is xp.int8
        for wrong, error, text in ((lambda: xp.asarray(["a"]).migrate(there), TypeError, "strings"),
                                   (lambda: x.migrate("stub:99"), xp.Error, "stub:99"),
                                   (lambda: x.prefetch(None), TypeError, "device"), (lambda: x.state(3), TypeError, "int")):
            with pytest.raises(error, match=text):
                wrong()
        for share in (numpy.asarray, numpy.from_dlpack):
            x = xp.ones(5000)
            shared = share(x)
            x.migrate("stub:0")  # memory shared with NumPy stays
            assert x.device == there and x.states == {"cpu:0": "S", "stub:0": "S"} and shared.sum() == 5000
            assert float(xp.sum(x + 1)) == 10000
    """)
