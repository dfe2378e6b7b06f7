/* Reductions of a function of the elements (backends/cpu/simd/reduction/reduction_functions.c), and those that keep
 * more than one number for each result (backends/cpu/simd/statistics.c), against the reference: shapes whose results
 * are made at once, in parts and in many rows, in all layouts; and the same bits at every width. */
#include "tests/kernels/operands.h"

typedef struct terms_case {
  const char *op;
  nd4c_dtype result; /* NONE: that of x */
  double parameter;  /* of norm_p, the third attribute */
  int32_t inputs;
} terms_case;
static const terms_case cases[] = {{"var", 0, 1, 1},
                                   {"std", 0, 0, 1},
                                   {"nanvar", 0, 0, 1},
                                   {"nanstd", 0, 1, 1},
                                   {"nanmedian", 0, 0, 1},
                                   {"logsumexp", 0, 0, 1},
                                   {"all", ND4C_BOOL, 0, 1},
                                   {"any", ND4C_BOOL, 0, 1},
                                   {"count_nonzero", ND4C_INT64, 0, 1},
                                   {"count_zero", ND4C_INT64, 0, 1},
                                   {"zero_fraction", ND4C_FLOAT32, 0, 1},
                                   {"entropy", 0, 0, 1},
                                   {"log_entropy", 0, 0, 1},
                                   {"shannon_entropy", 0, 0, 1},
                                   {"abs_min", 0, 0, 1},
                                   {"ptp", 0, 0, 1},
                                   {"nansum", 0, 0, 1},
                                   {"nanprod", 0, 0, 1},
                                   {"nanmean", 0, 0, 1},
                                   {"nanmax", 0, 0, 1},
                                   {"nanmin", 0, 0, 1},
                                   {"norm_p", 0, 3, 1},
                                   {"norm_p", 0, 2.5, 1},
                                   {"norm_p", 0, -1, 1},
                                   {"norm_p", 0, 0, 1},
                                   {"norm_p", 0, 1, 1},
                                   {"norm_p", 0, 2, 1},
                                   {"norm_p", 0, (double)INFINITY, 1},
                                   {"norm_p", 0, -(double)INFINITY, 1},
                                   {"cosine_similarity", 0, 0, 2},
                                   {"euclidean_distance", 0, 0, 2},
                                   {"manhattan_distance", 0, 0, 2},
                                   {"hamming_distance", 0, 0, 2},
                                   {"jaccard_distance", 0, 0, 2}};

static const struct {
  int32_t rank;
  int64_t shape[MAX_RANK];
} shapes[] = {{1, {1}},           {1, {130}},         {1, {70001}},      {2, {700, 3}},
              {2, {3, 5000}},     {2, {520, 40}},     {2, {17, 2100}},   {3, {4, 19, 66}},
              {3, {1, 34000, 2}}, {3, {2, 1700, 33}}, {4, {3, 40, 5, 7}}};

/* Magnitudes near 1/2, of which many are equal; some zeros and NaN, where the op is about these. A row has all kinds,
 * unless it is short. */
static void fill_with(const char *op, operand *x) {
  const bool nan = strncmp(op, "nan", 3) == 0, zeros = strstr(op, "zero") != NULL || op[0] == 'a';
  int64_t index[MAX_RANK] = {0};
  do {
    nd4c_value value = random_value(x->tensor.dtype);
    uint64_t draw = random_bits() % 64;
    if (nd4c_reference_kind(x->tensor.dtype) == ND4C_KIND_FLOAT) {
      value.f = draw < 16 ? 0.25 : 0.05 + 0.9 * random_unit();
      value.f = nan && draw > 40 ? NAN : zeros && draw > 40 ? 0 : value.f;
      value.f = strcmp(op, "nanprod") == 0 && draw <= 40 ? 1 + value.f / 4096 : value.f;
    }
    nd4c_value_store(x->tensor.dtype, x->tensor.data, nd4c_index_offset(x->tensor.rank, index, x->strides), value);
  } while (nd4c_index_next(x->tensor.rank, x->shape, index));
}

typedef struct terms_call {
  nd4c_tensor inputs[2];
  nd4c_attr_value attrs[3];
  nd4c_call call;
} terms_call;

