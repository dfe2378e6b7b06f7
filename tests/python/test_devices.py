"""Several devices: x.device, blocks, memory, workspaces, routing, tracing, models; each test in a process of its own, which loads
the stub backend (with_stub.py)."""
import os
import pathlib

import pytest
from with_stub import needs_stub, run

pytestmark = needs_stub


def test_arguments_and_attributes():
    run("""
        there = xp.Device("stub:0")
        assert there == "stub:0" and there.info["asynchronous"] and not there.info["addressable"]
        assert {"vendor", "driver", "unified_memory"} <= set(there.info)
        for x in (xp.asarray([1.0, 2.0], device=there), xp.zeros(3, device="stub:0"), xp.ones((2, 2), device=there),
                  xp.full(3, 7.0, device=there), xp.empty(4, device=there), xp.arange(5, device=there),
                  xp.linspace(0, 1, 5, device=there), xp.eye(3, device=there), xp.zeros_like(xp.ones(2), device=there)):
            assert x.device == there
        x = xp.asarray([1.0, 2.0])
        assert x.device == "cpu:0"
        y = x.to_device("stub:0")
        assert y.device == there and y.to_device(there) is y and y.tolist() == [1.0, 2.0]
        assert xp.asarray(y, device="cpu:0").device == "cpu:0"
        assert xp.zeros_like(y).device == there
        with pytest.raises(ValueError, match="stub:0"):
            xp.asarray(x, device=there, copy=False)
        with pytest.raises(xp.Error, match="stub:9|has 2"):
            xp.Device("stub:9")
        with pytest.raises(xp.Error, match="nowhere"):
            xp.zeros(3, device="nowhere:0")
        with pytest.raises(TypeError, match="nd4c.Device, not int"):
            xp.zeros(3, device=3)
        block = xp.device("stub:0")
        assert xp.zeros(3, device=block).device == there and xp.Device(block) is there
        assert "stub:1" in xp.devices(probe=True)
    """)


def test_what_the_environment_says_is_kept():
    run("""
        there = xp.ones(5000, device="stub:0")
        assert xp.config["nd4c.routing"] == "prefer_cpu"
        assert (there + there).device == "cpu:0"
    """, ND4C_ROUTING="prefer_cpu")


def test_devices_that_the_environment_names_are_kept():
    run("""
        there = xp.ones(5000, device="stub:1")
        assert xp.config["nd4c.routing.devices"] == "cpu:0,stub:0" and xp.config["nd4c.routing"] == "off"
    """, ND4C_ROUTING_DEVICES="cpu:0,stub:0")


def test_a_block_is_its_threads_own():
    run("""
        import threading
        shared, inside, left, found = xp.device("stub:0"), threading.Event(), threading.Event(), []
        def other():
            with shared:
                inside.set()
                left.wait(60)
                found.append(str(xp.zeros(3).device))
            found.append(str(xp.zeros(3).device))
        thread = threading.Thread(target=other)
        with shared:
            thread.start()
            inside.wait(60)
            assert xp.zeros(3).device == "stub:0"
        assert xp.zeros(3).device == "cpu:0"
        left.set()
        thread.join()
        assert found == ["stub:0", "cpu:0"]
    """)


def test_a_block_has_its_device():
    run("""
        x = xp.ones(5000)
        with xp.device("stub:0") as there:
            assert there == "stub:0"
            assert xp.zeros(3).device == there and (x + 1).device == there and xp.asarray([1.0]).device == there
            with xp.device("stub:1"):
                assert xp.zeros(3).device == "stub:1"
            with xp.device("cpu:0"):
                assert xp.zeros(3).device == "cpu:0" and (x + 1).device == "cpu:0"
            assert xp.zeros(3).device == there
            assert xp.atan(x).device == "cpu:0"
        assert xp.zeros(3).device == "cpu:0" and (x + 1).device == "cpu:0"
        with xp.device("stub:0", fallback=False), pytest.raises(NotImplementedError, match="stub:0"):
            xp.atan(x)
        with pytest.raises(KeyError):
            with xp.device("stub:0"):
                raise KeyError
        assert xp.zeros(3).device == "cpu:0"
        assert repr(xp.device("stub:0")) == "nd4c.device('stub:0')"
    """)


