/* random_categorical: the device first checks the rows of probabilities, and the verdict is read back. Then each sample
 * is searched among a row's sums, or a row's classes are sorted by their waiting times. dispatch/choice.c asks this
 * kernel for arrays on OpenCL devices. */
#include "backends/opencl/families/random.h"
#include "backends/opencl/support/ordering.h"

#define SOURCES "convert+philox+random_categories"

enum { VERDICT_WORDS = 1 };

typedef struct categories {
  nd4c_cl_sorting sorting; /* without replacement; its keys are where the chances are */
  nd4c_cl_walk p, y;
  int64_t rows, classes, samples, words;
  bool logarithms, replacement;
} categories;

static void lay_out(const nd4c_call *call, categories *c) {
  const nd4c_tensor *p = &call->inputs[1], *y = &call->outputs[0];
  c->classes = p->shape[p->rank - 1];
  c->rows = p->size / c->classes;
  c->samples = y->shape[y->rank - 1];
  c->logarithms = ND4C_FLAG_OF(call, random_categorical_logarithms);
  c->replacement = ND4C_FLAG_OF(call, random_categorical_replacement);
  c->words = nd4c_cl_sorting_make(&c->sorting, VERDICT_WORDS, c->rows, c->classes);
  if (c->replacement) {
    c->words = VERDICT_WORDS + p->size;
  }
}

static int64_t categorical_scratch(const nd4c_call *call) {
  categories c;
  lay_out(call, &c);
  return c.words * ND4C_CL_WORD;
}

static nd4c_status read_chances(const nd4c_call *call, const categories *c) {
  const uint32_t none = UINT32_MAX;
  uint32_t row = none;
  ND4C_BACKEND_TRY(nd4c_cl_fill(call, call->scratch_buffer, 0, sizeof none, &none, sizeof none));
  ND4C_BACKEND_TRY(ND4C_CL_RUN_OPS(call, SOURCES, "read_chances", c->rows, ND4C_CL_IN(&call->inputs[1]),
                                   ND4C_CL_VALUE(c->p), ND4C_CL_LONG(c->classes), ND4C_CL_INT(c->logarithms),
                                   ND4C_CL_SCRATCH(READ_WRITE), ND4C_CL_SCRATCH(READ_WRITE),
                                   ND4C_CL_LONG(VERDICT_WORDS), ND4C_CL_INT(c->replacement)));
  ND4C_BACKEND_TRY(nd4c_cl_read_back(call, call->scratch_buffer, 0, &row, sizeof row));
  return row == none
             ? ND4C_OK
             : nd4c_cl_host->fail(ND4C_ARGUMENT,
                                  "random_categorical: row %lld of p has no chances: expected %s and a positive sum",
                                  (long long)row, c->logarithms ? "no NaN or infinity" : "numbers of at least 0");
}

static nd4c_status choose_with_replacement(const nd4c_call *call, const categories *c) {
  return ND4C_CL_RUN_OPS(call, SOURCES, "choose_classes", c->y.size, ND4C_CL_STATE(&call->inputs[0]),
                         ND4C_CL_SCRATCH(READ), ND4C_CL_LONG(VERDICT_WORDS, c->classes, c->samples),
                         ND4C_CL_OUT(&call->outputs[0]), ND4C_CL_VALUE(c->y));
}

static nd4c_status choose_without_replacement(const nd4c_call *call, categories *c) {
  ND4C_BACKEND_TRY(ND4C_CL_RUN_OPS(call, SOURCES, "wait_keys", c->p.size, ND4C_CL_STATE(&call->inputs[0]),
                                   ND4C_CL_SCRATCH(READ_WRITE),
                                   ND4C_CL_LONG(c->sorting.keys, c->sorting.order, c->classes)));
  ND4C_BACKEND_TRY(nd4c_cl_sort(call, &c->sorting));
  return ND4C_CL_RUN_OPS(call, SOURCES, "write_classes", c->y.size, ND4C_CL_SCRATCH(READ),
                         ND4C_CL_LONG(c->sorting.order, c->classes, c->samples), ND4C_CL_OUT(&call->outputs[0]),
                         ND4C_CL_VALUE(c->y));
}

static nd4c_status random_categorical(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *p = &call->inputs[1], *y = &call->outputs[0];
  categories c;
  lay_out(call, &c);
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &c.p, p));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &c.y, y));
  if (nd4c_cl_is_dry(step)) {
    ND4C_BACKEND_TRY(nd4c_cl_step_fp64(step));
    return nd4c_cl_sorting_check(step, p->size, c.words * ND4C_CL_WORD);
  }
  ND4C_BACKEND_TRY(read_chances(call, &c));
  if (y->size == 0) {
    return ND4C_OK;
  }
  return c.replacement ? choose_with_replacement(call, &c) : choose_without_replacement(call, &c);
}

ND4C_CL_STEP_KERNEL(random_categorical, ND4C_CL_STATES, random_categorical(step), categorical_scratch)

const nd4c_kernel *const nd4c_cl_random_categories_kernels[] = {&opencl_random_categorical, NULL};
