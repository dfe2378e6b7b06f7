/* Losses, steps of optimisers, normalisations by numbers of groups and statistics with several results: engine simd
 * against the reference, in sizes that are computed in parts and in all layouts; and the same bits at every width. */
#include "ops/op.h"
#include "tests/kernels/operands.h"

enum { MAX_INPUTS = 6, MAX_OUTPUTS = 3, MAX_ATTRS = 12 };

/* How an input is made of the first one's shape. */
typedef enum input_kind { NONE, SAME, LAST_AXIS, CHANNELS, CLASSES, NUMBER, STEP } input_kind;

typedef struct family_case {
  const char *op;
  input_kind inputs[MAX_INPUTS];
  const char *attr; /* that differs from its default; NULL: none */
  double value;
  double units; /* in the last place of f64, that results may differ by */
} family_case;

#define PAIR {SAME, SAME}
#define WEIGHTED {SAME, SAME, LAST_AXIS}
static const family_case cases[] = {
    {"mse_loss", PAIR, NULL, 0, 512},
    {"mse_loss", WEIGHTED, "reduction", ND4C_LOSS_REDUCTION_MEAN_BY_WEIGHT, 512},
    {"mse_loss", WEIGHTED, "reduction", ND4C_LOSS_REDUCTION_NONE, 4},
    {"l1_loss", PAIR, "reduction", ND4C_LOSS_REDUCTION_SUM, 512},
    {"hinge_loss", WEIGHTED, NULL, 0, 512},
    {"poisson_nll_loss", PAIR, "reduction", ND4C_LOSS_REDUCTION_NONE, 64},
    {"huber_loss", PAIR, "delta", 0.25, 512},
    {"smooth_l1_loss", PAIR, "beta", 0.25, 512},
    {"smooth_l1_loss", PAIR, "beta", 0, 512},
    {"log_loss", PAIR, "epsilon", 0.01, 512},
    {"sigmoid_cross_entropy", PAIR, "label_smoothing", 0.125, 512},
    {"sigmoid_cross_entropy", PAIR, "reduction", ND4C_LOSS_REDUCTION_NONE, 64},
    {"kl_divergence", PAIR, NULL, 0, 1 << 20},
    {"kl_divergence", PAIR, "log_target", 1, 1 << 20},
    {"cosine_distance", PAIR, "axis", 0, 512},
    {"dense_cross_entropy", PAIR, "axis", 1, 1 << 20},
    {"dense_cross_entropy", PAIR, "reduction", ND4C_LOSS_REDUCTION_NONE, 1 << 20},
    {"nll_loss", {SAME, CLASSES, CHANNELS}, NULL, 0, 512},
    {"nll_loss", {SAME, CLASSES}, "reduction", ND4C_LOSS_REDUCTION_NONE, 0},
    {"softmax_cross_entropy", {SAME, CLASSES}, NULL, 0, 1 << 20},
    {"softmax_cross_entropy", {SAME, CLASSES, CHANNELS}, "ignore_index", 1, 1 << 20},
    {"sgd_step", {SAME, SAME, NUMBER}, "decay", 0.1, 1 << 16},
    {"momentum_step", {SAME, SAME, SAME, NUMBER, STEP}, "nesterov", 1, 1 << 16},
    {"momentum_step", {SAME, SAME, SAME, NUMBER, STEP}, "beta", 0.5, 1 << 16},
    {"adagrad_step", {SAME, SAME, SAME, NUMBER, STEP}, "rate_decay", 0.1, 1 << 16},
    {"rmsprop_step", {SAME, SAME, SAME, NUMBER}, "decay", 0.1, 1 << 16},
    {"adam_step", {SAME, SAME, SAME, SAME, NUMBER, STEP}, "decay_after", 0.1, 1 << 16},
    {"adamw_step", {SAME, SAME, SAME, SAME, NUMBER, STEP}, NULL, 0, 1 << 16},
    {"moments", {SAME}, NULL, 0, 512},
    {"diff", {SAME}, NULL, 0, 0},
    {"diff", {SAME, SAME, SAME}, "axis", 0, 0},
    {"diff", {SAME, SAME}, "order", 2, 0},
    {"cumulative_logsumexp", {SAME}, "exclusive", 1, 512},
    {"cumulative_logsumexp", {SAME}, "axis", 0, 512},
    {"trace", {SAME}, "offset", 1, 512},
    {"lp_normalize", {SAME}, NULL, 0, 64},
    {"lp_normalize", {SAME}, "p", 3, 64},
    {"standardize", {SAME}, NULL, 0, 1 << 20},
    {"clip_by_norm", {SAME}, NULL, 0, 512},
    {"clip_by_norm", {SAME, NUMBER}, "max_norm", 0.001, 64},
    {"global_norm", PAIR, NULL, 0, 512},
    {"batch_norm_training", {SAME, CHANNELS, CHANNELS, CHANNELS, CHANNELS}, NULL, 0, 1 << 20},
    {"layer_norm_with_statistics", {SAME, LAST_AXIS, LAST_AXIS}, NULL, 0, 1 << 20}};