def test_blocks_that_are_left_out_of_order():
    run("""
        import ctypes, threading
        from nd4c._library import bind
        both, x = ["stub:0", "cpu:0"], xp.ones(5000)
        made = (lambda: xp.device("stub:0"), lambda: xp.device("stub:0", fallback=False),
                lambda: xp.device("stub:0", transfer="eager"), lambda: xp.routing("prefer_gpu", both, creation="stub:0"))
        def opened(block):
            with block:
                yield
        def made_on():
            return str(xp.zeros(3).device)
        for one in made:
            for other in (lambda: xp.device("cpu:0"), lambda: xp.device("stub:1", strict=True),
                          lambda: xp.routing(creation="stub:1")):
                for around in (None, "stub:1"):
                    outside = xp.device(around or "cpu:0")
                    with outside:
                        generator = opened(one())
                        next(generator)
                        assert made_on() == "stub:0"
                        with other() as inside:
                            before = made_on(), xp.current_device()
                            assert before[0] != "stub:0"
                            generator.close()  # the inner block stays in force
                            assert (made_on(), xp.current_device()) == before
                            with one():
                                assert made_on() == "stub:0"
                            assert (made_on(), xp.current_device()) == before
                        assert made_on() == xp.current_device() == (around or "cpu:0")
                    assert made_on() == xp.current_device() == "cpu:0" and (x + x).device == "cpu:0"
            first, second = opened(one()), opened(xp.device("stub:1"))  # side by side
            next(first), next(second)
            first.close()
            assert made_on() == xp.current_device() == "stub:1"
            second.close()
            assert made_on() == xp.current_device() == "cpu:0"
            block = one()
            with block:  # what the library refuses can be done later
                context = ctypes.c_void_p()
                if getattr(block, "_settings", None) is None:
                    assert bind("nd4c_context_acquire")(xp.Device("stub:1").handle, ctypes.byref(context)) == 0
                    with pytest.raises(xp.Error, match="out of order"):
                        block.__exit__()
                    assert xp.current_device() == "stub:1" and bind("nd4c_context_release")(context) == 0
                assert made_on() == "stub:0"
            assert made_on() == xp.current_device() == "cpu:0"
            with pytest.raises(RuntimeError, match="no block"):
                block.__exit__()
            with block:
                refused = []
                def leave():
                    with pytest.raises(RuntimeError, match="thread that entered"):
                        block.__exit__()
                    refused.append(True)
                thread = threading.Thread(target=leave)
                thread.start()
                thread.join()
                assert refused == [True] and made_on() == "stub:0"
            assert made_on() == xp.current_device() == "cpu:0"
        assert all(xp.memory.stats(name)["live_count"] == 0 for name in ("stub:0", "stub:1"))
    """)


def test_what_is_known_of_devices():
    run("""
        facts = xp.Device("stub:0").info
        assert facts["native"] and "float32" in facts["dtypes"] and "utf8" not in facts["dtypes"]
        assert facts["uuid"].startswith("0010") and facts["pci"] == "00ab:00:1f.7" and facts["capability"] == "7.1"
        assert facts["vendor"] == "stub" and facts["alignment"] == 64 and xp.Device("cpu:0").info["native"] is None
        from nd4c.__main__ import main
        assert main(["info", "--probe"]) == 0 and "remaining_bytes" in str(xp.info())
        page = str(xp.info())
        assert facts["largest_bytes"] == 0 and "float32" in xp.Device("cpu:0").info["dtypes"]
        assert xp.info()["sharing"]["nd4c.routing"] in page and "nd4c.device.transfer" in page
        assert hex(facts["native"]) in page and "vendor           stub" in page and "live_bytes" in page
        assert xp.current_device() == "cpu:0"
        with xp.device("stub:1"):
            assert xp.current_device() == "stub:1"
        there = xp.Device("stub:0")
        for settings in ({}, {"fallback": False}, {"strict": True}):
            with xp.device(there, **settings) as device:
                handles = device.native_handles()
                assert handles.device == facts["native"] == handles[0] and type(handles.stream) is int
                with pytest.raises(RuntimeError, match="block.*stub:0.*with nd4c.device.'stub:1'"):
                    xp.Device("stub:1").native_handles()
        with pytest.raises(RuntimeError, match="block.*cpu:0.*with nd4c.device.'stub:0'"):
            there.native_handles()
        assert xp.Device("cpu:0").native_handles() == (None, None)
        assert there.peer("stub:1") == ("copy", 1) and there.peer(there) == ("access", 0) and there.peer("cpu:0") == ("none", 0)
        with xp.device(there, priority=2):
            assert (xp.ones(3) + 1).tolist() == [2, 2, 2] and xp.ones(3, device="cpu:0").device == "cpu:0"
        with pytest.raises(ValueError, match="streams of stub:0 have -1 to 2"):
            xp.device(there, priority=3).__enter__()
        with xp.device(there, fallback=False) as device:
            handles = device.native_handles()
            with xp.device(there, fallback=False, stream=handles.stream):  # it lives as long as this block
                assert there.native_handles().stream == handles.stream and (xp.ones(3) + 1).tolist() == [2, 2, 2]
            assert (xp.ones(3) + 2).tolist() == [3, 3, 3]
        with pytest.raises(ValueError, match="is no stream of this device"):
            xp.device(there, stream=handles.device).__enter__()
        with pytest.raises(TypeError, match="stream goes with none"):
            xp.device(there, stream=handles.stream, strict=True)
        assert main(["selftest"]) == 2
    """)


