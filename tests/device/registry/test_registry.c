/* The registry through the public API: which backend is chosen and why, which plug-ins are refused and with which text.
 * Every case runs in a separate process, because a process chooses once. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/child.h"
#include "device/stub_plugin.h"

static const char *program;

/* -- in the child ------------------------------------------------------------------------------------------------ */

static int say_status(const char *what, nd4c_status status) {
  printf("%s=%s\n%s\n", what, nd4c_status_name(status), status != ND4C_OK ? nd4c_error_message() : "");
  return 0;
}

/* Adds two numbers on a device. */
static nd4c_status add_on(nd4c_device *device, double *sum) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = device};
  nd4c_context *context = NULL;
  nd4c_array *two = NULL, *result = NULL;
  nd4c_status status = nd4c_context_create(&options, &context);
  if (status == ND4C_OK) {
    status = nd4c_array_scalar(ND4C_FLOAT32, 2, device, &two);
  }
  if (status == ND4C_OK) {
    status = nd4c_add_on(context, two, two, &result);
  }
  if (status == ND4C_OK) {
    float value = 0;
    status = nd4c_array_read(result, &value, sizeof value);
    *sum = (double)value;
  }
  nd4c_array_release(two);
  nd4c_array_release(result);
  (void)nd4c_context_destroy(context);
  return status;
}

static int child_default(void) {
  nd4c_device *device = NULL;
  nd4c_status status = nd4c_device_default(&device);
  nd4c_device_info info = {.struct_size = sizeof info};
  double sum = 0;
  if (status == ND4C_OK && nd4c_device_get_info(device, &info) == ND4C_OK && add_on(device, &sum) == ND4C_OK) {
    printf("default=%s sum=%g identity=%s rank=%d count=%d\n", info.name, sum, info.identity, (int)info.process_rank,
           (int)info.process_count);
  }
  return say_status("status", status);
}

static void list_candidates(void) {
  static const char *const verdicts[] = {"absent", "found", "compile_only", "verified"};
  for (int32_t i = 0; i < nd4c_backend_count(); i++) {
    nd4c_backend_status row = {.struct_size = sizeof row};
    if (nd4c_backend_get_status(i, &row) == ND4C_OK) {
      printf("%s priority=%d verdict=%s selected=%d devices=%d reason=%s origin=%s\n", row.name, row.priority,
             verdicts[row.verdict], row.selected, row.device_count, row.reason, row.origin);
      if (row.unusable_devices[0] != '\0') {
        printf("unusable=%s\n", row.unusable_devices);
      }
    }
  }
}

static int child_probe(const char *argument) {
  (void)say_status("status", nd4c_backend_probe(strcmp(argument, "verify") == 0));
  list_candidates();
  return 0;
}

static int child_load(const char *path) {
  (void)say_status("load", nd4c_backend_load(path));
  list_candidates();
  nd4c_device *device = NULL;
  if (nd4c_device_find("stub", &device) != ND4C_OK) {
    (void)say_status("find", nd4c_error_code());
  }
  return 0;
}

/* Loads the path in the argument and another path to the same file from four threads at once, then once more when it is
 * open. */
static void *load_anew(void *path) {
  const nd4c_status status = nd4c_backend_load(path);
  return status == ND4C_OK ? NULL : path;
}

static int child_again(const char *path) {
  enum { THREADS = 4 };
  char other[1024], *first = (char *)(uintptr_t)path;
  pthread_t threads[THREADS];
  int32_t failures = 0;
  nd4c_device *device = NULL, *same = NULL;
  (void)snprintf(other, sizeof other, "/.%s", path);
  for (int i = 0; i < THREADS; i++) {
    (void)pthread_create(&threads[i], NULL, load_anew, i % 2 == 0 ? first : other);
  }
  for (int i = 0; i < THREADS; i++) {
    void *failed = NULL;
    (void)pthread_join(threads[i], &failed);
    failures += failed != NULL;
  }
  (void)say_status("find", nd4c_device_find("stub", &device));
  (void)say_status("again", nd4c_backend_load(other));
  (void)say_status("find", nd4c_device_find("stub", &same));
  list_candidates();
  printf("failures=%d same=%d\n", failures, device == same);
  return 0;
}