/* The result by the kernel of `engine` that takes the call, into y, whose memory is the caller's to free; its bits. */
static void run_by(const char *engine, const terms_case *test, terms_call *t, int width, const int64_t *shape,
                   placement where, operand *y) {
  char reason[200];
  const nd4c_kernel *kernel = NULL;
  lay_out(y, test->result != 0 ? test->result : t->inputs[0].dtype, t->inputs[0].rank, shape, where);
  t->call.outputs = &y->tensor;
  t->call.width = width;
  for (int32_t i = 0; (kernel = cpu_kernel(test->op, engine, i)) != NULL; i++) {
    if ((kernel->dtypes >> t->inputs[0].dtype & 1) != 0 && kernel->usable(&t->call, reason, sizeof reason)) {
      break;
    }
  }
  assert_non_null(kernel);
  assert_int_equal(kernel->run(&t->call), ND4C_OK);
}

static void check(const terms_case *test, nd4c_dtype dtype, size_t s, unsigned mask, placement where) {
  const nd4c_op_info info = {.struct_size = ND4C_SIZE_OF(nd4c_op_info), .name = test->op};
  const int32_t rank = shapes[s].rank;
  int64_t axes[MAX_RANK], y_shape[MAX_RANK];
  operand x, z, expected, found, again;
  char what[200];
  lay_out(&x, dtype, rank, shapes[s].shape, where);
  lay_out(&z, dtype, rank, x.shape, where == PLAIN ? PLAIN : TRANSPOSED);
  fill_with(test->op, &x);
  fill_with(test->op, &z);
  terms_call t = {.inputs = {x.tensor, z.tensor},
                  .attrs = {{.kind = ND4C_ATTR_INTS, .as.ints = axes},
                            {.kind = ND4C_ATTR_BOOL, .as.i = 1},
                            {.kind = ND4C_ATTR_FLOAT, .as.f = test->parameter}}};
  for (int32_t axis = 0; axis < rank; axis++) {
    y_shape[axis] = mask >> axis & 1 ? 1 : x.shape[axis];
    if (mask >> axis & 1) {
      axes[t.attrs[0].count++] = axis;
    }
  }
  t.call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                       .op = &info,
                       .input_count = test->inputs,
                       .output_count = 1,
                       .inputs = t.inputs,
                       .attrs = t.attrs};
  (void)snprintf(what, sizeof what, "level %s, %s (%g), dtype %d, shape %d, axes %u, layout %s", level, test->op,
                 test->parameter, (int)dtype, (int)s, mask, placement_names[where]);
  const placement result = where == TRANSPOSED || where == GAPS ? where : PLAIN;
  run_by("reference", test, &t, 1, y_shape, result, &expected);
  run_by("simd", test, &t, 1, y_shape, result, &found);
  run_by("simd", test, &t, 3, y_shape, result, &again);
  const bool cancels = strcmp(test->op, "log_entropy") == 0; /* the logarithm of a sum near 1 */
  compare(what, &found, &expected, dtype != ND4C_FLOAT64 ? 1 : cancels ? 0x1p32 : 512);
  if (memcmp(found.memory, again.memory, found.bytes) != 0) {
    fail_msg("%s: other bits at width 3", what);
  }
  operand *const all[] = {&x, &z, &expected, &found, &again};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    free(all[i]->memory);
  }
}

/* Every case has every shape in a dtype, axes and a layout that are drawn. */
static void test_levels(void **state) {
  static const nd4c_dtype dtypes[] = {
#define DTYPE(NAME, name, kind) ND4C_##NAME,
      ND4C_FLOAT_DTYPES(DTYPE) ND4C_WHOLE_DTYPES(DTYPE)
#undef DTYPE
  };
#define ONE(NAME, name, kind) +1
  enum { FLOATS = 0 ND4C_FLOAT_DTYPES(ONE), ALL = sizeof dtypes / sizeof *dtypes };
#undef ONE
  (void)state;
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
      const nd4c_kernel *reference = find_kernel(cases[c].op, "reference");
      for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        nd4c_dtype dtype = dtypes[random_bits() % 2 == 0 ? random_bits() % FLOATS : random_bits() % ALL];
        dtype = (reference->dtypes >> dtype & 1) != 0 && !(dtype == ND4C_FLOAT64 && cases[c].result == ND4C_FLOAT32)
                    ? dtype
                    : ND4C_FLOAT32;
        unsigned mask = 1 + (unsigned)(random_bits() % ((1u << shapes[s].rank) - 1));
        check(&cases[c], dtype, s, mask, random_bits() % 2 == 0 ? PLAIN : (placement)(random_bits() % PLACEMENTS));
      }
    }
    cpu_providers_close();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_levels)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