def test_a_device_that_cannot_be_used():
    run("""
        assert "stub:0" in xp.devices(probe=True) and "stub:1" not in xp.devices() and xp.ones(3, device="stub:0").device == "stub:0"
        stub = next(backend for backend in xp.info()["backends"] if backend["name"] == "stub")
        assert len(stub["unusable_devices"]) == 1 and stub["device_count"] == 2
        assert "told to fail" in stub["unusable_devices"][0] and "cannot be used: stub:1" in str(xp.info())
        with pytest.raises(xp.Error, match="stub:1.*told to fail"):
            xp.zeros(3, device="stub:1")
    """, STUB_FAIL="device_open:2:600")


def test_memory():
    run("""
        memory, there = xp.memory, xp.Device("stub:0")
        with xp.device("stub:0"):
            before = memory.stats()
            x = xp.ones(100000)
            assert memory.stats()["live_bytes"] - before["live_bytes"] >= 800000
            assert memory.stats(there) == there.memory and memory.stats("cpu:0") != memory.stats()
        assert "nd4c_array_full" in memory.report("stub:0") and memory.remaining(there) > 0
        del x
        assert memory.stats(there)["cached_bytes"] > 0 and memory.stats(there)["peak_bytes"] >= 800000
        memory.trim(there)
        memory.reset_peak(there)
        assert memory.stats(there)["cached_bytes"] == 0 and memory.stats(there)["peak_bytes"] < 800000
        memory.set_cap(1000000, there)
        assert memory.stats(there)["cap_bytes"] == 1000000 and memory.remaining(there) <= 1000000
        with pytest.raises(MemoryError, match="(?s)stub:0.*1000000|1000000.*stub:0"):
            xp.zeros(200000, device=there)
        memory.set_cap(0, there)
        assert xp.zeros(200000, device=there).shape == (200000,)
        with pytest.raises(ValueError, match="-1"):
            memory.set_cap(-1, there)
        with pytest.raises(OverflowError, match="64 bits"):
            memory.set_cap(2 ** 70, there)
        with pytest.raises(TypeError):
            memory.trim(there, keep_bytes=1.5)
    """)


def test_transfer_policies():
    run("""
        x, there = xp.ones(5000) + 0, xp.ones(5000, device="stub:0")
        assert float((x + 1)[0]) == 2
        with xp.device("stub:0", transfer="none", fallback=False):
            assert float((there + 1)[0]) == 2 and (there + 2).tolist()[0] == 3
            with pytest.raises(NotImplementedError, match="stub:0"):
                there + x
        with xp.device("stub:0", transfer="eager"):
            x += there
            assert x.device == "stub:0"
            xp.Device("stub:0").synchronize()
            assert x.states == {"cpu:0": "S", "stub:0": "S"}
        with xp.device("stub:0", deterministic=True, strict=True), xp.device("cpu:0"):
            assert xp.current_device() == "cpu:0"
        assert xp.current_device() == "cpu:0" and float(x[0]) == 2
        with pytest.raises(ValueError, match="on_demand.*eager"):
            xp.device("stub:0", transfer="always")
    """)


