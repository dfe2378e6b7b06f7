/* Calls with texts are computed on the host, whichever of the inputs are texts: no device is asked, and an input that
 * is elsewhere comes to the host even where automatic transfer is off. */
#include "routing_fixture.h"

enum { TEXTS = 3 };

static const struct {
  bool no_transfer;
  nd4c_routing_policy policy;
} cases[] = {{false, ND4C_ROUTING_PREFER_GPU}, {false, ND4C_ROUTING_FOLLOW_DATA}, {true, ND4C_ROUTING_PREFER_GPU}};

static nd4c_array *texts_of(const char *one, const char *two, const char *three) {
  const int64_t count = TEXTS;
  nd4c_array *texts = NULL;
  assert_int_equal(nd4c_array_from_strings(1, &count, (const char *const[]){one, two, three}, NULL, &texts), ND4C_OK);
  return texts;
}

/* The first input is no text, and lies on the stub. */
static void texts_behind_the_first_input_decide(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nd4c_context *context =
        routed((nd4c_routing_options){.policy = cases[i].policy, .no_transfer = cases[i].no_transfer}, false);
    nd4c_array *a = texts_of("a", "b", "c"), *b = texts_of("x", "y", "z"), *chosen = NULL, *same = NULL, *all = NULL;
    const int64_t count = TEXTS;
    nd4c_array *condition = NULL;
    bool is_same = false;
    assert_int_equal(nd4c_array_full(ND4C_BOOL, 1, &count, 1, stub_device, &condition), ND4C_OK);
    if (nd4c_where_on(context, condition, a, b, &chosen) != ND4C_OK) {
      fail_msg("case %d: %s", (int)i, nd4c_error_message());
    }
    assert_ptr_equal(nd4c_array_device(chosen), cpu);
    assert_int_equal(nd4c_equal(chosen, a, &same), ND4C_OK);
    assert_int_equal(nd4c_all(same, NULL, 0, false, &all), ND4C_OK);
    assert_int_equal(nd4c_array_read(all, &is_same, sizeof is_same), ND4C_OK);
    assert_true(is_same);
    nd4c_array *made[] = {a, b, chosen, same, all, condition};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) {
      nd4c_array_release(made[k]);
    }
    assert_int_equal(nd4c_context_destroy(context), ND4C_OK);
  }
}

int main(void) {
  if (routing_start() != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test(texts_behind_the_first_input_decide)};
  const int failed = cmocka_run_group_tests_name("routed_texts", tests, NULL, NULL);
  (void)nd4c_context_destroy(stub_context);
  return failed;
}
