"""nd4c.memory: arrays over memory by address, descriptor and handle; registered memory."""
import ctypes
import gc
import mmap
import os
import weakref

import pytest

import nd4c as xp
from with_stub import needs_stub, run


class Owner:
    """A block of doubles 0, 1, 2, ... whose release the test can observe."""

    def __init__(self, count):
        self.cells = (ctypes.c_double * count)(*range(count))
        self.address = ctypes.addressof(self.cells)


def test_an_address_is_shared_and_its_owner_kept():
    owner = Owner(6)
    gone, address, cells = weakref.ref(owner), owner.address, owner.cells
    x = xp.memory.from_external("host_pointer", address, (2, 3), "float64", "cpu:0", owner=owner)
    backwards = xp.memory.from_external("host_pointer", address, 3, xp.float64, "cpu:0", strides=(-2,), start=4, owner=owner)
    del owner
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and backwards.tolist() == [4, 2, 0]
    x *= 2
    assert list(cells) == [0, 2, 4, 6, 8, 10]
    assert xp.memory.stats("cpu:0")["imported_count"] == 2
    assert "imported from a host pointer" in xp.memory.report("cpu:0")
    del x, backwards
    gc.collect()
    assert gone() is None and xp.memory.stats("cpu:0")["imported_bytes"] == 0


def test_descriptors_are_shared():
    descriptor = os.memfd_create("test")
    os.ftruncate(descriptor, 8192)
    x = xp.memory.from_external("descriptor", descriptor, 10, "int32", "cpu:0", offset=4100)
    x += 7
    with mmap.mmap(descriptor, 8192) as seen:
        os.close(descriptor)
        assert seen[4100:4104] == b"\7\0\0\0" and seen[4096:4100] == b"\0\0\0\0"
    with xp.memory.to_external(x, "descriptor") as given:
        assert given.kind == "descriptor" and (given.offset, given.bytes, given.start) == (4100, 40, 0)
        again = xp.memory.from_external("descriptor", given.place, 10, "int32", "cpu:0", offset=given.offset, read_only=True)
    assert again.tolist() == [7] * 10
    with pytest.raises(ValueError, match="read-only"):
        again += 1


def test_an_export_keeps_the_array():
    x = xp.asarray([1.0, 2.0, 3.0], device="cpu:0")
    given = xp.memory.to_external(x[1:], "host_pointer")
    address = given.place + 8 * given.start
    del x
    assert ctypes.c_double.from_address(address).value == 2 and not given.read_only
    given.release()
    given.release()


def test_refusals():
    owner, before = Owner(2), len(xp._memory._owners)
    make = xp.memory.from_external
    for error, words, arguments in (
            (IndexError, "elements 0 to 2 of memory that has 2 of float64", ("host_pointer", owner.address, 3, "float64")),
            (NotImplementedError, "cpu:0 imports no device pointer", ("device_pointer", owner.address, 2, "float64")),
            (ValueError, "is none of 'host_pointer'", ("pointer", owner.address, 2, "float64")),
            (OverflowError, "is no descriptor", ("descriptor", 2 ** 40, 2, "float64"))):
        with pytest.raises(error, match=words):
            make(*arguments, device="cpu:0", bytes=16, owner=owner)
    with pytest.raises(ValueError, match="1 strides for 2 axes"):
        make("host_pointer", owner.address, (1, 2), "float64", "cpu:0", strides=(1,))
    with pytest.raises(NotImplementedError, match="cpu:0 page-locks no memory"):
        xp.memory.register(bytearray(100), "cpu:0")
    with pytest.raises(NotImplementedError, match="exports no native handle"):
        xp.memory.to_external(xp.ones(2, device="cpu:0"), "native")
    assert len(xp._memory._owners) == before
    assert xp.Device("cpu:0").info["imports"] == ("host_pointer", "descriptor")


@needs_stub
def test_devices_elsewhere():
    run("""
        import ctypes
        there = xp.Device("stub:0")
        assert there.info["registers_host"] and "device_pointer" in there.info["imports"]
        x = xp.arange(6, dtype="float32", device=there)
        y = xp.from_dlpack(x)
        assert y is x
        class Foreign:  # DLPack's own way, by address
            __dlpack__, __dlpack_device__ = x.__dlpack__, x.__dlpack_device__
        y = xp.from_dlpack(Foreign())
        assert y.device == there and xp.memory.stats(there)["imported_count"] == 1
        y += 1
        there.synchronize()
        assert x.tolist() == [1, 2, 3, 4, 5, 6]
        given = xp.memory.to_external(x[2:], "device_pointer")
        z = xp.memory.from_external("device_pointer", given.place, 4, "float32", there, start=given.start, bytes=given.bytes,
                                    owner=given)
        del given
        assert z.tolist() == [3, 4, 5, 6]
        del x, y, z
        block = bytearray(3 << 20)
        with xp.memory.register(block, there):
            with pytest.raises(BufferError):
                block.append(1)  # held
            with pytest.raises(ValueError, match="registered already"):
                xp.memory.register(block, there)
            assert int(xp.sum(xp.asarray(block, device=there))) == 0
        block.append(1)
    """, STUB_MEMORY="address")


@needs_stub
def test_importing_asks_for_the_device():
    """If from_external is the first call that names a device, ops on the array still run on that device."""
    run("""
        import ctypes
        cells = (ctypes.c_float * 4)(1, 2, 3, 4)
        x = xp.memory.from_external("host_pointer", ctypes.addressof(cells), 4, "float32", "stub:0", owner=cells)
        x += 5
        xp.Device("stub:0").synchronize()
        assert x.device == "stub:0" and list(cells) == [6, 7, 8, 9], (x.device, list(cells))
    """, STUB_MEMORY="address")