def test_cancellation():
    run("""
        import threading
        x, errors = xp.ones((300, 300)), xp.errors
        with xp.cancellation() as c:
            y = x + 1
            c.request()
            with pytest.raises(errors.CancelledError, match="cancelled by nd4c_cancellation_request"):
                x + 1
            c.reset()
            assert float((x + 1)[0, 0]) == 2
        with pytest.raises(TimeoutError, match="deadline"), xp.cancellation(timeout=0.05):
            while True:
                y = xp.matmul(x, x)
        assert float((x + 1)[0, 0]) == 2 and issubclass(errors.DeadlineError, (xp.Error, TimeoutError))
        stop, seen = xp.cancellation(), []
        def work():
            try:
                with stop:
                    seen.append("begun")
                    while True:
                        xp.matmul(x, x)
            except errors.CancelledError:
                seen.append("cancelled")
        thread = threading.Thread(target=work)
        thread.start()
        while not seen:
            pass
        stop.request()
        thread.join()
        assert seen == ["begun", "cancelled"] and repr(stop) == "nd4c.cancellation()"
        for wrong in (-1, float("nan")):
            with pytest.raises(ValueError, match="timeout"):
                xp.cancellation(wrong)
    """)


def test_workspaces():
    run("""
        import numpy, threading
        there, step = xp.Device("stub:0"), xp.workspace()
        for cycle in range(4):
            with step as inside:
                assert inside is step
                x = xp.ones(5000, device=there) + 1
                y = xp.ones(5000) + 1
                shared = numpy.asarray(y)
                with step:
                    z = xp.ones(5000) + y
                assert step.stats()["depth"] == 1 and step.stats()["live_count"] > 0
            if cycle > 1:
                assert step.stats(there)["bytes"] > 0 and step.stats()["spilled_count"] == spilled
            spilled = step.stats()["spilled_count"]
            assert float(xp.sum(x)) == float(xp.sum(y)) == shared.sum() == 10000 and z.tolist()[0] == 3
        assert step.stats()["cycles"] == 4 and step.stats()["moved_count"] >= 8 and step.stats()["live_count"] == 0
        refusing = xp.workspace(outliving="refused", device="cpu:0", initial_bytes=100000)
        with pytest.raises(ValueError, match="1 array.*40000 bytes on cpu:0"):
            with refusing:
                x, y = xp.ones(5000), xp.ones(5000, device=there)
        assert refusing.stats()["depth"] == 1
        del x
        refusing.leave()
        assert refusing.stats()["depth"] == 0 and float(y[0]) == 1
        with pytest.raises(ValueError, match="not entered"):
            refusing.leave()
        xp.config["nd4c.memory.origins"] = True  # then small arrays, too, are of the workspace, but for kept numbers
        for function in (lambda x: (x + 1, x * 0, 0.5 - x), lambda x: x.__setitem__(0, 3), lambda x: xp.minimum(x, 7)):
            for kind in ("int8", "uint8", "float16", "float32", "float64", "complex64"):
                x = xp.ones(2, dtype=kind)
                with xp.workspace(outliving="refused"):
                    try:
                        function(x)
                    except TypeError:  # complex numbers have no order
                        pass
        xp.config["nd4c.memory.origins"] = False
        named = xp.workspace("step")
        def other():
            with named:
                xp.ones(5000)
            found.append(named.stats()["cycles"])
        found = []
        for _ in range(2):
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        with named:
            with pytest.raises(ValueError, match="'step': a workspace without a name was entered after it"):
                with step:
                    named.leave()
        assert found == [1, 1] and xp.workspace("step").stats()["cycles"] == 1
        with pytest.raises(ValueError, match="moved_out"):
            xp.workspace(outliving="kept")
        with pytest.raises(ValueError):
            xp.workspace("")
        assert repr(named) == "nd4c.workspace('step')"
    """)


