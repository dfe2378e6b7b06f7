/* Loops with a Slice that begins where the round says: those of fixed lengths run in a plan of the body. */
#include "model_loops.h"

static const loop_case cases[] = {
    /* slices of fixed lengths from the round on; later rounds find less, which the interpreter knows */
    {NULL, "Loop k - x > y z",
     "Identity go > on; Unsqueeze i v0 > b; Add i i1 > j; Unsqueeze j v0 > e; Slice x b e > s; ReduceSum s v0 "
     "keepdims=0 > "
     "t; Add v t > u; Neg u > q",
     "on u q", planned},
    {NULL, "Loop k - x > y z",
     "Identity go > on; Reshape i v1 > b; Sub b v1 > m; Add m v2 > e; Concat b v0 axis=0 > bs; Add v1 e > e2; Concat "
     "e2 v2 axis=0 > es; Slice w bs es > s; ReduceSum s keepdims=0 > t; Add v t > u; Neg u > q",
     "on u q", planned},
    {NULL, "Loop k - x > y z",
     "Identity go > on; Reshape i v1 > b; Add v2 b > e; Slice w b e v1 v1 > s; ReduceSum s v1 keepdims=0 > t; Add v t "
     "> u; "
     "Neg u > q",
     "on u q", planned},
    /* a start that counts from the end: from the second round on the slice ends before it begins */
    {NULL, "Loop k - x > y z",
     "Identity go > on; Neg i > m; Reshape m v1 > b; Add b v1 > e; Slice x b e > s; ReduceSum s v0 keepdims=0 > t; Add "
     "v t "
     "> u; Neg u > q",
     "on u q", planned},
    /* of a value that grows */
    {NULL, "Loop k - x > y z",
     "Identity go > on; Concat v x axis=0 > u; Reshape i v1 > b; Add b v2 > e; Slice u b e > s; ReduceSum s v0 "
     "keepdims=0 "
     "> q",
     "on u q", "carries float32 [?]"},
    /* a length, a step or an axis that is none of this kind */
    {NULL, "Loop k - x > y z",
     "Identity go > on; Reshape i v1 > b; Slice x v0 b > s; ReduceSum s v0 keepdims=0 > t; Add v t > u; Neg u > q",
     "on u q", "rounds interpreted: node "},
    {NULL, "Loop k - x > y z",
     "Identity go > on; Reshape i v1 > b; Add b v2 > e; Slice x b e v0 v2 > s; ReduceSum s v0 keepdims=0 > t; Add v t "
     "> u; "
     "Neg u > q",
     "on u q", "rounds interpreted: node "},
    {NULL, "Loop k - x > y z",
     "Identity go > on; Reshape i v1 > b; Add b b > d; Add d v1 > e; Slice x b e > s; ReduceSum s v0 keepdims=0 > t; "
     "Add v t "
     "> u; Neg u > q",
     "on u q", "rounds interpreted: node "},
    {NULL, "Loop k - x > y z",
     "Identity go > on; Reshape i v1 > b; Sub v1 b > e; Slice x b e > s; ReduceSum s v0 keepdims=0 > t; Add v t > u; "
     "Neg u > "
     "q",
     "on u q", "rounds interpreted: node "},
};

static void results_are_those_of_the_interpreter(void **state) {
  (void)state;
  compare_cases(cases, sizeof cases / sizeof *cases);
}

/* x[i : i + 1] of four: a fifth round gets nothing, which the plan does not know. If most runs do so, few try the plan.
 */
static void slices_past_the_end_are_interpreted(void **state) {
  (void)state;
  enum { MANY = 200, FREE = 4, RARE = 16 };
  static const loop_case sliced = {NULL, "Loop k - x > y z",
                                   "Identity go > on; Reshape i v1 > b; Add b v1 > e; Slice x b e > s; Add v s > u; "
                                   "ReduceSum s v0 keepdims=0 > q",
                                   "on u q", planned};
  example e;
  open_case(&e, &sliced, NULL);
  for (int64_t k = 1; k <= WIDE; k++) {
    compare(&e, &sliced, WIDE, k, 0);
  }
  assert_int_equal(count_reported(e.model, "did not serve"), 0);
  close_example(&e);
  static const loop_case summed = {NULL, "Loop k - x > y z",
                                   "Identity go > on; Reshape i v1 > b; Add b v1 > e; Slice x b e > s; "
                                   "ReduceSum s v0 keepdims=0 > q; Add v q > u",
                                   "on u q", planned};
  open_case(&e, &summed, NULL);
  for (int64_t k = 1; k <= MANY; k++) {
    compare(&e, &summed, WIDE, WIDE + 1, 0);
  }
  char *text = NULL, *at = NULL;
  assert_int_equal(nd4c_model_report(e.model, &text), ND4C_OK);
  at = strstr(text, "which were interpreted: ");
  assert_non_null(at);
  const int64_t unserved = strtoll(strchr(at, ':') + 1, NULL, 10);
  assert_true(unserved > FREE && unserved <= FREE + 1 + MANY / RARE);
  nd4c_free(text);
  close_example(&e);
}

/* An allocation that fails ends the run, and not the plan of later ones. */
static void memory_may_be_short(void **state) {
  (void)state;
  nd4c_status status = ND4C_MEMORY;
  for (int64_t skip = 0; status != ND4C_OK; skip += 1 + skip / 16) {
    example e;
    nd4c_array *y[2] = {NULL};
    open_case(&e, &cases[1], NULL);
    fails_at = skip;
    status = run_loop(e.model, WIDE, 2, 0, y);
    fails_at = -1;
    assert_true(status == ND4C_OK || status == ND4C_MEMORY);
    drop(y);
    compare(&e, &cases[1], WIDE, 2, 0);
    expect_reported(e.model, planned);
    assert_int_equal(count_reported(e.model, "rounds interpreted"), 0);
    close_example(&e);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_those_of_the_interpreter),
      cmocka_unit_test(slices_past_the_end_are_interpreted),
      cmocka_unit_test(memory_may_be_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
