/* A plug-in that brings kernels for cpu:0 and no device: three ops of float32 by one function and a table.
 * CONTRIBUTOR_LIE selects a fault. It includes only nd4c/plugin.h of nd4c. */
#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nd4c/plugin.h"

ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

static const nd4c_host *the_host;

typedef struct row {
  float (*compute)(float a, float b);
} row;

static float add(float a, float b) {
  return a + b;
}
static float subtract(float a, float b) {
  return a - b;
}
static float multiply(float a, float b) {
  return a * b;
}
static const row rows[] = {{add}, {subtract}, {multiply}};

static bool lies(const char *about) {
  const char *lie = getenv("CONTRIBUTOR_LIE");
  return lie != NULL && strcmp(lie, about) == 0;
}

/* Holds 64 bytes of the memory of the call's device, or of no device. */
static nd4c_status hold(void *device, nd4c_device_memory **memory) {
  const nd4c_device_memory_request request = {.struct_size = ND4C_SIZE_OF(nd4c_device_memory_request),
                                              .backend = "cpu",
                                              .device = device,
                                              .bytes = 64,
                                              .origin = "contributor"};
  return the_host->device_memory->count(&request, memory);
}

/* Faults of a kernel that `nd4c plugin-check` must find. */
static nd4c_status misbehave(void *device, float *y, int64_t size) {
  nd4c_device_memory *held = NULL;
  if (lies("wrong") || (lies("large") && size > 100000)) {
    y[size - 1] += 1;
  } else if (lies("nan")) {
    for (int64_t i = 0; i < size; i++) {
      y[i] = y[i] == y[i] ? y[i] : 0;
    }
  } else if (lies("beyond")) {
    y[size] = 1;
  } else if (lies("rounds")) {
    for (int64_t i = size; i % 4 != 0; i++) {
      y[i] = 1;
    }
  } else if (lies("rounding")) {
    (void)fesetround(FE_UPWARD);
  } else if (lies("crash")) {
    (void)raise(SIGSEGV);
  } else if (lies("hang")) {
    for (;;) {
      the_host->threads->sleep(1000000000);
    }
  } else if (lies("refuses")) {
    return ND4C_DEVICE;
  } else if (lies("odd_status")) {
    return 12345;
  } else if (lies("unchecked")) {
    char *memory = the_host->allocate(64);
    memory[0] = 1;
    the_host->free(memory);
  } else if (lies("leaks")) {
    (void)the_host->allocate(64);
  } else if (lies("holds")) {
    (void)hold(device, &held);
  } else if (lies("senseless")) {
    (void)hold(&held, &held);
  } else if (lies("unheld")) {
    if (hold(device, &held) != ND4C_OK) {
      abort();
    }
    the_host->device_memory->give(held);
  }
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  if (call->data == NULL) {
    (void)snprintf(reason, reason_size, "its row is missing");
    return false;
  }
  if (lies("silent")) {
    return false;
  }
  for (int i = 0; i < 2; i++) {
    bool same = (call->inputs[i].flags & ND4C_TENSOR_CONTIGUOUS) != 0 && call->inputs[i].dtype == ND4C_FLOAT32 &&
                call->inputs[i].size == call->outputs[0].size;
    if (!same) {
      (void)snprintf(reason, reason_size, "wants two contiguous operands of one shape");
      return false;
    }
  }
  return (call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) != 0;
}

static nd4c_status run(const nd4c_call *call) {
  const row *of = call->data;
  const float *a = call->inputs[0].data, *b = call->inputs[1].data;
  float *y = call->outputs[0].data;
  const int64_t size = call->outputs[0].size;
  static float shared[1 << 20]; /* with the lie "shared" all calls use it */
  float *into = lies("shared") && size <= (int64_t)(sizeof shared / sizeof *shared) ? shared : y;
  for (int64_t i = 0; i < size; i++) {
    into[i] = of->compute(a[i], b[i]);
  }
  if (into != y) {
    memcpy(y, into, (size_t)size * sizeof *y);
  }
  return misbehave(call->device, y, size);
}

#define KERNEL(op_name, version, number)     \
  {.struct_size = ND4C_SIZE_OF(nd4c_kernel), \
   .op_version = (version),                  \
   .op = #op_name,                           \
   .engine = "contributor",                  \
   .name = "contributor." #op_name,          \
   .priority = 1000,                         \
   .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),   \
   .data = &rows[number],                    \
   .usable = usable,                         \
   .run = run}
static bool wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  (void)call;
  (void)input;
  (void)layout;
  return false;
}

/* The kernel of nonzero, whose result's shape depends on data: the lie selects the shape that it reports. */
static nd4c_status run_nonzero(const nd4c_call *call) {
  int64_t *shape = call->true_shapes[0];
  shape[0] = lies("shape_large") ? 1000000 : lies("shape_negative") ? -1 : 1;
  shape[1] = lies("shape_beyond") ? INT64_MAX : 1;
  memset(call->outputs[0].data, 0, (size_t)call->outputs[0].size * sizeof(int64_t));
  return ND4C_OK;
}

static nd4c_kernel nonzero = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                              .op_version = 1,
                              .op = "nonzero",
                              .engine = "contributor",
                              .name = "contributor.nonzero",
                              .priority = 1000,
                              .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),
                              .run = run_nonzero};

static nd4c_kernel kernels[] = {KERNEL(add, 1, 0), KERNEL(subtract, 1, 1), KERNEL(multiply, 1, 2)};
static const nd4c_kernel *family[] = {&kernels[0], &kernels[1], &kernels[2], NULL, NULL};
static const nd4c_kernel *const *const families[] = {family};
static const nd4c_engine engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "contributor"};
static const nd4c_engine *const engines[] = {&engine};

static bool wanted(const void *data, char *reason, size_t reason_size) {
  (void)data;
  if (lies("unusable")) {
    (void)snprintf(reason, reason_size, "this machine lacks what it needs");
    return false;
  }
  return true;
}

static nd4c_contribution contribution = {.struct_size = ND4C_SIZE_OF(nd4c_contribution),
                                         .backend = "cpu",
                                         .priority = 1000,
                                         .usable = wanted,
                                         .engine_count = 1,
                                         .engines = engines,
                                         .family_count = 1,
                                         .families = families};
static const nd4c_contribution *const contributions[] = {&contribution};

static nd4c_status open_provider(void) {
  return lies("open")              ? the_host->fail(ND4C_LIBRARY, "its library is not here")
         : lies("open_in_silence") ? ND4C_DEVICE
                                   : ND4C_OK;
}

static const nd4c_provider provider = {.struct_size = ND4C_SIZE_OF(nd4c_provider),
                                       .abi_major = ND4C_PLUGIN_ABI_MAJOR,
                                       .abi_minor = ND4C_PLUGIN_ABI_MINOR,
                                       .name = "contributor",
                                       .version = "1",
                                       .open = open_provider,
                                       .contribution_count = 1,
                                       .contributions = contributions};

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **out) {
  the_host = host;
  if (lies("op")) {
    kernels[0].op = "no_such_op";
  } else if (lies("version")) {
    kernels[0].op_version = 99;
  } else if (lies("engine")) {
    kernels[0].engine = "another";
  } else if (lies("run")) {
    kernels[0].run = NULL;
  } else if (lies("unpacked")) {
    kernels[0].wants_layout = wants_layout;
  } else if (lies("shape_large") || lies("shape_negative") || lies("shape_beyond") || lies("shape_small")) {
    family[3] = &nonzero;
  } else if (lies("elsewhere")) {
    contribution.backend = "nosuch";
  }
  *out = &provider;
  return ND4C_OK;
}
