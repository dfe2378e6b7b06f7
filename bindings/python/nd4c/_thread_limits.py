"""threadpoolctl's limits hold for nd4c as well: `with threadpoolctl.threadpool_limits(1): ...` sets nd4c.width meanwhile.

threadpoolctl learns of nd4c when both are imported, in either order. nd4c does not import it: most programs have no use for it."""
import ctypes
import sys

from nd4c import _abi
from nd4c._errors import check
from nd4c._library import bind, version

_MODULE = "threadpoolctl"


def _width():
    row = _abi.machine_info(struct_size=ctypes.sizeof(_abi.machine_info))
    check(bind("nd4c_machine_get_info")(ctypes.byref(row)))
    return row.width


def _register(module):
    """Registers nd4c with threadpoolctl. Versions before 3.2 have no `register`, so their limits do not reach nd4c."""
    if not hasattr(module, "register"):
        return
    from nd4c._config import config

    class Controller(module.LibController):
        user_api, internal_api = "blas", "nd4c"  # limits of "blas" are meant for all that multiplies
        filename_prefixes = ("libnd4c.",)
        check_symbols = ("nd4c_config_set",)
        replaced = None  # the width before the outermost limit, and the property's value

        def get_num_threads(self):
            return _width()

        def set_num_threads(self, num_threads):
            if Controller.replaced is None:
                Controller.replaced = _width(), config["nd4c.width"]
            width, value = Controller.replaced
            config["nd4c.width"] = value if num_threads == width else num_threads
            if num_threads == width:
                Controller.replaced = None

        def get_version(self):
            return version

    module.register(Controller)


class _Watch:
    """Waits in sys.meta_path for the import of threadpoolctl."""

    def find_spec(self, name, path=None, target=None):
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find else None
            if spec is not None:
                if spec.loader is not None:
                    self._register_after(spec.loader)
                return spec
        sys.meta_path.insert(0, self)  # not installed; it may be later
        return None

    @staticmethod
    def _register_after(loader):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            if module.__name__ == _MODULE:  # a loader may be one for all modules of an archive
                _register(module)

        loader.exec_module = exec_module


def attach():
    if _MODULE in sys.modules:
        _register(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Watch())
