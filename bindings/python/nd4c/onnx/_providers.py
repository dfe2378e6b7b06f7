"""ONNX Runtime's names of execution providers for nd4c's backends, and the choice of a session's device by them."""
import warnings

from nd4c import _devices

_NAMES = {"cpu": "CPU", "cuda": "CUDA", "opencl": "OpenCL", "openvino": "OpenVINO", "hexagon": "QNN", "tpu": "TPU"}
# The others of ONNX Runtime, of all its releases, in small letters.
_KNOWN = frozenset("""acl armnn azure cann coreml cuda dml dnnl js migraphx nnapi ngraph nuphar nvtensorrtrtx openvino qnn
    rknpu rocm snpe stvm tensorrt tvm vitisai vsinpu vulkan webgpu webnn xnnpack""".split())


def name_of(device):
    """The provider of a Device."""
    backend = device.name.partition(":")[0]
    return _NAMES.get(backend, backend) + "ExecutionProvider"


def get_available_providers():
    """Providers of the devices of this machine, in the order of their backends' priorities.

    >>> "CPUExecutionProvider" in nd4c.onnx.get_available_providers()
    True
    """
    return list(dict.fromkeys(name_of(device) for device in _by_priority()))


def get_all_providers():
    """All providers that have a name here, also those of devices that this machine lacks.

    >>> "CPUExecutionProvider" in nd4c.onnx.get_all_providers()
    True
    """
    return [name + "ExecutionProvider" for name in _NAMES.values()]


def get_device():
    """The kind of the default device, such as "CPU".

    >>> nd4c.onnx.get_device() in ("CPU", "GPU", "CPU-OPENVINO") or nd4c.onnx.get_device().isupper()
    True
    """
    return name_of(_devices.default())[:-len("ExecutionProvider")].upper()


def _by_priority():
    """All devices, the default one first and the host last."""
    default = _devices.default()
    return sorted(_devices.every(), key=lambda device: (device.name.startswith("cpu:"), device is not default))


def chosen(providers, options):
    """The device that a list of providers selects, and the (name, options) of those that are used.

    An entry is a name or a pair of name and options; device_id among the options picks one of several devices. A provider
    without a device on this machine is left out with a warning, as ONNX Runtime does. Errors: ValueError for a name that is no
    provider, for lists of different lengths, and for a device_id that does not exist."""
    if providers is None:
        return None, [(name, {}) for name in get_available_providers()]
    if isinstance(providers, str):
        raise TypeError("InferenceSession: providers is a list of names, not the text %r" % (providers,))
    if options is not None and len(options) != len(providers):
        raise ValueError("InferenceSession: provider_options has %d entries, providers has %d" % (len(options), len(providers)))
    pairs = [entry if isinstance(entry, tuple) else (entry, (options or {})[number] if options else {})
             for number, entry in enumerate(providers)]
    available = get_available_providers()
    used = []
    for name, settings in pairs:
        if _is_available(name, available):
            used.append((name, dict(settings)))
    if "CPUExecutionProvider" not in dict(used):
        used.append(("CPUExecutionProvider", {}))
    return _device_of(*used[0]), used


def _is_available(name, available):
    if name in available:
        return True
    if name not in get_all_providers() and not _is_known(name):
        raise ValueError("InferenceSession: %r is no provider of ONNX Runtime or nd4c; this machine has %s"
                         % (name, ", ".join(available)))
    warnings.warn("InferenceSession: %s has no device of nd4c's on this machine and is left out; available: %s"
                  % (name, ", ".join(available)), stacklevel=5)
    return False


def _is_known(name):
    """Whether ONNX Runtime has a provider of this name, in whatever release or spelling."""
    small = name.lower() if isinstance(name, str) else ""
    return small.endswith("executionprovider") and small[:-len("executionprovider")] in _KNOWN


def _device_of(name, settings):
    devices = [device for device in _by_priority() if name_of(device) == name]
    number = int(settings.get("device_id", 0))
    for device in devices:
        if device.name.endswith(":%d" % number):
            return device
    raise ValueError("InferenceSession: %s has no device_id %d; there are %s" % (name, number, ", ".join(map(str, devices))))
