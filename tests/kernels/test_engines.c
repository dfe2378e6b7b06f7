/* Every engine's kernels of the linear-algebra and network ops against engine reference: the same call, each layout. */
#include <math.h>

#include "kernels/kernel_call.h"

enum { F32 = ND4C_FLOAT32, F64 = ND4C_FLOAT64, BF16 = ND4C_BFLOAT16, F16 = ND4C_FLOAT16, I32 = ND4C_INT32 };

/* Shapes end with 0 or, for a scalar axis list, fill up; an input with shape[0] == 0 is left out. */
typedef struct record {
  const char *op;
  nd4c_dtype dtype;
  int64_t shapes[5][6];
  const char *attrs; /* "name=1,2 name=3" */
} record;

static const record records[] = {
    {"conv", F32, {{1, 3, 9, 8}, {5, 3, 3, 3}}, ""},
    {"conv", F32, {{2, 8, 7, 7}, {16, 8, 3, 3}, {16}}, "pads=1,1,1,1 activation=1"},
    {"conv", F32, {{1, 16, 6, 5}, {32, 16, 1, 1}, {32}, {1, 32, 6, 5}}, "activation=1"},
    {"conv", F32, {{1, 12, 6, 6}, {24, 3, 1, 1}, {24}}, "groups=4"},
    {"conv", F32, {{1, 17, 9, 9}, {17, 1, 3, 3}, {17}}, "groups=17 strides=2,2 pads=1,1,1,1"},
    {"conv", F32, {{1, 4, 10, 9}, {6, 4, 3, 2}}, "dilations=2,3 strides=2,1"},
    {"conv", F32, {{1, 4, 10, 9}, {6, 4, 3, 2}}, "auto_pad=1 strides=2,2"},
    {"conv", F32, {{1, 4, 10, 9}, {6, 4, 4, 2}}, "auto_pad=2 strides=3,2 activation=2"},
    {"conv", F32, {{2, 4, 11}, {6, 4, 3}, {6}}, "pads=1,2 activation=4"},
    {"conv", F32, {{1, 2, 5, 6, 4}, {4, 2, 3, 3, 2}, {4}}, "pads=1,1,0,1,1,1 activation=5"},
    {"conv", F32, {{2, 16, 9, 8}, {24, 16, 1, 1}, {24}}, "activation=1"},
    {"conv", F32, {{1, 40, 7, 6}, {5, 40, 1, 1}}, ""},
    {"conv", F64, {{1, 4, 6, 6}, {4, 4, 3, 3}, {4}}, "activation=3"},
    {"conv", F64, {{1, 4, 6, 6}, {4, 4, 3, 3}, {4}}, "activation=7"},
    {"conv", F64, {{3, 3, 2, 8}, {3, 1, 1, 1}, {3}}, "groups=3 strides=2,2 activation=7"},
    {"conv", F64, {{2, 5, 6, 6}, {5, 1, 3, 3}, {5}}, "groups=5 pads=1,1,1,1 activation=8"},
    {"conv", BF16, {{1, 16, 6, 6}, {16, 16, 3, 3}, {16}}, "pads=1,1,1,1"},
    {"max_pool", F32, {{2, 5, 9, 9}}, "kernel=3,3 strides=2,2"},
    {"max_pool", F32, {{1, 33, 9, 8}}, "kernel=3,2 strides=2,1 pads=1,1,1,0 ceil_mode=1"},
    {"max_pool", F32, {{1, 3, 9, 40}}, "kernel=3,3 strides=2,2 pads=1,1,1,1"},
    {"max_pool", F32, {{1, 2, 5, 6, 3}}, "kernel=2,2,3 pads=0,0,2,1,0,2"},
    {"max_pool", F64, {{1, 3, 9, 8}}, "kernel=2,2 dilations=2,3"},
    {"max_pool", I32, {{1, 3, 9, 8}}, "kernel=2,2 pads=1,1,1,1"},
    {"max_pool", F16, {{1, 3, 9}}, "kernel=2 strides=2"},
    {"max_pool", F32, {{2, 3, 21, 18}}, "kernel=2,2 strides=2,2"}, /* more and fewer rows than bands have lines */
    {"max_pool", F64, {{1, 3, 23, 35}}, "kernel=3,3 strides=2,2 pads=1,1,1,1"},
    {"max_pool", F32, {{1, 150, 9, 9}}, "kernel=3,3 strides=2,2 pads=1,1,1,1"}, /* channels: some vectors and a part */
    {"max_pool", F64, {{2, 75, 10, 10}}, "kernel=9,9"}, /* more cells than are gathered at once */
    {"average_pool", F32, {{1, 150, 10, 10}}, "kernel=9,9"},
    {"average_pool", F64, {{2, 75, 5, 6}}, "kernel=3,3 pads=1,1,1,1"},
    {"average_pool", F32, {{1, 3, 21, 40}}, "kernel=3,3 pads=1,1,1,1"},
    {"average_pool", F64, {{1, 3, 7, 9}}, "kernel=3,3 pads=2,1,0,1 dilations=2,1 count_include_pad=1"},
    {"average_pool", F32, {{1, 20, 7, 7}}, "kernel=7,7"},
    {"average_pool", F32, {{1, 20, 8, 7}}, "kernel=3,3 strides=2,2 pads=1,1,1,1"},
    {"average_pool", F32, {{1, 3, 8, 7}}, "kernel=3,3 strides=2,2 pads=1,1,1,1 count_include_pad=1 ceil_mode=1"},
    {"average_pool", F32, {{1, 3, 5, 9, 40}}, "kernel=3,2,3 strides=2,2,2 pads=1,0,1,1,0,1"},
    {"average_pool", BF16, {{1, 3, 8, 7, 5}}, "kernel=3,3,2 strides=2,2,1"},
    {"max_pool", BF16, {{2, 150, 9, 8}}, "kernel=3,3 strides=2,2 pads=1,1,1,1"},
    {"max_pool", F16, {{1, 75, 9, 8}}, "kernel=3,2 strides=1,2 pads=1,1,1,0 dilations=1,2"},
    {"max_pool", BF16, {{2, 75, 10, 10}}, "kernel=9,9"},
    {"max_pool", F16, {{2, 40, 5, 6, 9}}, "kernel=2,2,3 strides=1,2,2 pads=0,1,1,1,0,1"},
    {"average_pool", BF16, {{1, 150, 10, 9}}, "kernel=3,3 pads=1,1,1,1 count_include_pad=1"},
    {"average_pool", F16, {{1, 75, 10, 9}}, "kernel=3,3 strides=2,1 pads=1,1,1,1"},
    {"batch_norm", F32, {{2, 19, 5, 3}, {19}, {19}, {19}, {19}}, ""},
    {"batch_norm", F64, {{2, 19, 5}, {19}, {19}, {19}, {19}}, ""},
    {"batch_norm", F32, {{7, 19}, {19}, {19}, {19}, {19}}, "epsilon=0.5"},
    {"batch_norm", BF16, {{2, 83, 5, 7}, {83}, {83}, {83}, {83}}, ""},
    {"batch_norm", BF16, {{3, 5, 41}, {5}, {5}, {5}, {5}}, ""},
    {"layer_norm", F32, {{2, 3, 40}, {40}, {40}}, ""},
    {"layer_norm", F32, {{2, 3, 37}}, ""},
    {"layer_norm", F32, {{4, 3, 8}, {3, 8}}, "axis=1"},
    {"layer_norm", F64, {{4, 24}, {24}, {24}}, ""},
    {"layer_norm", BF16, {{4, 24}, {24}, {24}}, ""},
    {"softmax", F32, {{3, 4, 50}}, ""},
    {"softmax", F32, {{3, 50, 4}}, "axis=1"},
    {"softmax", F32, {{1, 7}}, ""},
    {"softmax", F64, {{3, 50}}, ""},
    {"softmax", F16, {{3, 50}}, ""},
    {"softmax", F32, {{5, 13, 8}}, ""}, /* rows that are computed side by side */
    {"softmax", F32, {{3, 32, 32}}, ""},
    {"softmax", F64, {{33, 7}}, ""},
    {"log_softmax", F32, {{70, 2}}, ""},
    {"log_softmax", F64, {{8, 31}}, ""},
    {"log_softmax", F32, {{3, 4, 50}}, ""},
    {"log_softmax", F32, {{3, 50, 4}}, "axis=0"},
    {"lrn", F32, {{2, 17, 4, 5}}, "size=5 alpha=0.3 beta=0.75 bias=1.5"},
    {"lrn", F32, {{1, 40, 3, 3}}, "size=4 alpha=0.3 beta=0.6"},
    {"lrn", F64, {{2, 17, 4, 5}}, "size=3"},
    {"matmul", F32, {{33, 17}, {17, 29}}, ""},
    {"matmul", F32, {{128, 130}, {130, 140}}, ""},
    {"matmul", F64, {{128, 130}, {130, 140}}, ""},
    {"matmul", F32, {{3, 40, 32}, {3, 32, 48}}, ""},
    {"matmul", F32, {{2, 3, 40, 32}, {3, 32, 48}}, ""},
    {"matmul", F32, {{40, 32}, {3, 32, 48}}, ""},
    {"matmul", F64, {{3, 40, 32}, {32, 48}}, ""},
    {"matmul", F32, {{200}, {200, 30}}, ""},
    {"matmul", F32, {{30, 200}, {200}}, ""},
    {"matmul", F32, {{200}, {200}}, ""},
    {"matmul", F64, {{1, 300}, {300, 100}}, ""},
    {"matmul", BF16, {{40, 32}, {32, 48}}, ""},
    {"matmul", I32, {{40, 32}, {32, 48}}, ""},
    {"matmul", ND4C_COMPLEX64, {{40, 32}, {32, 48}}, ""},
    {"matmul", ND4C_COMPLEX128, {{2, 40, 32}, {2, 32, 48}}, ""},
    {"matmul", F64, {{1, 300}, {300, 100}}, ""},
    {"matmul", F64, {{100, 300}, {300, 1}}, ""},
    {"matmul", F64, {{6, 40, 32}, {6, 32, 48}}, ""},
    {"linear", F32, {{16, 64}, {64, 48}, {48}}, ""},
    {"linear", F32, {{2, 8, 64}, {64, 48}, {48}, {2, 8, 48}}, "activation=2"},
    {"linear", F32, {{2, 8, 64}, {48, 64}, {48}}, "transpose_w=1 activation=1"},
    {"linear", F32, {{1, 100}, {50, 100}, {50}}, "transpose_w=1 activation=3"},
    {"linear", F32, {{1, 100}, {100, 50}}, "activation=5"},
    {"linear", F32, {{5, 10}, {10, 7}, {1, 7}}, "activation=4"},
    {"linear", F64, {{16, 64}, {64, 48}, {48}, {16, 48}}, "activation=1"},
    {"linear", F64, {{16, 64}, {64, 48}, {48}, {16, 48}}, "activation=6"},
    {"linear", F64, {{16, 64}, {64, 48}, {48}}, "activation=7"},
    {"linear", BF16, {{16, 64}, {64, 48}, {48}}, ""},
    /* Lines that are counted, or shared out over the pool. */
    {"sort", F32, {{40000}}, ""},
    {"sort", F64, {{40000}}, "descending=1"},
    {"sort", F16, {{40000}}, ""},
    {"sort", I32, {{3, 700}}, ""},
    {"sort", F32, {{700, 20}}, "axis=0"},
    {"argsort", F32, {{40000}}, ""},
    {"argsort", F64, {{40000}}, "descending=1"},
};