/* Both at once in one process, and arrays that go from one to the other. */
static int child_both(void) {
  nd4c_device *cpu = NULL, *stub = NULL;
  double first = 0, second = 0;
  nd4c_status status = nd4c_device_find("cpu", &cpu);
  status = status == ND4C_OK ? nd4c_device_find("stub:1", &stub) : status;
  status = status == ND4C_OK ? add_on(cpu, &first) : status;
  status = status == ND4C_OK ? add_on(stub, &second) : status;
  printf("cpu=%g stub=%g\n", first, second);
  return say_status("status", status);
}

/* several, separated by spaces */
static int child_find(const char *names) {
  char copy[64], *rest = copy;
  (void)snprintf(copy, sizeof copy, "%s", names);
  for (char *name = strtok_r(rest, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    nd4c_device *device = NULL;
    (void)say_status("find", nd4c_device_find(name, &device));
  }
  return 0;
}

/* Opens a device before anything else, then lists all. */
static int child_list(const char *name) {
  nd4c_device *device = NULL;
  nd4c_device_info info = {.struct_size = sizeof info};
  (void)say_status("find", nd4c_device_find(name, &device));
  for (int32_t i = 0; i < nd4c_device_count() && nd4c_device_at(i, &device) == ND4C_OK &&
                      nd4c_device_get_info(device, &info) == ND4C_OK;
       i++) {
    printf("%d=%s\n", i, info.name);
  }
  return 0;
}

static int child(const char *command, const char *argument) {
  if (strcmp(command, "default") == 0) {
    return child_default();
  }
  if (strcmp(command, "probe") == 0) {
    return child_probe(argument);
  }
  if (strcmp(command, "load") == 0) {
    return child_load(argument);
  }
  if (strcmp(command, "again") == 0) {
    return child_again(argument);
  }
  if (strcmp(command, "find") == 0) {
    return child_find(argument);
  }
  if (strcmp(command, "list") == 0) {
    return child_list(argument);
  }
  return strcmp(command, "both") == 0 ? child_both() : 2;
}

/* -- cases ------------------------------------------------------------------------------------------------------- */

/* The parentheses tell clang-tidy that no comma is missing between the literals. */
#define PLUGIN ("ND4C_BACKEND_PLUGINS=" STUB_PATH)
#define AS_CUDA "STUB_NAME=cuda", "STUB_TYPE=cuda", "STUB_PRIORITY=100"

typedef struct registry_case {
  const char *name, *command, *argument;
  const char *environment[CHILD_VARIABLES];
  const char *parts[12]; /* of the output; "!..." must not be there */
} registry_case;

static const registry_case cases[] = {
    {"alone", "default", "", {NULL}, {"default=cpu:0 sum=4", "status=OK"}},
    {"alone among processes, by default", "default", "", {NULL}, {"identity=cpu:0 rank=0 count=1"}},
    {"one process of four",
     "default",
     "",
     {"ND4C_PROCESS_RANK=2", "ND4C_PROCESS_COUNT=4"},
     {"default=cpu:0 sum=4 identity=2/cpu:0 rank=2 count=4"}},
    {"a rank beyond the count",
     "default",
     "",
     {"ND4C_PROCESS_RANK=4", "ND4C_PROCESS_COUNT=4"},
     {"status=CONFIG", "nd4c.process.rank (ND4C_PROCESS_RANK) is 4: expected less than nd4c.process.count",
      "!default="}},
    {"the highest priority", "default", "", {PLUGIN, AS_CUDA}, {"default=cuda:0 sum=4"}},
    {"a lower priority", "default", "", {PLUGIN, "STUB_PRIORITY=-1"}, {"default=cpu:0 sum=4"}},
    {"forced", "default", "", {PLUGIN, "BACKEND_TYPE=stub"}, {"default=stub:0 sum=4"}},
    {"forced down", "default", "", {PLUGIN, AS_CUDA, "BACKEND_TYPE=CPU"}, {"default=cpu:0 sum=4"}},
    {"forced and absent",
     "default",
     "",
     {"BACKEND_TYPE=cuda", PLUGIN},
     {"status=NO_BACKEND", "backend.type asks for 'cuda', which cannot be used.",
      "cuda (priority 100): not built into this library", "libnd4c_cuda.so",
      "tpu (priority 50): ", "hexagon (priority 60): ", "opencl (priority 20): ", "cpu (priority 0): ",
      "stub (priority -10): ", "What to do: ", "!default="}},
    {"forced and unknown",
     "default",
     "",
     {"BACKEND_TYPE=abacus"},
     {"status=NO_BACKEND", "backend.type asks for 'abacus', but there is no backend of that name.",
      "cpu (priority 0)"}},
    {"several at once", "both", "", {PLUGIN}, {"cpu=4 stub=4", "status=OK"}},
    {"probe order",
     "probe",
     "",
     {NULL},
     {"cuda priority=100 verdict=absent", "tpu priority=50 verdict=absent", "hexagon priority=60 verdict=absent",
      "opencl priority=20 verdict=absent", "cpu priority=0 verdict=found"}},
    {"found opens nothing", "probe", "", {PLUGIN}, {"stub priority=-10 verdict=found", "devices=0"}},
    {"verify opens all",
     "probe",
     "verify",
     {PLUGIN, AS_CUDA},
     {"cuda priority=100 verdict=verified", "cpu priority=0 verdict=verified", "devices=2",
      "one addition gave the right answer"}},
    {"no memory at opening",
     "probe",
     "verify",
     {PLUGIN, AS_CUDA, "STUB_FAIL=device_open:0:500"},
     {"status=OK", "cuda priority=100 verdict=absent",
      "reason=cuda:0: stub: device_open was told to fail; cuda:1: stub: device_open was told to fail",
      "cpu priority=0 verdict=verified"}},
    {"no memory on any device, and the host computes",
     "default",
     "",
     {PLUGIN, AS_CUDA, "STUB_FAIL=device_open:0:500"},
     {"default=cpu:0 sum=4", "status=OK"}},
    {"one device of two",
     "probe",
     "verify",
     {PLUGIN, "STUB_FAIL=device_open:2:600"},
     {"status=OK", "stub priority=-10 verdict=verified selected=0 devices=2",
      "1 of 2 devices cannot be used: stub:1: stub: device_open was told to fail",
      "unusable=stub:1: stub: device_open was told to fail\n"}},
    {"by name, the one that is sound",
     "find",
     "stub:0 stub:1 stub:1 stub:2",
     {PLUGIN, "STUB_FAIL=device_open:2:600"},
     {"find=OK", "find=DEVICE\nstub:1: stub: device_open was told to fail\nfind=DEVICE\nstub:1: stub: ", "find=INDEX"}},
    {"a device that comes back",
     "find",
     "stub:1 stub:1",
     {PLUGIN, "STUB_FAIL=device_open:2:602"},
     {"find=DEVICE_LOST\nstub:1: stub: device_open was told to fail\nfind=OK"}},
    {"all devices come back",
     "find",
     "stub:1 stub:1",
     {PLUGIN, "STUB_DEVICES=1", "STUB_FAIL=device_open:1:602"},
     {"find=DEVICE_LOST\nstub:0: stub: device_open was told to fail\nfind=INDEX"}},
    {"it is listed behind those that were open",
     "list",
     "stub:1",
     {PLUGIN, "STUB_FAIL=run:1"},
     {"0=cpu:0\n1=stub:1\n"}},
    {"no second name for a device", "find", "cpu:00", {NULL}, {"find=NAME", "device 'cpu:00': expected"}},
    {"the host opened alone", "list", "cpu", {PLUGIN}, {"0=cpu:0\n", "!1="}},
    {"memory that comes back",
     "find",
     "stub stub",
     {PLUGIN, "STUB_FAIL=device_open:1:500"},
     {"find=MEMORY", "find=OK"}},
    {"a plug-in that only compiles",
     "default",
     "",
     {PLUGIN, AS_CUDA, "STUB_VERDICT=compile-only"},
     {"default=cpu:0 sum=4"}},
    {"only compiles, by name",
     "default",
     "",
     {PLUGIN, AS_CUDA, "STUB_VERDICT=compile-only", "BACKEND_TYPE=cuda"},
     {"status=NO_BACKEND", "cuda (priority 100): can only compile ahead of time: no stub is plugged in"}},
    {"only compiles, looked for twice",
     "find",
     "cuda:0 cuda:0",
     {PLUGIN, AS_CUDA, "STUB_VERDICT=compile-only"},
     {"find=HARDWARE", "runs nothing here: no stub is plugged in"}},
    {"one-node segments", "default", "", {PLUGIN, AS_CUDA, "STUB_MODE=compiler"}, {"default=cuda:0 sum=4"}},
    {"a lie about memory_bytes",
     "default",
     "",
     {PLUGIN, "STUB_LIE=memory_bytes", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "memory_bytes -5, expected 0 or more"}},
    {"a lie about largest_bytes",
     "default",
     "",
     {PLUGIN, "STUB_LIE=largest_bytes", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "largest_bytes -9223372036854775808"}},
    {"a lie about width",
     "default",
     "",
     {PLUGIN, "STUB_LIE=width", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "width -1, expected"}},
    {"a lie about alignment",
     "default",
     "",
     {PLUGIN, "STUB_LIE=alignment", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "alignment 24, expected a power of two"}},
    {"a lie about pci",
     "default",
     "",
     {PLUGIN, "STUB_LIE=pci", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "describe gave PCI address \"65:00.0??\", expected one such as 0000:65:00.0"}},
    {"a lie about host_readable",
     "default",
     "",
     {PLUGIN, "STUB_LIE=host_readable", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "describe gave host_readable without addressable"}},
    {"a lie about type_of_device",
     "default",
     "",
     {PLUGIN, "STUB_LIE=type_of_device", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "device type 4711, the backend's is"}},
    {"a lie about verdict",
     "default",
     "",
     {PLUGIN, "STUB_LIE=verdict", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "its probe answered 77, which is not a verdict"}},
    {"a lie about device_count",
     "default",
     "",
     {PLUGIN, "STUB_LIE=device_count", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "device_count gave 2147483647, expected 0 to 256"}},
    {"a failure for a count of devices",
     "default",
     "",
     {PLUGIN, "STUB_LIE=no_count", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "device_count gave -1, expected 0 to 256"}},
    {"words that are no UTF-8",
     "default",
     "",
     {PLUGIN, "STUB_LIE=words", "BACKEND_TYPE=stub"},
     {"default=stub:0 sum=4"}},
    {"a status of its own",
     "default",
     "",
     {PLUGIN, "STUB_FAIL=device_open:0:12345", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "device_open returned 12345, which is not a status of nd4c"}},
    {"refused plug-in named by configuration",
     "default",
     "",
     {PLUGIN, "STUB_LIE=major", "BACKEND_TYPE=stub"},
     {"status=NO_BACKEND", "libnd4c_stub.so (priority 0): ", "was built for plug-in ABI 3.0", "accepts ABI 2"}},
    {"a refused plug-in is a candidate",
     "probe",
     "",
     {PLUGIN, "STUB_LIE=major"},
     {"status=OK",
      "libnd4c_stub.so priority=0 verdict=absent selected=0 devices=0 reason=plug-in " STUB_PATH " was built",
      "origin=" STUB_PATH "\n"}},
    {"and stays one when all are opened",
     "probe",
     "verify",
     {PLUGIN, "STUB_LIE=no_device"},
     {"status=OK", "libnd4c_stub.so priority=0 verdict=absent", "lacks device_count or device"}},
    {"what bears another's name goes by its file's",
     "probe",
     "",
     {PLUGIN, "STUB_NAME=cpu"},
     {"status=OK", "cpu priority=0 verdict=found", "libnd4c_stub.so priority=0 verdict=absent",
      "there is a backend named cpu already (built in)"}},
    {"no file, no library and no path among those named",
     "probe",
     "",
     {"ND4C_BACKEND_PLUGINS=/nope.so," ND4C_TEST_SOURCE_DIR "/README.md,libnope.so," STUB_PATH},
     {"nope.so priority=0 verdict=absent", "/nope.so could not be loaded: ", "README.md priority=0 verdict=absent",
      "invalid ELF header", "libnope.so priority=0 verdict=absent", "expected an absolute path",
      "stub priority=-10 verdict=found"}},
    {"named twice",
     "probe",
     "",
     {"ND4C_BACKEND_PLUGINS=" STUB_PATH "," STUB_PATH},
     {"stub priority=-10 verdict=found", "!absent selected=0 devices=0 reason=plug-in"}},
    {"named twice, by two paths",
     "probe",
     "",
     {"ND4C_BACKEND_PLUGINS=" STUB_PATH ",/." STUB_PATH},
     {"stub priority=-10 verdict=found", "!absent selected=0 devices=0 reason=plug-in"}},
    {"loaded again, by threads and by two paths",
     "again",
     STUB_PATH,
     {NULL},
     {"failures=0 same=1", "again=OK", "stub priority=-10 verdict=verified", "find=OK"}},
    {"loaded again after configuration",
     "again",
     STUB_PATH,
     {PLUGIN},
     {"failures=0 same=1", "again=OK", "stub priority=-10 verdict=verified", "find=OK"}},
    {"the log names the file",
     "default",
     "",
     {"ND4C_BACKEND_PLUGINS=/nope.so", "ND4J_LOG_INITIALIZATION=1"},
     {"default=cpu:0", "nd4c warning [registry] backend nope.so: /nope.so could not be loaded", "!backend :"}},
    {"strict",
     "default",
     "",
     {"ND4C_BACKEND_PLUGINS=/nope.so", "ND4C_STRICT=1"},
     {"status=STRICT",
      "nd4c.backend.plugins (ND4C_BACKEND_PLUGINS) names /nope.so, which is refused: /nope.so could not", "!default="}},
    {"strict, by name",
     "both",
     "",
     {PLUGIN, "STUB_LIE=major", "ND4C_STRICT=1"},
     {"status=STRICT", "which is refused: plug-in " STUB_PATH}},
    {"strict and nothing refused", "default", "", {PLUGIN, "ND4C_STRICT=1"}, {"default=cpu:0 sum=4"}},
    {"an unreadable value",
     "default",
     "",
     {"ND4C_WIDTH=abc"},
     {"status=CONFIG", "nd4c.width (ND4C_WIDTH in the environment) = \"abc\": expected an integer", "!default="}},
    {"an unreadable value, by name", "find", "cpu", {"ND4C_WIDTH=abc"}, {"find=CONFIG", "nd4c.width (ND4C_WIDTH"}},
    {"a misspelt cap",
     "find",
     "cpu",
     {"ND4J_DEVICE_MEMORY_CAP_OPENCLL_0=1m", "ND4J_DEVICE_MEMORY_CAP_OPENCL_0=1m", "ND4J_LOG_INITIALIZATION=1"},
     {"find=CONFIG", "there is no property \"ND4J_DEVICE_MEMORY_CAP_OPENCLL_0\" (in the environment",
      "as in nd4j.device.memory.cap.OPENCL.0", "nd4c warning [config] ND4J_DEVICE_MEMORY_CAP_OPENCLL_0 in the"}},
    {"a cap without capitals",
     "find",
     "cpu",
     {"ND4J_DEVICE_MEMORY_CAP_cpu_0=1m"},
     {"find=CONFIG", "\"ND4J_DEVICE_MEMORY_CAP_cpu_0\" (in the environment, where capitals matter)"}},
    {"a cap beyond all indexes", "find", "cpu", {"ND4J_DEVICE_MEMORY_CAP_CPU_32=1m"}, {"find=CONFIG", "from 0 to 31"}},
    {"an empty cap is none", "find", "cpu", {"ND4J_DEVICE_MEMORY_CAP_OPENCLL_0="}, {"find=OK"}},
    {"a cap for a device that is not there",
     "find",
     "stub:1",
     {PLUGIN, "ND4J_DEVICE_MEMORY_CAP_OTHER_7=1m", "ND4J_DEVICE_MEMORY_CAP_OTHER_1=1g", "ND4J_LOG_INITIALIZATION=1"},
     {"find=OK",
      "nd4c warning [memory] nd4j.device.memory.cap.OTHER.7 (ND4J_DEVICE_MEMORY_CAP_OTHER_7) caps no device of backend "
      "stub, whose last one is stub:1",
      "!cap.OTHER.1 "}},
    {"the host is the first in the list", "list", "stub:1", {PLUGIN}, {"find=OK", "0=cpu:0\n1=stub:0\n2=stub:1\n"}},
    {"no such device",
     "find",
     "foo:1",
     {PLUGIN},
     {"find=NO_BACKEND",
      "device 'foo:1': there is no backend of that name; devices here: cpu (not opened yet), stub (not opened yet)",
      "!backend.type"}},
    {"no such device, and a plug-in was refused",
     "find",
     "zap:0",
     {"ND4C_BACKEND_PLUGINS=/nope.so,libnope.so"},
     {"find=NO_BACKEND\ndevice 'zap:0': there is no backend of that name; devices here: cpu (not opened yet); "
      "nd4c.backend.plugins (ND4C_BACKEND_PLUGINS) names what was refused: /nope.so: /nope.so could not be loaded",
      "; libnope.so: plug-in path 'libnope.so': expected an absolute path"}},
    {"no such device, others open", "find", "cpu foo", {NULL}, {"find=OK", "find=NO_BACKEND", "devices here: cpu:0\n"}},
    {"a device whose backend is absent",
     "find",
     "cuda:0",
     {NULL},
     {"find=NO_BACKEND", "backend cuda: not built into this library"}},
};

/* If a backend fails at start, the registry must choose the next candidate and report why. */
static const char *const failing_starts[] = {"open",           "device_open",  "describe",   "device_count",
                                             "stream_create",  "fence_record", "fence_wait", "buffer_allocate",
                                             "copy_from_host", "copy_to_host", "run",        "in_flight",
                                             "in_flight_copy", "prepare",      "probe"};

typedef struct refusal_case {
  const char *name, *path, *environment, *parts[4];
} refusal_case;

static const refusal_case refusals[] = {
    {"another major ABI", STUB_PATH, "STUB_LIE=major", {"load=ABI", "plug-in ABI 3.0", "accepts ABI 2", STUB_PATH}},
    {"a newer minor ABI", STUB_PATH, "STUB_LIE=minor", {"load=OK", "stub priority"}},
    {"ABI 1", STUB_PATH, "STUB_LIE=abi_1", {"load=ABI", "was built for plug-in ABI 1.0; this library accepts ABI 2"}},
    {"a name with a colon", STUB_PATH, "STUB_LIE=odd_name", {"load=ABI", "a name of 1 to 19 letters"}},
    {"a long name", STUB_PATH, "STUB_LIE=long_name", {"load=ABI", "a name of 1 to 19 letters"}},
    {"a type of its own", STUB_PATH, "STUB_LIE=type", {"load=ABI", "device type 4711"}},
    {"neither devices nor contributions", STUB_PATH, "STUB_LIE=nothing", {"load=ABI", "brings neither"}},
    {"a contribution to nowhere", STUB_PATH, "STUB_LIE=nowhere", {"load=ABI", "names no backend"}},
    {"no contributions",
     STUB_PATH,
     "STUB_LIE=contributions",
     {"load=ABI", "contribution_count is 1, but the table is"}},
    {"too many contributions", STUB_PATH, "STUB_LIE=contribution_count", {"load=ABI", "expected 0 to 65536"}},
    {"no engines", STUB_PATH, "STUB_LIE=engines", {"load=ABI", "engine_count is 2, but the table is NULL"}},
    {"fewer than no engines", STUB_PATH, "STUB_LIE=engine_count", {"load=ABI", "engine_count is -1, expected 0 to"}},
    {"an engine that is NULL", STUB_PATH, "STUB_LIE=null_engine", {"load=ABI", "engine 0 has no name"}},
    {"no families", STUB_PATH, "STUB_LIE=families", {"load=ABI", "family_count is 1, but the table is NULL"}},
    {"a family that is NULL", STUB_PATH, "STUB_LIE=null_family", {"load=ABI", "kernel family 0 is NULL"}},
    {"no compilers", STUB_PATH, "STUB_LIE=compilers", {"load=ABI", "compiler_count is 1, but the table is NULL"}},
    {"a short struct", STUB_PATH, "STUB_LIE=short_struct", {"load=ABI", "struct nd4c_provider has"}},
    {"a tiny struct", STUB_PATH, "STUB_LIE=tiny_struct", {"load=ABI", STUB_PATH}},
    {"no name", STUB_PATH, "STUB_LIE=no_name", {"load=ABI", "a name of"}},
    {"no device operations", STUB_PATH, "STUB_LIE=no_device", {"load=ABI", "lacks device_count or device"}},
    {"short device operations", STUB_PATH, "STUB_LIE=short_device", {"load=ABI", "struct_size of its device is"}},
    {"a short backend", STUB_PATH, "STUB_LIE=short_backend", {"load=ABI", "set it to ND4C_SIZE_OF(nd4c_backend)"}},
    {"a short contribution", STUB_PATH, "STUB_LIE=short_contribution", {"load=ABI", "struct_size of a contribution"}},
    {"a short engine", STUB_PATH, "STUB_LIE=short_engine", {"load=ABI", "struct_size of engine 1 is"}},
    {"a table for times without a size", STUB_PATH, "STUB_LIE=zero_timing", {"load=ABI", "struct_size of timing is 0"}},
    {"no provider", STUB_PATH, "STUB_LIE=null_provider", {"load=ABI", "gave no provider"}},
    {"asynchronous without fences",
     STUB_PATH,
     "STUB_LIE=no_fences",
     {"load=OK", "find=", "needs all stream and fence functions"}},
    {"a capture that cannot launch",
     STUB_PATH,
     "STUB_LIE=short_capture",
     {"load=ABI", "of capture, all functions but update and host_callback are required"}},
    {"whole buffers that the host reads",
     STUB_PATH,
     "STUB_LIE=whole_buffers",
     {"load=OK", "find=", "describe gave whole_buffers with host_readable"}},
    {"imports of no known kind",
     STUB_PATH,
     "STUB_LIE=imports",
     {"load=OK", "find=", "describe gave imports 0x200 and exports 0x18, expected sets within 0x1e and 0x18"}},
    {"exports of pointers", STUB_PATH, "STUB_LIE=exports", {"load=OK", "find=", "and exports 0x2, expected sets"}},
    {"imports of pointers without addresses",
     STUB_PATH,
     "STUB_LIE=import_pointers",
     {"load=OK", "find=", "imports of device pointers without addressable"}},
    {"imports without the function",
     STUB_PATH,
     "STUB_LIE=no_external",
     {"load=OK", "find=", "imports or exports without the function for them"}},
    {"a short table of external memory", STUB_PATH, "STUB_LIE=short_external", {"load=ABI", "struct_size of external"}},
    {"registering without an end",
     STUB_PATH,
     "STUB_LIE=no_unregister",
     {"load=ABI", "of external, host_register and host_unregister come together"}},
    {"priorities without the usual one",
     STUB_PATH,
     "STUB_LIE=priorities",
     {"load=OK", "find=", "describe gave priorities from 1 to 2, expected 0 within"}},
    {"times that cannot be read",
     STUB_PATH,
     "STUB_LIE=short_timing",
     {"load=ABI", "of timing, all functions are required where it is given"}},
    {"collectives that cannot broadcast",
     STUB_PATH,
     "STUB_LIE=short_collective",
     {"load=ABI", "struct_size of collective is ", "set it to ND4C_SIZE_OF(nd4c_collective_ops)"}},
    {"buffers without a size",
     STUB_PATH,
     "STUB_LIE=zero_buffers",
     {"load=ABI", "struct_size of its buffers is 0, which"}},
    {"a capture without a size",
     STUB_PATH,
     "STUB_LIE=zero_capture",
     {"load=ABI", "struct_size of capture is 0, which"}},
    {"a newer header's longer struct", STUB_PATH, "STUB_LIE=long_struct", {"load=OK", "stub priority=-10", "!find="}},
    {"failing entry",
     STUB_PATH,
     "STUB_FAIL=entry:1:400",
     {"load=HARDWARE", "failed to start: stub: entry was told to fail", STUB_PATH}},
    {"no entry function",
     STUB_NO_ENTRY_PATH,
     NULL,
     {"load=SYMBOL",
      "does not export nd4c_plugin_entry: is the function extern \"C\" (ND4C_PLUGIN_EXPORT), and visible?"}},
    {"an undefined symbol",
     STUB_UNRESOLVED_PATH,
     NULL,
     {"load=LIBRARY", "undefined symbol: nd4c_stub_defined_nowhere", STUB_UNRESOLVED_PATH}},
    {"no file",
     "/nowhere/libnd4c_x.so",
     NULL,
     {"load=LIBRARY", "cannot open shared object file", "/nowhere/libnd4c_x.so"}},
    {"no library", ND4C_TEST_SOURCE_DIR "/README.md", NULL, {"load=LIBRARY", "README.md"}},
    {"a name without a path", "libnd4c_stub.so", NULL, {"load=ARGUMENT", "'/'"}},
    {"the name of a backend that is there", STUB_PATH, "STUB_NAME=cpu", {"load=NAME", "a backend named cpu already"}},
};

/* Prints the case and the output if a part is missing. */
static int missing_parts(const char *name, const char *const *parts, size_t count, const char *output) {
  int missing = 0;
  for (size_t i = 0; i < count && parts[i] != NULL; i++) {
    bool forbidden = parts[i][0] == '!';
    if ((strstr(output, parts[i] + forbidden) != NULL) == forbidden) {
      print_error("case '%s': %s \"%s\" in:\n%s\n", name, forbidden ? "found" : "no", parts[i] + forbidden, output);
      missing++;
    }
  }
  return missing;
}

static void chooses_and_tells_why(void **state) {
  (void)state;
  char output[CHILD_OUTPUT];
  int failures = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const registry_case *c = &cases[i];
    int code = child_run(program, c->command, c->argument, c->environment, output);
    failures += missing_parts(c->name, c->parts, sizeof c->parts / sizeof c->parts[0], output);
    if (code != 0) {
      print_error("case '%s' ended with %d:\n%s\n", c->name, code, output);
      failures++;
    }
  }
  assert_int_equal(failures, 0);
}