static const struct {
  int32_t rank;
  int64_t shape[MAX_RANK];
} shapes[] = {{2, {3, 2}}, {2, {70, 1030}}, {3, {5, 7, 11}}, {3, {40, 3, 1100}}};

typedef struct frame {
  nd4c_tensor inputs[MAX_INPUTS], outputs[MAX_OUTPUTS];
  nd4c_attr_value attrs[MAX_ATTRS];
  operand given[MAX_INPUTS], made[3][MAX_OUTPUTS]; /* by the reference, at width 1, at width 3 */
  nd4c_call call;
} frame;

/* Numbers from 0.05 to 0.95; some targets are 0 or 1. */
static void fill_mildly(operand *x) {
  int64_t index[MAX_RANK] = {0};
  do {
    const uint64_t draw = random_bits() % 16;
    nd4c_value value = {.u = draw};
    if (nd4c_reference_kind(x->tensor.dtype) == ND4C_KIND_FLOAT) {
      value.f = draw == 0 ? 0.25 : 0.05 + 0.9 * random_unit();
    }
    nd4c_value_store(x->tensor.dtype, x->tensor.data, nd4c_index_offset(x->tensor.rank, index, x->strides), value);
  } while (nd4c_index_next(x->tensor.rank, x->shape, index));
}

/* Classes that x's axis 1 has places for. */
static void fill_classes(operand *x, int64_t classes) {
  int64_t *target = (int64_t *)(void *)x->tensor.data;
  for (int64_t i = 0; i < x->tensor.size; i++) {
    target[i] = (int64_t)(random_bits() % (uint64_t)classes);
  }
}

static int32_t make_inputs(const family_case *test, nd4c_dtype dtype, size_t s, placement where, frame *f) {
  int32_t count = 0;
  for (; count < MAX_INPUTS && test->inputs[count] != NONE; count++) {
    const input_kind kind = test->inputs[count];
    int64_t lacking[MAX_RANK] = {shapes[s].shape[0], shapes[s].shape[2], shapes[s].shape[3]};
    const int32_t rank = kind == SAME                            ? shapes[s].rank
                         : kind == CLASSES                       ? shapes[s].rank - 1
                         : kind == LAST_AXIS || kind == CHANNELS ? 1
                                                                 : 0;
    const int64_t *shape = kind == LAST_AXIS  ? &shapes[s].shape[shapes[s].rank - 1]
                           : kind == CHANNELS ? &shapes[s].shape[1]
                           : kind == CLASSES  ? lacking
                                              : shapes[s].shape;
    lay_out(&f->given[count], kind == STEP || kind == CLASSES ? ND4C_INT64 : dtype, rank, shape,
            kind == SAME ? where : PLAIN);
    fill_mildly(&f->given[count]);
    if (kind == CLASSES) {
      fill_classes(&f->given[count], shapes[s].shape[1]);
    }
    if (kind == STEP) {
      *(int64_t *)f->given[count].tensor.data = 3;
    }
    f->inputs[count] = f->given[count].tensor;
  }
  return count;
}

static void set_attrs(const family_case *test, const nd4c_op_info *info, frame *f) {
  assert_true(info->attr_count <= MAX_ATTRS);
  assert_int_equal(nd4c_op_resolve_attrs(info, NULL, 0, f->attrs), ND4C_OK);
  for (int32_t i = 0; test->attr != NULL; i++) {
    assert_true(i < info->attr_count);
    if (strcmp(info->attrs[i].name, test->attr) != 0) {
      continue;
    }
    if (f->attrs[i].kind == ND4C_ATTR_FLOAT) {
      f->attrs[i].as.f = test->value;
    } else {
      f->attrs[i].as.i = (int64_t)test->value;
    }
    break;
  }
}

static void run_by(const char *engine, frame *f, int width, placement where, operand *made) {
  nd4c_inferred inferred[MAX_OUTPUTS];
  char reason[200] = "";
  nd4c_inference inference = {.op = f->call.op,
                              .input_count = f->call.input_count,
                              .inputs = f->inputs,
                              .attrs = f->attrs,
                              .outputs = inferred};
  if (nd4c_op_infer(nd4c_op_get_def(f->call.op->op), &inference) != ND4C_OK) {
    fail_msg("%s: %s", f->call.op->name, nd4c_error_message());
  }
  for (int32_t i = 0; i < f->call.output_count; i++) {
    lay_out(&made[i], inferred[i].dtype, inferred[i].rank, inferred[i].shape, where);
    f->outputs[i] = made[i].tensor;
  }
  const nd4c_kernel *kernel = find_kernel(f->call.op->name, engine);
  if (kernel == NULL) {
    fail_msg("%s: engine %s has no kernel", f->call.op->name, engine);
    return;
  }
  f->call.width = width;
  if (!kernel->usable(&f->call, reason, sizeof reason)) {
    fail_msg("%s: %s", kernel->name, reason);
  }
  const int64_t bytes = kernel->scratch_bytes != NULL ? kernel->scratch_bytes(&f->call) : 0;
  f->call.scratch = bytes > 0 ? aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64) : NULL;
  assert_int_equal(kernel->run(&f->call), ND4C_OK);
  free(f->call.scratch);
}