def test_workspaces_that_are_left_out_of_order():
    run("""
        import threading
        from nd4c._library import bind
        current = bind("nd4c_workspace_current")
        def opened(workspace):
            with workspace:
                yield
        def depths():
            return [workspace.stats()["depth"] for workspace in (inside, kept, named)]
        inside, kept, named = xp.workspace(), xp.workspace(), xp.workspace("step")
        for _ in range(3):
            unheld, held, same = opened(xp.workspace()), opened(kept), opened(xp.workspace("step"))
            next(unheld), next(held), next(same)
            with named:  # entered by two objects of that name
                with inside:
                    unheld.close(), same.close()
                    x = xp.ones(5000)
                    assert depths() == [1, 1, 2]
                assert depths() == [0, 1, 1]
            assert depths() == [0, 1, 0]
            held.close()  # and the one around it, which has no other reference
            assert depths() == [0, 0, 0] and current() is None and float(xp.sum(x)) == 5000
        refusing = xp.workspace(outliving="refused")
        refused = opened(refusing)
        next(refused)
        y = xp.ones(5000)
        with pytest.raises(ValueError, match="outlive|1 array"):
            with inside:
                refused.close()
        assert refusing.stats()["depth"] == 1 and inside.stats()["depth"] == 0
        del y
        refusing.leave()
        with refusing, inside:
            assert refusing.stats()["depth"] == 1
        assert current() is None
        def other():
            with xp.workspace(), pytest.raises(ValueError, match="not entered"):
                kept.__exit__()
            found.append(current())
        found = []
        with kept:
            thread = threading.Thread(target=other)
            thread.start()
            thread.join()
        assert found == [None] and current() is None
    """)


def test_routing():
    run("""
        import threading
        x, both = xp.ones(5000), ["stub:0", "cpu:0"]
        gpu = xp.routing("prefer_gpu", both)
        def added():
            found.append(str((x + x).device))
        found = []
        for _ in range(2):
            with gpu as inside:
                assert inside is gpu and (x + x).device == "stub:0" and xp.zeros(3).device == "cpu:0"
                small = xp.ones(5)
                assert [float((small + number)[0]) for number in (1, 2, 3)] == [2, 3, 4]
                thread = threading.Thread(target=added)
                thread.start()
                thread.join()
                with xp.routing("prefer_cpu", both):
                    assert (x + x).device == "cpu:0"
            assert (x + x).device == "cpu:0"
        with xp.routing(devices=both, ops={xp.add: ["stub:1"]}, categories={"reduction": ["cpu:0"]}, creation="stub:1"):
            assert (x + x).device == "stub:1" and xp.zeros(3).device == "stub:1" and xp.sum(x + x).device == "cpu:0"
        with xp.routing("follow_data", both, transfer=False, creation="routed", small_bytes=0):
            there = xp.ones(5000, device="stub:0")
            with pytest.raises(ValueError, match="add.*cpu:0.*stub:0"):
                xp.ones(5000, device="cpu:0") + there
            for twice in range(2):
                assert (there + 1).device == "stub:0" and xp.where(there > 0, there, 3).device == "stub:0"
        with xp.routing("follow_data", both, transfer=False, creation="stub:0"):
            for here in (xp.ones(5000, device="cpu:0"), xp.ones(5, device="cpu:0")):  # not on the device of creation
                assert (here + 1).device == (2.5 * here).device == "cpu:0" and xp.minimum(here, 3).device == "cpu:0"
        with xp.device("cpu:0", transfer="none"), xp.routing("prefer_gpu", ["stub:0"], small_bytes=0):
            here = xp.ones(5000, device="cpu:0")
            with pytest.raises(NotImplementedError, match="stub:0"):  # what the block around says still holds
                here + here
            with xp.device("cpu:0"), xp.routing("prefer_gpu", both):
                assert (here + here).device == "stub:0"
        import ctypes, os
        control = ctypes.CDLL(os.environ["ND4C_BACKEND_PLUGINS"]).stub_control
        with xp.routing("prefer_gpu", both, wait=True):
            for fault, device in ((b"fail in_flight:1", "cpu:0"), (b"reset", "stub:0")):
                assert control(fault) == 0
                total = x + x
                assert total.device == device and float(total[-1]) == 2
        with xp.device("stub:0", transfer="eager"), xp.routing("prefer_gpu", both):
            eager = xp.ones(5000, device="cpu:0")
            eager += there
            xp.Device("stub:0").synchronize()
            assert eager.states == {"cpu:0": "S", "stub:0": "S"}
        xp.set_default_routing(gpu)
        assert (x + x).device == "stub:0"
        added()
        xp.set_default_routing(None)
        added()
        assert found == ["cpu:0", "cpu:0", "stub:0", "cpu:0"]
        for wrong, error, text in ((lambda: xp.routing("fast"), ValueError, "prefer_gpu"),
                                   (lambda: xp.routing(devices="stub:0"), TypeError, "list"),
                                   (lambda: xp.routing(devices=["cpu:0"] * 9), ValueError, "9"),
                                   (lambda: xp.routing(categories={"rocket": both}), ValueError, "reduction"),
                                   (lambda: xp.routing(ops={"addd": both}), ValueError, "addd"),
                                   (lambda: xp.routing(ops={"add": ["stub:99"]}), xp.Error, "stub:99"),
                                   (lambda: xp.set_default_routing("gpu"), TypeError, "str")):
            with pytest.raises(error, match=text):
                wrong()
        assert repr(gpu) == "nd4c.routing('prefer_gpu')"
    """)