static void falls_back_when_a_start_fails(void **state) {
  (void)state;
  char output[CHILD_OUTPUT], failure[64], part[96];
  int failures = 0;
  for (size_t i = 0; i < sizeof failing_starts / sizeof failing_starts[0]; i++) {
    /* All calls fail (0), because the registry calls some functions more than once before the call that matters: the
     * first probe is only a quick look. */
    (void)snprintf(failure, sizeof failure, "STUB_FAIL=%s:0", failing_starts[i]);
    (void)snprintf(part, sizeof part, "%s was told to fail", failing_starts[i]);
    const char *environment[] = {PLUGIN, AS_CUDA, failure, NULL};
    const char *parts[] = {"default=cpu:0 sum=4", "status=OK"};
    int code = child_run(program, "default", "", environment, output);
    failures += missing_parts(failing_starts[i], parts, 2, output) + (code != 0);
    code = child_run(program, "probe", "verify", environment, output);
    bool silent = strcmp(failing_starts[i], "device_count") == 0; /* that one has no text to give */
    const char *reasons[] = {"cuda priority=100 verdict=absent", silent ? "found no device" : part};
    failures += missing_parts(failing_starts[i], reasons, 2, output) + (code != 0);
    if (strcmp(failing_starts[i], "open") == 0 || silent || strcmp(failing_starts[i], "probe") == 0) {
      continue; /* not a device's */
    }
    /* Once: the first device is lost, and the second one takes its place. */
    (void)snprintf(failure, sizeof failure, "STUB_FAIL=%s:1", failing_starts[i]);
    const char *second[] = {"default=cuda:1 sum=4", "status=OK"};
    code = child_run(program, "default", "", environment, output);
    failures += missing_parts(failing_starts[i], second, 2, output) + (code != 0);
  }
  assert_int_equal(failures, 0);
}

static void refuses_in_the_loaders_words(void **state) {
  (void)state;
  char output[CHILD_OUTPUT];
  int failures = 0;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const refusal_case *c = &refusals[i];
    const char *environment[] = {c->environment, NULL};
    int code = child_run(program, "load", c->path, environment, output);
    failures += missing_parts(c->name, c->parts, sizeof c->parts / sizeof c->parts[0], output);
    if (code != 0) {
      print_error("case '%s' ended with %d:\n%s\n", c->name, code, output);
      failures++;
    }
  }
  assert_int_equal(failures, 0);
}

int main(int argc, char **argv) {
  program = argv[0];
  (void)setenv("ND4C_OPENCL_LIBRARY", "/nosuch/libOpenCL.so.1", 1); /* the result must not depend on the machine */
  if (argc == 3) {
    return child(argv[1], argv[2]);
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chooses_and_tells_why),
      cmocka_unit_test(falls_back_when_a_start_fails),
      cmocka_unit_test(refuses_in_the_loaders_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
