/* Compares OpenCL's kernels with the device's peak, and with the CPU backend on the same arrays. The peaks of the
 * device (the first argument, "opencl:0") are measured in the same run: clEnqueueCopyBuffer for bytes, a kernel of
 * multiply-adds for arithmetic. The second argument selects ops by a part of their names. Prints lines of JSON: a
 * fraction of the limit for each, and the CPU's time / the device's. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

enum { COUNT = 1 << 24, ROW = 1 << 10, SIDE = 1024, ITEMS = 1 << 18, ROUNDS = 1 << 6, CHAINS = 8, LANES = 16 };

/* As much of OpenCL as is used here; handles are pointers. X(result, name, parameters) */
#define SYMBOLS(X)                                                                                                  \
  X(int32_t, clGetCommandQueueInfo, (void *, uint32_t, size_t, void *, size_t *))                                   \
  X(void *, clCreateBuffer, (void *, uint64_t, size_t, void *, int32_t *))                                          \
  X(int32_t, clReleaseMemObject, (void *))                                                                          \
  X(int32_t, clEnqueueFillBuffer, (void *, void *, const void *, size_t, size_t, size_t, uint32_t, void *, void *)) \
  X(int32_t, clEnqueueCopyBuffer, (void *, void *, void *, size_t, size_t, size_t, uint32_t, void *, void *))       \
  X(void *, clCreateProgramWithSource, (void *, uint32_t, const char **, const size_t *, int32_t *))                \
  X(int32_t, clBuildProgram, (void *, uint32_t, void *const *, const char *, void *, void *))                       \
  X(int32_t, clReleaseProgram, (void *))                                                                            \
  X(void *, clCreateKernel, (void *, const char *, int32_t *))                                                      \
  X(int32_t, clSetKernelArg, (void *, uint32_t, size_t, const void *))                                              \
  X(int32_t, clReleaseKernel, (void *))                                                                             \
  X(int32_t, clEnqueueNDRangeKernel,                                                                                \
    (void *, void *, uint32_t, const size_t *, const size_t *, const size_t *, uint32_t, void *, void *))           \
  X(int32_t, clFinish, (void *))

enum { CL_SUCCESS = 0, CL_MEM_READ_WRITE = 1, CL_QUEUE_CONTEXT = 0x1090 };

static struct {
#define MEMBER(result, name, parameters) result(*name) parameters;
  SYMBOLS(MEMBER)
#undef MEMBER
} cl;
static void *queue, *cl_own, *cl_device; /* of the context whose device is measured */

static void must(bool holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "error: %s\n", what);
    exit(1);
  }
}

/* -- the device's peaks -------------------------------------------------------------------------------------------- */