def test_tracing(tmp_path):
    run("""
        import json, os
        path, x = os.environ["TRACE"], xp.ones(5000)
        with xp.tracing(path) as trace:
            with xp.device("stub:0"):
                y = x + x
            assert trace.totals()["executions"] == 1 and "stub:0" in trace.table
            with pytest.raises(RuntimeError, match="already"):
                with xp.tracing():
                    pass
            y.tolist()
        assert trace.totals("cpu:0", "stub:0")["copied_bytes"] == 40000 and trace.totals("stub:0")["copies"] == 1
        assert trace.totals()["copies"] == 2 and "stub:0" in str(trace)
        assert json.load(open(path))
        with pytest.raises(OSError, match="nosuch"):
            with xp.tracing("/nosuch/trace.json") as other:
                x + x
        assert other.totals()["executions"] == 1 and "cpu:0" in str(other) and trace.totals()["copies"] == 2
        with pytest.raises(RuntimeError, match="another"):
            trace.totals("cpu:0")
        with pytest.raises(RuntimeError, match="nothing"):
            xp.tracing().totals()
        import threading
        with xp.tracing() as trace:
            x + x
            thread = threading.Thread(target=lambda: x - x + x)
            thread.start()
            thread.join()
        assert trace.totals()["threads"] == 2 and trace.totals()["executions"] == 3
        assert sorted(trace.totals(thread=number)["executions"] for number in (1, 2)) == [1, 2]
        assert trace.totals(None, "stub:0", thread=1)["executions"] == 0
        for wrong, error in ((0, IndexError), (3, IndexError), (2 ** 40, IndexError), ("1", TypeError)):
            with pytest.raises(error, match="thread|integer"):
                trace.totals(thread=wrong)
    """, TRACE=str(tmp_path / "trace.json"))
    for word in ("true", str(tmp_path / "own.json"), "no"):  # the property's recording continues beside it
        run("""
            from nd4c._library import bind
            x = xp.ones(5000) + 1
            with xp.tracing() as trace:
                x + x
                with pytest.raises(RuntimeError, match="already"):
                    xp.tracing().__enter__()
            assert trace.totals()["executions"] == 1 and not bind("nd4c_trace_is_on")()
        """, ND4J_MULTIBACKEND_TRACE=word)
    assert (tmp_path / "own.json").exists()