/* -- attributes from their text ------------------------------------------------------------------------------- */

typedef struct attr_list {
  nd4c_attr attrs[MAX_ATTRS];
  int64_t lists[MAX_ATTRS][8];
  char names[MAX_ATTRS][32];
  int32_t count;
} attr_list;

static void parse_attrs(const nd4c_op_info *info, const char *text, attr_list *list) {
  list->count = 0;
  while (*text != '\0') {
    char value[64];
    assert_int_equal(sscanf(text, "%31[^=]=%63s", list->names[list->count], value), 2);
    text += strlen(list->names[list->count]) + 1 + strlen(value);
    text += *text == ' ';
    nd4c_attr *attr = &list->attrs[list->count];
    attr->name = list->names[list->count];
    nd4c_attr_kind kind = ND4C_ATTR_UNSET;
    for (int32_t i = 0; i < info->attr_count; i++) {
      kind = strcmp(info->attrs[i].name, attr->name) == 0 ? info->attrs[i].preset.kind : kind;
    }
    attr->value = (nd4c_attr_value){.kind = kind};
    if (kind == ND4C_ATTR_FLOAT) {
      attr->value.as.f = strtod(value, NULL);
    } else if (kind == ND4C_ATTR_INTS) {
      attr->value.as.ints = list->lists[list->count];
      for (char *at = value; *at != '\0'; at += *at == ',') {
        list->lists[list->count][attr->value.count++] = strtoll(at, &at, 10);
      }
    } else {
      attr->value.as.i = strtoll(value, NULL, 10);
    }
    list->count++;
  }
}

