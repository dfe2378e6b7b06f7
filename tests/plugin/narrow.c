/* A plug-in with one synchronous device that computes little, or in an unusual way; NARROW says which: "multiply" has a
 * kernel for that alone, "scratch" adds in host memory and a device buffer that it asks for, "prepare" has a kernel
 * that declines in prepare, with a lower-priority one that does not, "crowd" has forty that multiply, "fails" has one
 * that gives a status below 0 in its first element as its own, "compilers" has two compilers, one for multiply above
 * one for add, "one compiler" that for multiply alone, "nothing" neither a kernel nor a compiler. It includes only
 * nd4c/plugin.h of nd4c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nd4c/plugin.h"

ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

static const nd4c_host *the_host;

static bool is(const char *mode) {
  const char *chosen = getenv("NARROW");
  return chosen != NULL && strcmp(chosen, mode) == 0;
}

/* -- memory ------------------------------------------------------------------------------------------------------- */

static char *memory_of(nd4c_buffer buffer) {
  char *memory;
  memcpy(&memory, &buffer, sizeof memory);
  return memory;
}

static nd4c_status allocate(void *device, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer) {
  (void)device;
  void *memory = calloc(1, (size_t)descriptor->bytes);
  memcpy(buffer, &memory, sizeof memory);
  return memory != NULL ? ND4C_OK : the_host->fail(ND4C_MEMORY, "narrow: no memory");
}

static void release(void *device, nd4c_buffer buffer) {
  (void)device;
  free(memory_of(buffer));
}

static nd4c_status copy_from_host(void *device, nd4c_stream stream, nd4c_buffer to, int64_t offset, const void *from,
                                  int64_t bytes) {
  (void)device;
  (void)stream;
  memcpy(memory_of(to) + offset, from, (size_t)bytes);
  return ND4C_OK;
}

static nd4c_status copy_to_host(void *device, nd4c_stream stream, void *to, nd4c_buffer from, int64_t offset,
                                int64_t bytes) {
  (void)device;
  (void)stream;
  memcpy(to, memory_of(from) + offset, (size_t)bytes);
  return ND4C_OK;
}

static int32_t device_count(void) {
  return 1;
}

static nd4c_status device_open(int32_t index, void **device) {
  (void)index;
  *device = &the_host; /* the device needs only static data; never NULL */
  return ND4C_OK;
}

static nd4c_status describe(void *device, nd4c_device_description *description) {
  (void)device;
  description->type = ND4C_DEVICE_OTHER;
  description->description = "narrow";
  description->alignment = 64;
  return ND4C_OK;
}

/* -- computing ---------------------------------------------------------------------------------------------------- */

static float *elements(const nd4c_tensor *tensor) {
  return (float *)memory_of(tensor->buffer) + tensor->offset;
}

static void compute(nd4c_op op, const nd4c_tensor *inputs, const nd4c_tensor *y, float *into) {
  const float *a = elements(&inputs[0]), *b = elements(&inputs[1]);
  for (int64_t i = 0; i < y->size; i++) {
    into[i] = op == ND4C_OP_add ? a[i] + b[i] : a[i] * b[i];
  }
}

static bool usable(const nd4c_call *call, char *reason, size_t size) {
  const bool plain =
      (call->inputs[0].flags & call->inputs[1].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) != 0 &&
      call->inputs[0].size == call->outputs[0].size && call->inputs[1].size == call->outputs[0].size;
  if (!plain) {
    strncpy(reason, "wants contiguous operands of one shape", size - 1);
  }
  return plain;
}

static nd4c_status run(const nd4c_call *call) {
  compute(call->op->op, call->inputs, &call->outputs[0], elements(&call->outputs[0]));
  return ND4C_OK;
}

/* It writes nothing if it fails. */
static nd4c_status run_or_fail(const nd4c_call *call) {
  const float first = elements(&call->inputs[0])[0];
  return first < 0 ? the_host->fail((nd4c_status)-first, "narrow: the first element says so") : run(call);
}

static nd4c_status prepare_nothing(const nd4c_call *call, void **state) {
  (void)call;
  (void)state;
  return the_host->fail(ND4C_UNSUPPORTED, "narrow: no such table");
}

enum { SCRATCH = 4096 };

static int64_t scratch_bytes(const nd4c_call *call) {
  return call->outputs[0].size * (int64_t)sizeof(float);
}

static nd4c_status device_scratch(const nd4c_call *call, int64_t limit, nd4c_scratch_range *range) {
  (void)call;
  (void)limit;
  *range = (nd4c_scratch_range){SCRATCH, SCRATCH};
  return ND4C_OK;
}

/* Adds through both memories. */
static nd4c_status run_in_scratch(const nd4c_call *call) {
  compute(call->op->op, call->inputs, &call->outputs[0], call->scratch);
  memset(memory_of(call->scratch_buffer), 1, (size_t)call->scratch_buffer_bytes);
  memcpy(elements(&call->outputs[0]), call->scratch, (size_t)scratch_bytes(call));
  return ND4C_OK;
}

#define KERNEL(name_of_op, ...)              \
  {.struct_size = ND4C_SIZE_OF(nd4c_kernel), \
   .op_version = 1,                          \
   .op = (name_of_op),                       \
   .engine = "narrow",                       \
   .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),   \
   .usable = usable,                         \
   __VA_ARGS__}