def test_models():
    run("""
        import ctypes, gc, os, weakref
        path, x = os.environ["MODEL"], xp.ones((2, 1, 8, 8), dtype="float32")
        plain = xp.onnx.load(path)
        expected, seen = plain(x), []
        alternating = xp.onnx.load(path, devices=["cpu:0", "stub:0"])
        assert float(xp.max(xp.abs(alternating(x) - expected))) < 1e-4 and "stub:0" in alternating.report()
        def placed(node):
            seen.append(node)
            return "stub:0" if node.op == "softmax" else None
        assert float(xp.max(xp.abs(xp.onnx.load(path, devices=placed)(x) - expected))) < 1e-4
        assert [node.index for node in seen] == list(range(seen[0].count)) and "conv" in {node.op for node in seen}
        for wrong, error, text in ((["stub:99"], xp.Error, "stub:99"), ("stub:0", TypeError, "list"), ([], ValueError, "0 devices"),
                                   (lambda node: 1 / 0, ZeroDivisionError, ""),
                                   (lambda node: 3, TypeError, "node 0 of 6, 'Relu' .conv.*not int"),
                                   (lambda node: "nowhere:0", xp.Error, "node 0 of 6, 'Relu' .conv.*nowhere")):
            with pytest.raises(error, match=text):
                model = xp.onnx.load(path, devices=wrong)
                with pytest.raises(error, match=text):
                    model(x)
                model(x)
        for failure in (KeyboardInterrupt, MemoryError, ZeroDivisionError):  # not asked again in that run, asked in the next
            asked, failures = [], [failure("once")]
            def failing(node):
                asked.append(node.index)
                if failures and node.index == 1:
                    raise failures.pop()
                return "stub:0"
            model = xp.onnx.load(path, devices=failing)
            with pytest.raises(failure, match="once"):
                model(x)
            assert asked == [0, 1] and float(xp.max(xp.abs(model(x) - expected))) < 1e-4 and "stub:0" in model.report()
            assert asked[2:] == list(range(seen[0].count))
        for wrong in ({"devices": lambda: "stub:0"}, {"devices": lambda node, more: "stub:0"}, {"devices": 3},
                      {"devices": ["stub:0"], "device": "stub:0"}, {"device": 3}):  # known before it runs
            with pytest.raises(TypeError, match="device"):
                xp.onnx.load(path, **wrong)
        with pytest.raises(xp.Error, match="nowhere"):
            xp.onnx.load(path, device="nowhere:0")
        whole = xp.onnx.load(path, device="stub:0")
        assert float(xp.max(xp.abs(whole(x) - expected))) < 1e-4 and "not applied: nothing" in whole.report()
        assert whole.report().startswith("plan on stub:0")
        assert xp.current_device() == "cpu:0"
        control, refused = ctypes.CDLL(os.environ["ND4C_BACKEND_PLUGINS"]).stub_control, xp.onnx.load(path, device="stub:0")
        assert control(b"fail usable:0") == 0  # the stub's kernels decline every call
        assert float(xp.max(xp.abs(refused(x) - expected))) < 1e-4 and "nothing on stub:0" in refused.report()
        with xp.device("stub:1", fallback=False), pytest.raises(NotImplementedError, match="stub:0"):
            refused(x)
        assert control(b"reset") == 0
        made = []  # a plan serves every block that is like the one that it was made in
        for options in ({}, {"device": "stub:0"}):
            counted = xp.onnx.load(path, progress=lambda what, done, total: what == "preparing" and made.append(done), **options)
            for settings in ({}, {"transfer": "eager"}):
                made.clear()
                for again in range(3):
                    with xp.device("stub:0", **settings):
                        assert float(xp.max(xp.abs(counted(x) - expected))) < 1e-4
                assert made == sorted(made) and made.count(made[-1]) == 1 and len(made) > 3  # node after node, once
        gc.disable()
        kept = weakref.ref(model)
        del model
        assert kept() is None
    """, MODEL=str(pathlib.Path(os.environ.get("ND4C_TEST_SOURCE_DIR", pathlib.Path(__file__).parents[2]), "examples", "digits",
                               "digits.onnx")))


def test_a_run_of_which_the_end_of_its_block_tells_a_failure():
    run("""
        import ctypes, os
        control, names = ctypes.CDLL(os.environ["ND4C_BACKEND_PLUGINS"]).stub_control, ("cpu:0", "stub:0")
        x, held = xp.ones((2, 3, 4), dtype="float32"), []
        for fails in (False, True):
            model = xp.onnx.load(os.environ["MODEL"], device="stub:0")
            with xp.device("cpu:0", transfer="on_demand"):  # settings: the run's block has a context that ends with it
                if fails:
                    assert control(b"fail in_flight:1") == 0
                    with pytest.raises(xp.Error, match="told to fail"):
                        model.run({"x": x})
                else:
                    assert model.run({"x": x})["add"].device == "stub:0"
            assert control(b"reset") == 0 and xp.current_device() == "cpu:0"
            del model
            held.append([xp.memory.stats(name)["live_count"] for name in names])
        assert held[0] == held[1]  # the failed run gave no outputs, and they are released
    """, MODEL=str(pathlib.Path(__file__).parents[1] / "data" / "onnx" / "legacy_6.onnx"))


