/* Commands that fail in flight, in a driver that still runs the commands after them: kernels then find old contents in
 * their scratch, and must not touch memory outside their operands; a routed call that waits gives the host's results.
 * Without an OpenCL device the tests are skipped. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "faulty_loader.h"

enum { COUNT = 70 /* more than one run of a sort */, INPUTS = 3, OUTPUTS = 4, BYTES = 4096, MOST_CALLS = 100 };

static nd4c_device *device, *host;
static nd4c_context *plain, *routed, *direct; /* on the host; routed to the device, waiting; on the device */

static nd4c_context *make_context(nd4c_device *on) {
  const nd4c_context_options options = {.struct_size = sizeof options, .device = on};
  nd4c_context *context = NULL;
  assert_int_equal(nd4c_context_create(&options, &context), ND4C_OK);
  return context;
}

static int set_up(void **state) {
  (void)state;
  if (nd4c_device_find("cpu:0", &host) != ND4C_OK) {
    return -1;
  }
  plain = make_context(host);
  direct = make_context(device);
  return faulty_make_routed(device, host, true, &routed) == ND4C_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  (void)nd4c_context_destroy(direct);
  (void)nd4c_context_destroy(routed);
  return nd4c_context_destroy(plain) == ND4C_OK ? 0 : -1;
}

/* -- operands ----------------------------------------------------------------------------------------------------- */

static nd4c_array *array_of(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const void *data) {
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_from_data(dtype, rank, shape, data, host, &array), ND4C_OK);
  return array;
}

/* Whole numbers, so that sums are exact: x has different ones, d and r (in pairs) few, p scores of 2 classes, c of 7
 * classes in 10 steps, u a plane; o has boxes. */
static nd4c_array *numbers(char letter) {
  static const struct {
    char letter;
    int32_t rank;
    int64_t shape[3];
    int different;
  } rows[] = {{'x', 1, {COUNT}, COUNT},      {'d', 1, {COUNT}, 7},           {'r', 2, {COUNT / 2, 2}, 3},
              {'p', 3, {1, 2, COUNT}, 50},   {'c', 3, {COUNT / 7, 1, 7}, 9}, {'u', 3, {1, 1, COUNT}, COUNT},
              {'o', 3, {1, COUNT, 4}, COUNT}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].letter == letter) {
      float values[4 * COUNT];
      for (int k = 0; k < 4 * COUNT; k++) {
        values[k] = (float)(k * 37 % rows[i].different);
      }
      return array_of(ND4C_FLOAT32, rows[i].rank, rows[i].shape, values);
    }
  }
  return NULL;
}

/* i: places of x, some twice; g: groups of 5; w: places that max_unpool takes; s: a state; b: a mask; the others are
 * numbers. */
static nd4c_array *operand(char letter) {
  const int64_t shape[1] = {COUNT}, plane[3] = {1, 1, COUNT}, words[3] = {42, -2, 1}, three[1] = {3};
  int64_t values[COUNT];
  bool mask[COUNT];
  for (int k = 0; k < COUNT; k++) {
    values[k] = letter == 'i' ? k * 13 % 60 : letter == 'g' ? k * 3 % 5 : 2 * k;
    mask[k] = k % 3 == 0;
  }
  return letter == 's'   ? array_of(ND4C_INT64, 1, three, words)
         : letter == 'b' ? array_of(ND4C_BOOL, 1, shape, mask)
         : letter == 'i' || letter == 'g' || letter == 'w'
             ? array_of(ND4C_INT64, letter == 'w' ? 3 : 1, letter == 'w' ? plane : shape, values)
             : numbers(letter);
}

/* -- calls -------------------------------------------------------------------------------------------------------- */

static const int64_t two = 2, first_axis = 0, twice = 2 * COUNT;
#define INT(name, value)                     \
  {                                          \
    name, {                                  \
      .kind = ND4C_ATTR_INT, .as.i = (value) \
    }                                        \
  }
#define INTS(name, value)                                     \
  {                                                           \
    name, {                                                   \
      .kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &(value) \
    }                                                         \
  }