/* -- one record ----------------------------------------------------------------------------------------------- */

static int32_t shape_rank(const int64_t *shape) {
  int32_t rank = 0;
  while (rank < 6 && shape[rank] != 0) {
    rank++;
  }
  return rank;
}

/* Inputs of a record: activations in the layout, everything else in C order; scale-like inputs positive. */
static int32_t make_inputs(const record *r, call_frame *frame, layout how) {
  int32_t count = 0;
  for (int32_t i = 0; i < 5; i++) {
    operand *op = &frame->operands[i];
    op->rank = shape_rank(r->shapes[i]);
    if (op->rank == 0) {
      continue;
    }
    op->dtype = r->dtype;
    memcpy(op->shape, r->shapes[i], sizeof r->shapes[i]);
    bool follows = i == 0 || i == 3 || how == SWAPPED || how == SPARSE;
    lay_out(op, follows ? how : C_ORDER);
    fill(op, (uint64_t)i + 7, strcmp(r->op, "batch_norm") == 0 && i == 4 ? 0.5 : -1);
    count = i + 1;
  }
  return count;
}

static double tolerance(nd4c_dtype dtype) {
  return dtype == F64               ? 1e-12
         : dtype == F32             ? 2e-5
         : dtype == BF16            ? 2e-2
         : dtype == F16             ? 2e-3
         : dtype == ND4C_COMPLEX64  ? 1e-4
         : dtype == ND4C_COMPLEX128 ? 1e-10
                                    : 0;
}