static void check(const family_case *test, nd4c_dtype dtype, size_t s, placement where) {
  const nd4c_op_info *info = NULL;
  frame f = {.call.width = 0};
  char what[200];
  assert_int_equal(nd4c_op_find(test->op, &info), ND4C_OK);
  assert_true(info->output_count <= MAX_OUTPUTS);
  set_attrs(test, info, &f);
  f.call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                       .op = info,
                       .input_count = make_inputs(test, dtype, s, where, &f),
                       .output_count = info->output_count,
                       .inputs = f.inputs,
                       .outputs = f.outputs,
                       .attrs = f.attrs};
  const placement result = where == TRANSPOSED || where == GAPS ? where : PLAIN;
  run_by("reference", &f, 1, result, f.made[0]);
  run_by("simd", &f, 1, result, f.made[1]);
  run_by("simd", &f, 3, result, f.made[2]);
  for (int32_t i = 0; i < info->output_count; i++) {
    (void)snprintf(what, sizeof what, "level %s, %s (%s %g), output %d, dtype %d, shape %d, layout %s", level, test->op,
                   test->attr != NULL ? test->attr : "defaults", test->value, (int)i, (int)dtype, (int)s,
                   placement_names[where]);
    compare(what, &f.made[1][i], &f.made[0][i], f.made[0][i].tensor.dtype == ND4C_FLOAT64 ? test->units : 1);
    if (memcmp(f.made[1][i].memory, f.made[2][i].memory, f.made[1][i].bytes) != 0) {
      fail_msg("%s: other bits at width 3", what);
    }
    for (int k = 0; k < 3; k++) {
      free(f.made[k][i].memory);
    }
  }
  for (int32_t i = 0; i < f.call.input_count; i++) {
    free(f.given[i].memory);
  }
}

/* Every case has every shape in a dtype and a layout that are drawn. */
static void test_levels(void **state) {
  static const nd4c_dtype dtypes[] = {
#define DTYPE(NAME, name, kind) ND4C_##NAME,
      ND4C_FLOAT_DTYPES(DTYPE)
#undef DTYPE
  };
  (void)state;
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        const nd4c_dtype dtype = dtypes[random_bits() % (sizeof dtypes / sizeof *dtypes)];
        const placement layouts[] = {PLAIN, OFFSET, GAPS, BACKWARDS, TRANSPOSED};
        check(&cases[c], dtype, s, random_bits() % 2 == 0 ? PLAIN : layouts[random_bits() % 5]);
      }
    }
    cpu_providers_close();
  }
}

/* Whether engine simd finds x in order. */
static bool is_ordered(const char *op, const operand *x) {
  const nd4c_op_info *info = NULL;
  uint8_t found = 2;
  const nd4c_tensor y = {.dtype = ND4C_BOOL, .size = 1, .data = &found};
  assert_int_equal(nd4c_op_find(op, &info), ND4C_OK);
  const nd4c_kernel *kernel = find_kernel(op, "simd");
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .op = info,
                          .input_count = 1,
                          .output_count = 1,
                          .inputs = &x->tensor,
                          .outputs = &y,
                          .width = 3};
  assert_non_null(kernel);
  assert_int_equal(kernel->run(&call), ND4C_OK);
  return found == 1;
}

/* One pair out of order, or of equals, at the ends of pieces and between them, is found; no other is made up. */
static void test_order(void **state) {
  static const int64_t shape[] = {4100}, places[] = {0, 1, 1021, 1022, 1023, 1024, 2046, 4098};
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT64, ND4C_FLOAT32, ND4C_INT32};
  (void)state;
  enter_providers();
  level = nd4c_cpu_level_name(0);
  assert_true(cpu_providers_open());
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    operand x;
    const bool is_float = nd4c_reference_kind(dtypes[d]) == ND4C_KIND_FLOAT;
    lay_out(&x, dtypes[d], 1, shape, d == 1 ? GAPS : PLAIN);
    for (size_t p = 0; p <= sizeof places / sizeof *places; p++) {
      for (int64_t difference = 0; difference < 3; difference++) {
        const bool is_last = p == sizeof places / sizeof *places; /* nothing is changed */
        for (int64_t i = 0; i < shape[0]; i++) {
          const int64_t number = !is_last && i == places[p] + 1 ? 4 * i - 4 + difference - 1 : 4 * i;
          const nd4c_value value = is_float ? (nd4c_value){.f = (double)number} : (nd4c_value){.i = number};
          nd4c_value_store(dtypes[d], x.tensor.data, i * x.strides[0], value);
        }
        assert_int_equal(is_ordered("is_non_decreasing", &x), is_last || difference > 0);
        assert_int_equal(is_ordered("is_strictly_increasing", &x), is_last || difference > 1);
      }
    }
    if (is_float) {
      nd4c_value_store(dtypes[d], x.tensor.data, 4000 * x.strides[0], (nd4c_value){.f = NAN});
      assert_false(is_ordered("is_non_decreasing", &x));
    }
    free(x.memory);
  }
  cpu_providers_close();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels), cmocka_unit_test(test_order)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