/* Ops with a kernel that reads or writes at positions that another kernel computed. */
static const struct op_case {
  nd4c_op op;
  const char *inputs;
  int32_t outputs, attr_count;
  nd4c_attr attrs[2];
} cases[] = {
    {ND4C_OP_sort, "x", 1, 0, {{0}}},
    {ND4C_OP_top_k, "d", 2, 1, {INT("k", 5)}},
    {ND4C_OP_lexsort, "dx", 1, 0, {{0}}},
    {ND4C_OP_unique, "d", 4, 1, {INT("sorted", 0)}},
    {ND4C_OP_unique, "r", 4, 1, {INTS("axis", first_axis)}},
    {ND4C_OP_setxor1d, "xd", 1, 0, {{0}}},
    {ND4C_OP_isin, "xd", 1, 0, {{0}}},
    {ND4C_OP_compress, "xb", 1, 0, {{0}}},
    {ND4C_OP_masked_scatter, "xbd", 1, 0, {{0}}},
    {ND4C_OP_argwhere, "d", 1, 0, {{0}}},
    {ND4C_OP_gather, "xi", 1, 0, {{0}}},
    {ND4C_OP_scatter_update, "xid", 1, 0, {{0}}},
    {ND4C_OP_scatter_add, "xid", 1, 0, {{0}}},
    {ND4C_OP_segment_sum, "xg", 1, 0, {{0}}},
    {ND4C_OP_dynamic_partition, "xg", 2, 1, {INT("num_partitions", 5)}},
    {ND4C_OP_bincount, "gx", 1, 0, {{0}}},
    {ND4C_OP_repeat, "xg", 1, 1, {INT("total", 140)}},
    {ND4C_OP_random_permutation, "s", 1, 1, {INT("n", COUNT)}},
    {ND4C_OP_random_shuffle, "sx", 1, 0, {{0}}},
    {ND4C_OP_nms, "op", 1, 0, {{0}}},
    {ND4C_OP_max_unpool, "uw", 1, 2, {INTS("kernel", two), INTS("strides", two)}},
    {ND4C_OP_ctc_greedy_decode, "c", 3, 0, {{0}}},
    {ND4C_OP_resize, "x", 1, 2, {INTS("sizes", twice), INT("mode", ND4C_INTERPOLATION_NEAREST)}},
    {ND4C_OP_resize, "x", 1, 2, {INTS("sizes", twice), INT("mode", ND4C_INTERPOLATION_LINEAR)}},
};

typedef struct results {
  int64_t sizes[OUTPUTS];
  unsigned char bytes[OUTPUTS][BYTES];
} results;

/* Operands are new for each call, so that they are copied each time. */
static void run_case(const struct op_case *c, nd4c_context *context, results *r) {
  nd4c_array *inputs[INPUTS] = {NULL}, *outputs[OUTPUTS] = {NULL};
  int32_t count = (int32_t)strlen(c->inputs);
  for (int32_t i = 0; i < count; i++) {
    inputs[i] = operand(c->inputs[i]);
  }
  const nd4c_status status = nd4c_op_call(context, c->op, (const nd4c_array *const *)inputs, count, c->attrs,
                                          c->attr_count, outputs, c->outputs);
  (void)faulty_control(""); /* the call is over, and the read must not fail */
  if (status != ND4C_OK) {
    fail_msg("%s: %s: %s", nd4c_op_get(c->op)->name, nd4c_status_name(status), nd4c_error_message());
  }
  *r = (results){{0}, {{0}}};
  for (int32_t i = 0; i < c->outputs; i++) {
    r->sizes[i] = nd4c_array_size(outputs[i]);
    if (nd4c_array_read(outputs[i], r->bytes[i],
                        (size_t)(r->sizes[i] * nd4c_dtype_size(nd4c_array_dtype(outputs[i])))) != ND4C_OK) {
      fail_msg("%s: %s", nd4c_op_get(c->op)->name, nd4c_error_message());
    }
    nd4c_array_release(outputs[i]);
  }
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(inputs[i]);
  }
}

/* Fills cached device memory, which becomes the streams' scratch after they release theirs, with numbers that are no
 * valid positions, and with zeros between them, because a kernel may test one word and use another. Blocks come in
 * eight sizes between powers of two. */
