"""Several devices: arguments device=, x.device, to_device, with nd4c.device(...); each test in a process of its own, which
loads the stub backend of the build folder."""
import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import nd4c

stub = pathlib.Path(nd4c.__file__).parent / "lib" / "libnd4c_stub.so"
pytestmark = pytest.mark.skipif(not stub.exists(), reason="no stub backend beside the library: not a build folder")


def run(program, **environment):
    settings = dict(os.environ, ND4C_BACKEND_PLUGINS=str(stub), **environment)
    done = subprocess.run([sys.executable, "-c", "import nd4c as xp, pytest\n" + textwrap.dedent(program)], env=settings,
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_arguments_and_attributes():
    run("""
        there = xp.Device("stub:0")
        assert there == "stub:0" and there.info["asynchronous"] and not there.info["host_addressable"]
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
        with pytest.raises(TypeError):
            xp.zeros(3, device=3)
        assert "stub:1" in xp.devices(probe=True)
    """)


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