static void compare(const record *r, const nd4c_kernel *kernel, const double *expected, const call_frame *frame,
                    const char *where) {
  double *got = result_numbers(frame);
  int64_t size = shape_size(frame->result.rank, frame->result.shape);
  for (int64_t i = 0; i < size; i++) {
    double limit = tolerance(r->dtype) * fmax(1, fabs(expected[i]));
    if (!(fabs(got[i] - expected[i]) <= limit) && !(isnan(got[i]) && isnan(expected[i])) && got[i] != expected[i]) {
      fail_msg("%s, record %d (%s), %s, element %lld: %.9g, reference %.9g", kernel->name, (int)(r - records), r->attrs,
               where, (long long)i, got[i], expected[i]);
    }
  }
  free(got);
}

static int32_t served[sizeof records / sizeof *records];

static bool is_usable(const nd4c_kernel *kernel, call_frame *frame) {
  char reason[TEXT_SIZE] = "";
  frame->call.data = kernel->data;
  return kernel->usable(&frame->call, reason, sizeof reason);
}

static void check_record(const record *r, layout how, layout result) {
  static const char *const names[] = {"C order", "channels last", "sparse", "swapped"};
  char where[64];
  snprintf(where, sizeof where, "%s to %s", names[how], names[result]);
  call_frame frame = {.output.rank = 0};
  const nd4c_op_info *info = NULL;
  assert_int_equal(nd4c_op_find(r->op, &info), ND4C_OK);
  attr_list list;
  parse_attrs(info, r->attrs, &list);
  int32_t inputs = make_inputs(r, &frame, how);
  nd4c_attr_value values[MAX_ATTRS];
  assert_int_equal(nd4c_op_resolve_attrs(info, list.attrs, list.count, values), ND4C_OK);
  ready(&frame, r->op, inputs, values, result);
  run_kernel(engine_kernel(r->op, "reference"), &frame);
  double *expected = result_numbers(&frame);
  const nd4c_kernel *kernel;
  for (int32_t n = 0; (kernel = nth_kernel(r->op, n)) != NULL; n++) {
    if (kernel->usable == NULL || (kernel->dtypes & ND4C_DTYPE_BIT(r->dtype)) == 0 || !is_usable(kernel, &frame)) {
      continue;
    }
    served[r - records]++;
    run_kernel(kernel, &frame);
    compare(r, kernel, expected, &frame, where);
    for (int32_t i = 0; i < inputs; i++) {
      frame.inputs[i].flags = i == 0 ? 0 : ND4C_TENSOR_CONSTANT;
    }
    run_kernel(kernel, &frame);
    compare(r, kernel, expected, &frame, where);
    for (int32_t i = 0; i < inputs; i++) {
      frame.inputs[i].flags = 0;
    }
  }
  free(expected);
  release(&frame);
}

static void test_engines_agree_with_reference(void **state) {
  (void)state;
  const layout layouts[][2] = {{C_ORDER, C_ORDER},       {CHANNELS_LAST, CHANNELS_LAST},
                               {C_ORDER, CHANNELS_LAST}, {CHANNELS_LAST, C_ORDER},
                               {SPARSE, C_ORDER},        {SWAPPED, SPARSE},
                               {SWAPPED, C_ORDER},       {C_ORDER, SWAPPED}};
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    if (nd4c_reference_bytes(records[i].dtype) == 0) {
      continue; /* left out of a lite build */
    }
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
      check_record(&records[i], layouts[l][0], layouts[l][1]);
    }
    print_message("%s %d: %d kernels beside reference\n", records[i].op, (int)i, served[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_engines_agree_with_reference)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