static void leave_rubbish(void) {
  enum { LEAST = 64, OCTAVES = 4, SIZES = 8 * OCTAVES, EACH = 1, MOST = LEAST << OCTAVES };
  static const int64_t kinds[] = {0, 0x7070707070707070, 3, -1, 1 << 20, 0, -70, INT64_MIN + 1, 0x70707070, 1};
  static int64_t words[MOST];
  static uint32_t random = 1;
  nd4c_array *arrays[SIZES * EACH];
  assert_int_equal(nd4c_memory_trim(device, 0), ND4C_OK);
  for (int i = 0; i < MOST; i++) {
    random = random * 1664525 + 1013904223;
    words[i] = kinds[(random >> 16) % (sizeof kinds / sizeof kinds[0])];
  }
  for (int i = 0; i < SIZES * EACH; i++) {
    const int size = i / EACH;
    const int64_t count[1] = {(int64_t)(8 + size % 8) * LEAST / 8 << size / 8};
    assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, count, words, device, &arrays[i]), ND4C_OK);
  }
  for (int i = 0; i < SIZES * EACH; i++) {
    nd4c_array_release(arrays[i]);
  }
}

/* One failure at the n-th call. False if fewer were made. */
static bool survive(const struct op_case *c, const char *call, const char *fate, long number, const results *expected) {
  static results r;
  char command[128];
  leave_rubbish();
  const long before = faulty_count(call);
  (void)snprintf(command, sizeof command, "%s:%ld:-5:%s", call, number, fate);
  assert_int_equal(faulty_control(command), 0);
  run_case(c, routed, &r);
  const bool reached = faulty_count(call) - before >= number;
  if (memcmp(&r, expected, sizeof r) != 0) {
    fail_msg("%s: %s gave another result", command, nd4c_op_get(c->op)->name);
  }
  return reached;
}

static void nothing_of_others_is_touched(void **state) {
  (void)state;
  static const char *const faults[][2] = {{"clEnqueueNDRangeKernel", "lost"},     {"clEnqueueNDRangeKernel", "belied"},
                                          {"clEnqueueFillBuffer", "lost"},        {"clEnqueueReadBuffer", "lost"},
                                          {"clEnqueueReadBuffer", "belied"},      {"clEnqueueWriteBuffer", "lost"},
                                          {"clEnqueueMarkerWithWaitList", "lost"}};
  static results expected;
  long survived = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    run_case(&cases[i], plain, &expected);
    for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++) {
      long number = 1;
      for (; number <= MOST_CALLS && survive(&cases[i], faults[f][0], faults[f][1], number, &expected); number++) {
      }
      assert_true(number <= MOST_CALLS);
      survived += number - 1;
    }
  }
  print_message("%ld failures in flight survived\n", survived);
  assert_true(survived > 300);
}

/* -- faults ------------------------------------------------------------------------------------------------------- */

/* x at the positions of i, one of which may be out of range. */
static nd4c_status gather(nd4c_context *context, bool good) {
  int64_t places[COUNT];
  float values[COUNT] = {0};
  const int64_t shape[1] = {COUNT};
  for (int k = 0; k < COUNT; k++) {
    places[k] = COUNT - 1 - k;
  }
  places[COUNT / 2] = good ? 0 : 5000;
  nd4c_array *inputs[2] = {operand('x'), array_of(ND4C_INT64, 1, shape, places)}, *y = NULL;
  nd4c_status status = nd4c_op_call(context, ND4C_OP_gather, (const nd4c_array *const *)inputs, 2, NULL, 0, &y, 1);
  status = status == ND4C_OK ? nd4c_array_read(y, values, sizeof values) : status;
  if (status == ND4C_OK) {
    assert_float_equal(values[0], (float)((COUNT - 1) * 37 % COUNT), 0);
  }
  nd4c_array_release(y);
  nd4c_array_release(inputs[0]);
  nd4c_array_release(inputs[1]);
  return status;
}

/* An index out of range is reported for the op that had it, and for no other: if the buffer in which kernels report it
 * cannot be reset or read, the next op is right or fails with a status after which another device may try. */
