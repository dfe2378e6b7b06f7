/* Outputs that a caller gives are compared with what a device has computed aside: each one with its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "dispatch/pending.h"

enum { OUTPUTS = 2, MOST_RANK = 3 };

/* Two results of different dtypes and ranks, and what is given for them. */
typedef struct given {
  nd4c_dtype dtype; /* ND4C_DTYPE_NONE: nothing is given */
  int32_t rank;
  int64_t shape[MOST_RANK];
} given;

static const given fresh[OUTPUTS] = {{ND4C_FLOAT32, 1, {3}}, {ND4C_INT64, 2, {3, 3}}};

static const struct {
  given outputs[OUTPUTS];
  nd4c_status status;
  const char *text;
} cases[] = {
    {{{ND4C_FLOAT32, 1, {3}}, {ND4C_INT64, 2, {3, 3}}}, ND4C_OK, ""},
    {{{ND4C_DTYPE_NONE, 0, {0}}, {ND4C_INT64, 2, {3, 3}}}, ND4C_OK, ""},
    {{{ND4C_FLOAT32, 1, {3}}, {ND4C_DTYPE_NONE, 0, {0}}}, ND4C_OK, ""},
    {{{ND4C_DTYPE_NONE, 0, {0}}, {ND4C_DTYPE_NONE, 0, {0}}}, ND4C_OK, ""},
    {{{ND4C_FLOAT32, 2, {3, 3}}, {ND4C_INT64, 2, {3, 3}}}, ND4C_SHAPE, "(3, 3), the result has (3,)"},
    {{{ND4C_FLOAT32, 1, {3}}, {ND4C_INT64, 1, {3}}}, ND4C_SHAPE, "(3,), the result has (3, 3)"},
    {{{ND4C_FLOAT32, 1, {3}}, {ND4C_INT64, 2, {3, 4}}}, ND4C_SHAPE, "(3, 4), the result has (3, 3)"},
    {{{ND4C_FLOAT32, 1, {3}}, {ND4C_FLOAT32, 2, {3, 3}}}, ND4C_DTYPE, "is float32, the result is int64"},
    {{{ND4C_INT32, 1, {3}}, {ND4C_DTYPE_NONE, 0, {0}}}, ND4C_DTYPE, "is int32, the result is float32"},
};

static nd4c_array *make(const given *g) {
  nd4c_array *made = NULL;
  if (g->dtype != ND4C_DTYPE_NONE) {
    assert_int_equal(nd4c_array_zeros(g->dtype, g->rank, g->shape, NULL, &made), ND4C_OK);
  }
  return made;
}

static void each_output_is_compared_with_its_own(void **state) {
  (void)state;
  nd4c_array *computed[OUTPUTS] = {make(&fresh[0]), make(&fresh[1])};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_array *outputs[OUTPUTS] = {make(&cases[i].outputs[0]), make(&cases[i].outputs[1])};
    nd4c_error_clear();
    const nd4c_status status = nd4c_pending_check_given(nd4c_op_get_def(ND4C_OP_top_k), outputs, computed);
    if (status != cases[i].status || strstr(nd4c_error_message(), cases[i].text) == NULL) {
      fail_msg("case %d: %s: %s", (int)i, nd4c_status_name(status), nd4c_error_message());
    }
    nd4c_array_release(outputs[0]);
    nd4c_array_release(outputs[1]);
  }
  nd4c_array_release(computed[0]);
  nd4c_array_release(computed[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_output_is_compared_with_its_own)};
  return cmocka_run_group_tests_name("given_outputs", tests, NULL, NULL);
}
