"""SessionOptions and RunOptions: settings by ONNX Runtime's names. A setting that nd4c cannot apply raises when it is set."""
import enum

from nd4c._cancellation import cancellation


class GraphOptimizationLevel(enum.IntEnum):
    """ORT_DISABLE_ALL runs the model as it is written; all other levels run nd4c's passes.

    >>> nd4c.onnx.GraphOptimizationLevel.ORT_ENABLE_ALL > nd4c.onnx.GraphOptimizationLevel.ORT_DISABLE_ALL
    True
    """

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Both run the same plan: nd4c decides what runs side by side.

    >>> nd4c.onnx.ExecutionMode(0).name
    'ORT_SEQUENTIAL'
    """

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class SessionOptions:
    """Settings of an InferenceSession.

    graph_optimization_level, intra_op_num_threads (0: all), use_deterministic_compute, enable_profiling with profile_file_prefix,
    and add_free_dimension_override_by_name have an effect, as have the entries "nd4c.precision", "bfloat16", "float16" or "int8", in
    which nodes of float32 then compute, and "nd4c.calibration", the path of the ranges for "int8". Settings about ONNX Runtime's memory, its logs and how it orders
    nodes have none, because nd4c has one way of each. Errors: AttributeError for a name that ONNX Runtime does not have either;
    NotImplementedError for optimized_model_filepath.

    >>> options = nd4c.onnx.SessionOptions()
    >>> options.intra_op_num_threads = 1
    >>> options.graph_optimization_level = nd4c.onnx.GraphOptimizationLevel.ORT_DISABLE_ALL
    >>> options.add_free_dimension_override_by_name("batch", 2)
    >>> options.add_session_config_entry("session.name", "digits")
    >>> options.get_session_config_entry("session.name")
    'digits'
    """

    _PRESETS = {
        "graph_optimization_level": GraphOptimizationLevel.ORT_ENABLE_ALL, "intra_op_num_threads": 0,
        "use_deterministic_compute": False, "enable_profiling": False, "profile_file_prefix": "onnxruntime_profile_",
        "inter_op_num_threads": 0, "execution_mode": ExecutionMode.ORT_SEQUENTIAL, "execution_order": 0, "enable_cpu_mem_arena": True,
        "enable_mem_pattern": True, "enable_mem_reuse": True, "log_severity_level": -1, "log_verbosity_level": 0, "logid": "",
        "use_per_session_threads": True, "optimized_model_filepath": ""}

    def __init__(self):
        self.__dict__.update(self._PRESETS, free_dimensions={}, entries={})

    def __setattr__(self, name, value):
        if name not in self._PRESETS:
            raise AttributeError("SessionOptions: no setting %r; there are %s" % (name, ", ".join(self._PRESETS)))
        if name == "optimized_model_filepath" and value:
            raise NotImplementedError("SessionOptions: nd4c writes no optimised ONNX file; nd4c.onnx.load(...).compile writes "
                                      "what a device's compiler makes")
        if name == "graph_optimization_level":
            value = GraphOptimizationLevel(value)
        if name == "intra_op_num_threads" and (not isinstance(value, int) or value < 0):
            raise ValueError("SessionOptions: intra_op_num_threads is %r, expected a number of threads, or 0 for all" % (value,))
        self.__dict__[name] = value

    def add_free_dimension_override_by_name(self, dim_name, dim_value):
        """Fixes a free dimension by its symbol: other extents are refused when the session runs."""
        self.free_dimensions[dim_name] = int(dim_value)

    def add_session_config_entry(self, config_key, config_value):
        """Stores a text by key, which get_session_config_entry gives back. "nd4c.precision" and "nd4c.calibration" have an effect, none
        of ONNX Runtime's keys has one here."""
        self.entries[str(config_key)] = str(config_value)

    def get_session_config_entry(self, config_key):
        """The text of add_session_config_entry. KeyError without one."""
        return self.entries[config_key]

    def register_custom_ops_library(self, path):
        """Not supported: NotImplementedError.

        >>> nd4c.onnx.SessionOptions().register_custom_ops_library("libcustom.so")
        Traceback (most recent call last):
            ...
        NotImplementedError: SessionOptions: custom ops of ONNX Runtime do not run here; nd4c.plugins.load takes nd4c's own
        """
        raise NotImplementedError("SessionOptions: custom ops of ONNX Runtime do not run here; nd4c.plugins.load takes nd4c's own")


class RunOptions:
    """Settings of one run. Setting `terminate` to True, from any thread, ends runs that were given this object with
    nd4c.errors.CancelledError.

    >>> options = nd4c.onnx.RunOptions()
    >>> options.add_run_config_entry("name", "first")
    >>> options.get_run_config_entry("name")
    'first'
    >>> options.terminate = True
    >>> session = nd4c.onnx.InferenceSession("digits/digits.onnx")
    >>> session.run(None, {"image": nd4c.zeros((1, 1, 8, 8), dtype="float32")}, options)
    Traceback (most recent call last):
        ...
    nd4c.errors.CancelledError: ...
    """

    def __init__(self):
        self.log_severity_level, self.log_verbosity_level, self.logid = -1, 0, ""
        self.only_execute_path_to_fetches = False
        self._entries, self._terminate, self.cancellation = {}, False, cancellation()

    @property
    def terminate(self):
        """Whether runs with this object shall end."""
        return self._terminate

    @terminate.setter
    def terminate(self, value):
        self._terminate = bool(value)
        if self._terminate:
            self.cancellation.request()
        else:
            self.cancellation.reset()

    def add_run_config_entry(self, config_key, config_value):
        """Stores a text by key; none of ONNX Runtime's keys has an effect here."""
        self._entries[str(config_key)] = str(config_value)

    def get_run_config_entry(self, config_key):
        """The text of add_run_config_entry. KeyError without one."""
        return self._entries[config_key]