static void a_fault_is_told_once(void **state) {
  (void)state;
  static const char *const faults[] = {"clEnqueueFillBuffer:1:-5:lost", "clEnqueueFillBuffer:1:-5",
                                       "clEnqueueReadBuffer:1:-5:lost", "clEnqueueReadBuffer:1:-5"};
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    nd4c_context *contexts[] = {direct, routed};
    for (size_t c = 0; c < 2; c++) {
      assert_int_equal(gather(direct, true), ND4C_OK);
      assert_int_equal(gather(direct, false), ND4C_INDEX);
      assert_int_equal(gather(routed, true), ND4C_OK);
      assert_int_equal(faulty_control(faults[i]), 0);
      const nd4c_status bad = gather(contexts[c], false);
      assert_int_equal(faulty_control(""), 0);
      char text[512];
      (void)snprintf(text, sizeof text, "%s", nd4c_error_message());
      const nd4c_status next = gather(contexts[c], true);
      if (bad != ND4C_INDEX && (contexts[c] == routed || bad != ND4C_DEVICE)) {
        fail_msg("%s: %s of a bad index (%s)", faults[i], nd4c_status_name(bad), text);
      }
      if (next != ND4C_OK && (contexts[c] == routed || next != ND4C_DEVICE)) {
        fail_msg("%s: then %s: %s", faults[i], nd4c_status_name(next), nd4c_error_message());
      }
      assert_int_equal(gather(contexts[c], true), ND4C_OK);
      assert_int_equal(gather(contexts[c], false), ND4C_INDEX);
    }
  }
}

/* -- waiting ------------------------------------------------------------------------------------------------------ */

static int64_t milliseconds(void) {
  struct timespec now;
  assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &now), 0);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A command may still run after another one failed, and its memory is not released before it is done: here a kernel
 * that begins late, while the fence after it fails at once. */
static void what_runs_beside_a_failure_is_waited_for(void **state) {
  (void)state;
  enum { LATE = 50 };
  float values[COUNT];
  const int64_t shape[1] = {COUNT};
  char command[128];
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, device, &x), ND4C_OK);
  assert_int_equal(nd4c_add_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, values, sizeof values), ND4C_OK);
  nd4c_array_release(y);
  y = NULL;
  (void)snprintf(command, sizeof command, "clEnqueueNDRangeKernel:1:%d:late,clEnqueueMarkerWithWaitList:1:-5:lost",
                 (int)LATE);
  assert_int_equal(faulty_control(command), 0);
  const int64_t begin = milliseconds();
  nd4c_status status = nd4c_add_on(direct, x, x, &y);
  status = status == ND4C_OK ? nd4c_array_read(y, values, sizeof values) : status;
  const int64_t waited = milliseconds() - begin;
  assert_int_equal(faulty_control(""), 0);
  nd4c_array_release(y);
  nd4c_array_release(x);
  assert_int_equal(status, ND4C_DEVICE);
  assert_true(waited >= LATE - 1);
}

/* A caller that polls whether work is done gets the answer in the end, even if the driver cannot report it. */
static void what_cannot_be_told_is_ready(void **state) {
  (void)state;
  enum { ENOUGH = 1000 };
  const int64_t shape[1] = {COUNT};
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, device, &x), ND4C_OK);
  assert_int_equal(nd4c_add_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(faulty_control("clGetEventInfo:0:-5"), 0);
  int asked = 0;
  while (asked < ENOUGH && !nd4c_array_is_ready(y, device)) {
    asked++;
  }
  assert_int_equal(faulty_control(""), 0);
  assert_true(asked < ENOUGH);
  nd4c_array_release(y);
  nd4c_array_release(x);
  (void)nd4c_context_synchronize(direct); /* reports the failure that could not be reported */
}

/* Another stream's work must not run before it either: it would overwrite that work's results later. */
static void what_runs_beside_a_failure_is_not_overtaken(void **state) {
  (void)state;
  float values[COUNT];
  const int64_t shape[1] = {COUNT};
  nd4c_array *x = NULL, *y = NULL;
  nd4c_context *other = make_context(device);
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, device, &x), ND4C_OK);
  assert_int_equal(nd4c_add_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(nd4c_subtract_on(other, x, x, &y), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, values, sizeof values), ND4C_OK);
  assert_int_equal(faulty_control("clEnqueueNDRangeKernel:1:50:late,clEnqueueMarkerWithWaitList:1:-5:lost"), 0);
  assert_int_equal(nd4c_add_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(faulty_control(""), 0);
  assert_int_equal(nd4c_subtract_on(other, x, x, &y), ND4C_OK);
  (void)nd4c_context_synchronize(other); /* reports the failure */
  (void)nd4c_context_synchronize(direct);
  if (nd4c_array_read(y, values, sizeof values) == ND4C_OK) {
    for (int i = 0; i < COUNT; i++) {
      assert_float_equal(values[i], 0, 0);
    }
  }
  nd4c_array_release(y);
  nd4c_array_release(x);
  assert_int_equal(nd4c_context_destroy(other), ND4C_OK);
}