static void open_cl(nd4c_context *context) {
  nd4c_native_handles native = {.struct_size = sizeof native};
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  must(library != NULL, "libOpenCL.so.1");
#define FIND(result, name, parameters)        \
  {                                           \
    void *symbol = dlsym(library, #name);     \
    must(symbol != NULL, #name);              \
    memcpy(&cl.name, &symbol, sizeof symbol); \
  }
  SYMBOLS(FIND)
#undef FIND
  bench_check(nd4c_context_native(context, &native), "nd4c_context_native");
  queue = native.stream;
  cl_device = native.device;
  must(queue != NULL && cl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof cl_own, &cl_own, NULL) == CL_SUCCESS,
       "a device of OpenCL");
}

typedef struct copy_state {
  void *from, *to;
  size_t bytes;
} copy_state;

static void run_copy(void *argument) {
  const copy_state *s = argument;
  must(cl.clEnqueueCopyBuffer(queue, s->from, s->to, 0, 0, s->bytes, 0, NULL, NULL) == CL_SUCCESS &&
           cl.clFinish(queue) == CL_SUCCESS,
       "clEnqueueCopyBuffer");
}

static void *make_buffer(size_t bytes) {
  static const char zero = 0;
  int32_t code = CL_SUCCESS;
  void *buffer = cl.clCreateBuffer(cl_own, CL_MEM_READ_WRITE, bytes, NULL, &code);
  must(buffer != NULL && cl.clEnqueueFillBuffer(queue, buffer, &zero, 1, 0, bytes, 0, NULL, NULL) == CL_SUCCESS &&
           cl.clFinish(queue) == CL_SUCCESS,
       "a buffer");
  return buffer;
}

/* Nanoseconds a byte, read or written, of a copy of `bytes` bytes. */
static double copy_limit(size_t bytes) {
  copy_state state = {make_buffer(bytes), make_buffer(bytes), bytes};
  bench_case each = {.name = "clEnqueueCopyBuffer", .shape = "16777216", .dtype = "float32", .body = run_copy};
  each.state = &state;
  each.bytes = 2 * (double)bytes;
  bench_interleave(&each, 1);
  bench_print(&each, 0);
  (void)cl.clReleaseMemObject(state.from);
  (void)cl.clReleaseMemObject(state.to);
  return bench_median(each.times, BENCH_ROUNDS) / each.bytes;
}

typedef struct peak_state {
  void *kernel;
  size_t items;
} peak_state;

static void run_peak(void *argument) {
  const peak_state *s = argument;
  must(cl.clEnqueueNDRangeKernel(queue, s->kernel, 1, NULL, &s->items, NULL, 0, NULL, NULL) == CL_SUCCESS &&
           cl.clFinish(queue) == CL_SUCCESS,
       "clEnqueueNDRangeKernel");
}

/* Nanoseconds an operation, of multiply-adds of float32 that do not wait for each other. */
static double peak_limit(void) {
  static const char *text =
      "#pragma OPENCL FP_CONTRACT ON\n"
      "__kernel void peak(__global float *y, float f, int rounds) {\n"
      "  float16 x = f, a = 0, b = 1, c = 2, d = 3, e = 4, g = 5, h = 6, i = 7;\n"
      "  for (int k = 0; k < rounds; k++) {\n"
      "    a = fma(a, x, x); b = fma(b, x, x); c = fma(c, x, x); d = fma(d, x, x);\n"
      "    e = fma(e, x, x); g = fma(g, x, x); h = fma(h, x, x); i = fma(i, x, x);\n"
      "  }\n"
      "  a += b + c + d + e + g + h + i;\n"
      "  y[get_global_id(0)] = a.s0 + a.s1 + a.s2 + a.s3 + a.s4 + a.s5 + a.s6 + a.s7 + a.s8 + a.s9 + a.sa + a.sb +\n"
      "                        a.sc + a.sd + a.se + a.sf;\n"
      "}\n";
  const float half = 0.5F;
  const int32_t rounds = ROUNDS;
  int32_t code = CL_SUCCESS;
  void *y = make_buffer(ITEMS * sizeof(float));
  void *program = cl.clCreateProgramWithSource(cl_own, 1, &text, NULL, &code);
  must(program != NULL && cl.clBuildProgram(program, 1, &cl_device, "", NULL, NULL) == CL_SUCCESS, "clBuildProgram");
  peak_state state = {cl.clCreateKernel(program, "peak", &code), ITEMS};
  must(state.kernel != NULL && cl.clSetKernelArg(state.kernel, 0, sizeof y, &y) == CL_SUCCESS &&
           cl.clSetKernelArg(state.kernel, 1, sizeof half, &half) == CL_SUCCESS &&
           cl.clSetKernelArg(state.kernel, 2, sizeof rounds, &rounds) == CL_SUCCESS,
       "a kernel");
  bench_case each = {.name = "multiply-adds", .shape = "registers", .dtype = "float32", .body = run_peak};
  each.state = &state;
  each.flops = 2.0 * ITEMS * ROUNDS * CHAINS * LANES;
  bench_interleave(&each, 1);
  bench_print(&each, 0);
  (void)cl.clReleaseKernel(state.kernel);
  (void)cl.clReleaseProgram(program);
  (void)cl.clReleaseMemObject(y);
  return bench_median(each.times, BENCH_ROUNDS) / each.flops;
}

/* -- ops ----------------------------------------------------------------------------------------------------------- */

typedef struct op_row {
  const char *name;
  nd4c_op op;
  int32_t inputs;
  bool product, of_rows; /* of_rows: a sum with an axis */
  const char *engine;    /* forced; NULL: whichever is chosen */
} op_row;

static const op_row rows[] = {
    {.name = "copy", .op = ND4C_OP_copy, .inputs = 1},
    {.name = "add", .op = ND4C_OP_add, .inputs = 2},
    {.name = "exp", .op = ND4C_OP_exp, .inputs = 1},
    {.name = "sum of all", .op = ND4C_OP_sum, .inputs = 1},
    {.name = "sum of rows", .op = ND4C_OP_sum, .inputs = 1, .of_rows = true},
    {.name = "softmax of rows", .op = ND4C_OP_softmax, .inputs = 1},
    {.name = "matmul", .op = ND4C_OP_matmul, .inputs = 2, .product = true},
    {.name = "matmul by CLBlast", .op = ND4C_OP_matmul, .inputs = 2, .product = true, .engine = "clblast"},
};

typedef struct op_state {
  const op_row *row;
  nd4c_context *context;
  nd4c_array *inputs[2], *y;
} op_state;

static nd4c_status call_op(op_state *s) {
  const int64_t last = -1;
  const nd4c_array *const inputs[2] = {s->inputs[0], s->inputs[1]};
  const nd4c_attr axes = {"axes", {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &last}};
  return nd4c_op_call(s->context, s->row->op, inputs, s->row->inputs, &axes, s->row->of_rows, &s->y, 1);
}

static void run_op(void *argument) {
  op_state *s = argument;
  bench_check(call_op(s), s->row->name);
  bench_check(nd4c_context_synchronize(s->context), "waiting for a context");
}

/* strict: no other engine takes the place of the row's. */
static void make_state(op_state *s, nd4c_device *device, const op_row *row, bool strict) {
  const int64_t matrix[2] = {SIDE, SIDE}, rows_of[2] = {COUNT / ROW, ROW};
  nd4c_context_options options = {.struct_size = sizeof options, .device = device, .strict = strict};
  *s = (op_state){.row = row};
  bench_check(nd4c_context_create(&options, &s->context), "a context");
  for (int32_t i = 0; i < row->inputs; i++) {
    bench_check(nd4c_array_full(ND4C_FLOAT32, 2, row->product ? matrix : rows_of, 0.5, device, &s->inputs[i]),
                "nd4c_array_full");
  }
}

static void clear_state(op_state *s) {
  nd4c_array_release(s->inputs[0]);
  nd4c_array_release(s->inputs[1]);
  nd4c_array_release(s->y);
  (void)nd4c_context_destroy(s->context);
}

/* byte_ns, flop_ns: of the limits. */
static void measure(nd4c_device *const *devices, const op_row *row, double byte_ns, double flop_ns) {
  op_state states[2];
  bench_case cases[2];
  char on_cpu[64];
  (void)snprintf(on_cpu, sizeof on_cpu, "%s on cpu:0", row->name);
  make_state(&states[0], devices[0], row, row->engine != NULL);
  if (call_op(&states[0]) == ND4C_STRICT) {
    (void)printf("%s: absent: %s\n", row->name, nd4c_error_message());
    clear_state(&states[0]);
    return;
  }
  make_state(&states[1], devices[1], row, false);
  for (int i = 0; i < 2; i++) {
    run_op(&states[i]);
    cases[i] = (bench_case){.name = i == 0 ? row->name : on_cpu,
                            .shape = row->product ? "1024x1024x1024" : "16384x1024",
                            .dtype = "float32",
                            .body = run_op,
                            .state = &states[i]};
    cases[i].flops = row->product ? 2.0 * SIDE * SIDE * SIDE : 0;
    cases[i].bytes = row->product ? 0 : 4.0 * (row->inputs * (double)COUNT + (double)nd4c_array_size(states[i].y));
  }
  bench_interleave(cases, 2);
  bench_print(&cases[0], row->product ? cases[0].flops * flop_ns : cases[0].bytes * byte_ns);
  bench_print(&cases[1], 0);
  (void)printf("%s: %.3f of the CPU backend's speed\n", row->name, bench_ratio(&cases[1], &cases[0]));
  (void)fflush(stdout);
  clear_state(&states[0]);
  clear_state(&states[1]);
}

int main(int argc, char **argv) {
  nd4c_device *devices[2] = {NULL, NULL};
  nd4c_context_options options = {.struct_size = sizeof options};
  nd4c_context *context = NULL;
  bench_check(nd4c_device_find(argc > 1 ? argv[1] : "opencl:0", &devices[0]), "the device");
  bench_check(nd4c_device_find("cpu:0", &devices[1]), "cpu:0");
  options.device = devices[0];
  bench_check(nd4c_context_create(&options, &context), "a context");
  open_cl(context);
  const double byte_ns = copy_limit((size_t)COUNT * sizeof(float)), flop_ns = peak_limit();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bench_check(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", rows[i].engine), "SD_KERNEL_FORCE_ENGINE");
    if (argc < 3 || strstr(rows[i].name, argv[2]) != NULL) {
      measure(devices, &rows[i], byte_ns, flop_ns);
    }
  }
  return nd4c_context_destroy(context) == ND4C_OK ? 0 : 1;
}