def test_opencl():
    if "absent" in run("""
        try:
            there = xp.Device("opencl:0")
        except xp.Error:
            print("absent")
            raise SystemExit
        assert there.info["native"] and there.info["vendor"] and there.info["type"] == "opencl"
        x = xp.ones(5000, dtype="float32")
        before = xp.memory.stats(there)["live_bytes"]
        x.migrate(there)
        assert x.states == {there: "M"} and xp.memory.stats(there)["live_bytes"] >= before + 20000
        with xp.tracing() as trace, xp.routing("prefer_gpu", [there, "cpu:0"]), xp.workspace() as step:
            y = x + 1
        assert y.device == there and trace.totals(there, "cpu:0")["copies"] == 0 and step.stats(there)["moved_count"] == 1
        assert y.tolist() == [2.0] * 5000 and y.states == {"cpu:0": "S", there: "S"}
        generator = xp.random.Generator(7)
        with xp.tracing() as trace:  # computed there: the generator's state is all that is sent
            made = generator.random(5000, dtype="float32", device=there)
            grid, row = xp.indices((50, 60), device=there), xp.arange(0.0, 9.0, 0.25, dtype="float32", device=there)
        assert made.device == grid.device == there and generator.state.states == {"cpu:0": "M"}
        assert row.tolist() == xp.arange(0.0, 9.0, 0.25, dtype="float32").tolist()
        assert trace.totals()["copied_bytes"] == 16 and grid.tolist() == xp.indices((50, 60)).tolist()
        assert made.tolist() == xp.random.Generator(7).random(5000, dtype="float32").tolist()
        generator = xp.random.Generator(7, device=there)  # numbers and lists do not draw what it makes to the host
        for name, *arguments in (("uniform", -1, 2, 3), ("normal", 5, 2, 3), ("lognormal", 0, 1, 3), ("truncated_normal", 0, 1, -2, 2, 3),
                ("exponential", 2, 3), ("beta", 2, 5, 3), ("geometric", 0.3, 3), ("hypergeometric", 15, 10, 8, 3),
                ("vonmises", 0, 4, 300), ("wald", 3, 2, 3), ("zipf", 1.5, 300), ("multinomial", 9, [0.2, 0.3, 0.5], 3),
                ("dirichlet", [1.0, 2.0], 3), ("multivariate_normal", [0, 1], [[1, 0], [0, 1]], 3), ("normal", [0, 1], 1),
                ("integers", [0, 5], [3, 9]), ("permuted", [[1, 2], [3, 4]]), ("multivariate_hypergeometric", [3, 4], 5, 2),
                ("integers", 0, 9, 3), ("bits", 3), ("bernoulli", 0.5, 3), ("binomial", 9, 0.5, 3),
                ("binomial", [9] * 50, [0.5] * 50), ("gamma", 2.0, 1.0, 3), ("poisson", 2.0, 3), ("poisson", [2.0] * 50),
                ("categorical", [[0.5, 0.5]], 3), ("permutation", 5), ("shuffled", [1.0] * 50), ("choice", 5, 3),
                ("choice", 50, 3), ("dropout", [1.0] * 50)):
            made = getattr(generator, name)(*arguments)
            assert (made[0] if type(made) is tuple else made).device == there, (name, arguments)
        assert generator.choice(3, 3, p=[0.5, 0.25, 0.25]).device == there and generator.state.states == {there: "M"}
        assert generator.poisson(xp.ones(5000)).device == "cpu:0"  # an array is where it is
        with xp.device("cpu:0"):
            assert generator.binomial(9, 0.5, 3).device == "cpu:0"
        with xp.device(there) as device:
            assert device.native_handles().device == there.info["native"] and device.native_handles().stream
    """):
        pytest.skip("no OpenCL device")