/* The same for the next call on the same stream: there, too, a failed command ends before the command that it should
 * wait for. PoCL orders commands that share a buffer, so the test checks the call's time; an in-order queue orders all
 * commands. */
static void what_a_failure_waited_for_is_not_overtaken(void **state) {
  (void)state;
  const char *queue = getenv("ND4C_OPENCL_QUEUE");
  float values[COUNT];
  const int64_t shape[1] = {COUNT};
  nd4c_array *x = NULL, *y = NULL;
  assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, 2, device, &x), ND4C_OK);
  assert_int_equal(nd4c_add_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(nd4c_subtract_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(nd4c_array_read(y, values, sizeof values), ND4C_OK);
  assert_int_equal(faulty_control("clEnqueueNDRangeKernel:1:50:late"), 0);
  const int64_t begin = milliseconds();
  assert_int_equal(nd4c_add_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(faulty_control("clEnqueueNDRangeKernel:1:-5:lost"), 0);
  assert_int_equal(nd4c_add_on(direct, x, x, &y), ND4C_OK);
  assert_int_equal(faulty_control(""), 0);
  assert_int_equal(nd4c_subtract_on(direct, x, x, &y), ND4C_OK);
  const int64_t waited = milliseconds() - begin;
  (void)nd4c_context_synchronize(direct); /* reports the failure */
  assert_true(queue == NULL || strcmp(queue, "out_of_order") != 0 || waited >= 50 - 1);
  assert_int_equal(nd4c_array_read(y, values, sizeof values), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(values[i], 0, 0);
  }
  nd4c_array_release(y);
  nd4c_array_release(x);
}

/* -- programs ----------------------------------------------------------------------------------------------------- */

/* Programs of products by vectors take no strides. */
static void products_are_built_once(void **state) {
  (void)state;
  enum { SIDE = 16 };
  static const float values[SIDE * SIDE] = {1};
  const int64_t shape[2] = {SIDE, SIDE}, starts[2] = {0, SIDE - 1}, stops[2] = {SIDE, ND4C_SLICE_NONE},
                steps[2] = {1, -1};
  nd4c_array *a[3] = {array_of(ND4C_FLOAT32, 2, shape, values), NULL, NULL};
  long built = 0;
  assert_int_equal(nd4c_op_call(plain, ND4C_OP_transpose, (const nd4c_array *const *)a, 1, NULL, 0, &a[1], 1), ND4C_OK);
  assert_int_equal(nd4c_array_slice(a[0], starts, stops, steps, &a[2]), ND4C_OK);
  for (int i = 0; i < 9; i++) {
    nd4c_array *y = NULL;
    assert_int_equal(nd4c_matmul_on(direct, a[i % 3], a[i / 3], &y), ND4C_OK);
    built = i == 0 ? faulty_count("clBuildProgram") : built;
    nd4c_array_release(y);
  }
  assert_int_equal(faulty_count("clBuildProgram"), built);
  for (int i = 0; i < 3; i++) {
    nd4c_array_release(a[i]);
  }
}

int main(void) {
  if (faulty_start(&device) != ND4C_OK) {
    print_message("skipped: %s\n", nd4c_error_message());
    return 77;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_of_others_is_touched),
                                     cmocka_unit_test(a_fault_is_told_once),
                                     cmocka_unit_test(what_runs_beside_a_failure_is_waited_for),
                                     cmocka_unit_test(what_cannot_be_told_is_ready),
                                     cmocka_unit_test(what_runs_beside_a_failure_is_not_overtaken),
                                     cmocka_unit_test(what_a_failure_waited_for_is_not_overtaken),
                                     cmocka_unit_test(products_are_built_once)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