static const nd4c_kernel multiply = KERNEL("multiply", .name = "narrow.multiply", .run = run),
                         scratch = KERNEL("add", .name = "narrow.scratch", .scratch_bytes = scratch_bytes,
                                          .device_scratch = device_scratch, .run = run_in_scratch),
                         declining = KERNEL("add", .name = "narrow.declining", .prepare = prepare_nothing, .run = run),
                         failing = KERNEL("multiply", .name = "narrow.fails", .run = run_or_fail),
                         above = KERNEL("add", .name = "narrow.above", .priority = 1, .run = run);
static const nd4c_kernel *const lists[][3] = {{&multiply}, {&scratch}, {&above, &declining}, {&failing}};
static const nd4c_kernel *const *const families[][1] = {{lists[0]}, {lists[1]}, {lists[2]}, {lists[3]}};

enum { CROWD = 40 };

static const nd4c_kernel *const *const *make_crowd(void) {
  static char names[CROWD][24];
  static nd4c_kernel kernels[CROWD];
  static const nd4c_kernel *list[CROWD + 1];
  static const nd4c_kernel *const *const family[] = {list};
  for (int32_t i = 0; i < CROWD; i++) {
    (void)snprintf(names[i], sizeof names[i], "narrow.crowd%d", (int)i);
    kernels[i] = multiply;
    kernels[i].name = names[i];
    list[i] = &kernels[i];
  }
  return family;
}

/* -- compilers ---------------------------------------------------------------------------------------------------- */

static nd4c_status partition(void *data, void *device, const nd4c_segment *region, const nd4c_compile_options *options,
                             nd4c_partition *answer) {
  (void)device;
  (void)options;
  for (int32_t i = 0; i < region->node_count; i++) {
    const nd4c_status status = region->nodes[i]->op->op == *(const nd4c_op *)data
                                   ? answer->take(answer, &i, 1, ND4C_COST_UNKNOWN, ND4C_PIECE_CHEAPER)
                                   : answer->decline(answer, i, "another op");
    if (status != ND4C_OK) {
      return status;
    }
  }
  return ND4C_OK;
}

/* Compiles only pieces that partition took. */
static nd4c_status compile(void *data, void *device, const nd4c_segment *piece, const nd4c_compile_options *options,
                           nd4c_executable *executable) {
  (void)device;
  (void)options;
  if (piece->node_count != 1 || piece->nodes[0]->op->op != *(const nd4c_op *)data) {
    return the_host->fail(ND4C_INTERNAL, "narrow: a piece that was not taken");
  }
  memcpy(executable, &data, sizeof data);
  return ND4C_OK;
}

static nd4c_status execute(void *data, nd4c_executable executable, const nd4c_execution *execution) {
  (void)executable;
  compute(*(const nd4c_op *)data, execution->inputs, &execution->outputs[0], elements(&execution->outputs[0]));
  return ND4C_OK;
}

static void let_go(void *data, nd4c_executable executable) {
  (void)data;
  (void)executable;
}

static nd4c_op ops[] = {ND4C_OP_multiply, ND4C_OP_add};
#define COMPILER(place, rank)                  \
  {.struct_size = ND4C_SIZE_OF(nd4c_compiler), \
   .engine = "narrow",                         \
   .priority = (rank),                         \
   .data = &ops[place],                        \
   .partition = partition,                     \
   .compile = compile,                         \
   .execute = execute,                         \
   .release = let_go}
static const nd4c_compiler multiplier = COMPILER(0, 2), adder = COMPILER(1, 1);
static const nd4c_compiler *const compilers[] = {&multiplier, &adder};

/* -- the provider ------------------------------------------------------------------------------------------------- */

static const nd4c_buffer_ops buffers = {
    .struct_size = ND4C_SIZE_OF(nd4c_buffer_ops), .allocate = allocate, .free = release};
static const nd4c_device_ops device_ops = {.struct_size = ND4C_SIZE_OF(nd4c_device_ops),
                                           .device_open = device_open,
                                           .describe = describe,
                                           .buffers = &buffers,
                                           .copy_from_host = copy_from_host,
                                           .copy_to_host = copy_to_host};
static const nd4c_backend backend = {.struct_size = ND4C_SIZE_OF(nd4c_backend),
                                     .type = ND4C_DEVICE_OTHER,
                                     .priority = -1,
                                     .device = &device_ops,
                                     .device_count = device_count};
static const nd4c_engine engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "narrow"};
static const nd4c_engine *const engines[] = {&engine};
static nd4c_contribution contribution = {
    .struct_size = ND4C_SIZE_OF(nd4c_contribution), .engine_count = 1, .engines = engines};
static const nd4c_contribution *const contributions[] = {&contribution};
static const nd4c_provider provider = {.struct_size = ND4C_SIZE_OF(nd4c_provider),
                                       .abi_major = ND4C_PLUGIN_ABI_MAJOR,
                                       .abi_minor = ND4C_PLUGIN_ABI_MINOR,
                                       .name = "narrow",
                                       .version = "1",
                                       .backend = &backend,
                                       .contribution_count = 1,
                                       .contributions = contributions};

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **out) {
  the_host = host;
  if (is("compilers") || is("one compiler")) {
    contribution.compiler_count = is("compilers") ? 2 : 1;
    contribution.compilers = compilers;
  } else if (!is("nothing")) {
    contribution.family_count = 1;
    contribution.families = is("crowd") ? make_crowd()
                                        : families[is("scratch")   ? 1
                                                   : is("prepare") ? 2
                                                   : is("fails")   ? 3
                                                                   : 0];
  }
  *out = &provider;
  return ND4C_OK;
}
