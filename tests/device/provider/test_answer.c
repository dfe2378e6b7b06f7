/* Sound and hostile answers of compilers to a region: the library uses no part of a hostile answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/status.h"
#include "device/provider/answer.h"

enum { NODES = 4 };

/* Nodes 0 -> 1 -> 2 and 0 -> 3; value 0 is the input, node i makes value i + 1. */
static const nd4c_op_info op = {.struct_size = sizeof op, .name = "negative", .input_count = 1, .output_count = 1};
static const nd4c_call calls[NODES] = {{.op = &op, .input_count = 1, .output_count = 1},
                                       {.op = &op, .input_count = 1, .output_count = 1},
                                       {.op = &op, .input_count = 1, .output_count = 1},
                                       {.op = &op, .input_count = 1, .output_count = 1}};
static const nd4c_call *const nodes[NODES] = {&calls[0], &calls[1], &calls[2], &calls[3]};
static const int32_t numbers[] = {0, 1, 2, 3, 4};
static const int32_t *const inputs[NODES] = {&numbers[0], &numbers[1], &numbers[2], &numbers[1]};
static const int32_t *const outputs[NODES] = {&numbers[1], &numbers[2], &numbers[3], &numbers[4]};
static const nd4c_segment region = {.struct_size = sizeof region,
                                    .node_count = NODES,
                                    .nodes = nodes,
                                    .node_inputs = inputs,
                                    .node_outputs = outputs,
                                    .value_count = NODES + 1,
                                    .input_count = 1,
                                    .output_count = 2,
                                    .outputs = &numbers[3]};

/* Pieces that the compiler takes, each of node_count nodes; a count of 0 ends the list. */
typedef struct script {
  struct {
    int32_t node_count;
    int32_t nodes[NODES];
    bool without_list;
  } pieces[NODES + 1];
  int32_t declined;
  nd4c_status status;
  bool wordless; /* a failure without a text */
} script;

static nd4c_status partition(void *data, void *device, const nd4c_segment *offered, const nd4c_compile_options *options,
                             nd4c_partition *answer) {
  const script *s = data;
  (void)device;
  (void)options;
  assert_ptr_equal(offered, &region);
  for (int i = 0; i <= NODES && s->pieces[i].node_count != 0; i++) {
    (void)answer->take(answer, s->pieces[i].without_list ? NULL : s->pieces[i].nodes, s->pieces[i].node_count, 5, 0);
  }
  (void)answer->decline(answer, s->declined, "not this\none");
  return s->status == ND4C_OK || s->wordless ? s->status : nd4c_fail(s->status, "a compiler that fails");
}

static nd4c_status try_asking(script *s, nd4c_answer *answer) {
  nd4c_compiler compiler = {.struct_size = sizeof compiler, .engine = "test", .data = s, .partition = partition};
  const nd4c_compile_options options = {.struct_size = sizeof options};
  return nd4c_answer_ask(&compiler, NULL, &region, &options, answer);
}

static void ask(script *s, nd4c_answer *answer) {
  assert_int_equal(try_asking(s, answer), ND4C_OK);
}

static void sound_answers_are_kept(void **state) {
  (void)state;
  script s = {.pieces = {{2, {2, 1}, false}, {1, {3}, false}}};
  nd4c_answer answer;
  ask(&s, &answer);
  assert_string_equal(answer.refusal, "");
  assert_int_equal(answer.piece_count, 2);
  assert_int_equal(answer.piece_of[0], -1);
  assert_int_equal(answer.piece_of[1], 0);
  assert_int_equal(answer.piece_of[2], 0);
  assert_int_equal(answer.piece_of[3], 1);
  assert_int_equal(answer.pieces[0].nanoseconds, 5);
  assert_string_equal(nd4c_answer_reason(&answer, 0), "not this one");
  nd4c_answer_free(&answer);
}

static void hostile_answers_are_refused_whole(void **state) {
  (void)state;
  static const struct {
    script script;
    const char *text;
  } cases[] = {
      {{.pieces = {{1, {3}, false}, {2, {0, 2}, false}}}, "not convex"},
      {{.pieces = {{2, {0, 1}, false}, {2, {1, 2}, false}}}, "taken twice"},
      {{.pieces = {{2, {1, 1}, false}}}, "taken twice"},
      {{.pieces = {{1, {NODES}, false}}}, "node 4 was taken"},
      {{.pieces = {{1, {-1}, false}}}, "node -1 was taken"},
      {{.pieces = {{1, {0}, false}, {-3, {0}, false}}}, "a piece of -3 nodes"},
      {{.pieces = {{INT32_MAX, {0}, false}}}, "a piece of 2147483647 nodes"},
      {{.pieces = {{1, {0}, true}}}, "a piece of 1 nodes"},
      {{.pieces = {{1, {0}, false}}, .declined = 99}, "node 99 was declined"},
      {{.pieces = {{1, {0}, false}}, .status = ND4C_DEVICE}, "a compiler that fails"},
      {{.pieces = {{1, {0}, false}}, .status = ND4C_DEVICE, .wordless = true}, "partition failed without a text"},
      {{.pieces = {{1, {0}, false}}, .status = (nd4c_status)12345, .wordless = true},
       "partition returned 12345, which is not a status of nd4c"},
      {{.pieces = {{1, {0}, false}}, .status = (nd4c_status)12345},
       "partition returned 12345, which is not a status of nd4c: a compiler that fails"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    script s = cases[i].script;
    nd4c_answer answer;
    ask(&s, &answer);
    assert_non_null(strstr(answer.refusal, cases[i].text));
    assert_int_equal(answer.piece_count, 0);
    for (int32_t node = 0; node < NODES; node++) {
      assert_int_equal(answer.piece_of[node], -1);
      assert_string_equal(nd4c_answer_reason(&answer, node), answer.refusal);
    }
    nd4c_answer_free(&answer);
  }
}

/* Without memory the compiler is not asked again: the call fails with this compiler's text. */
static void a_compiler_without_memory_fails(void **state) {
  (void)state;
  static const nd4c_status statuses[] = {ND4C_MEMORY, ND4C_MEMORY_CAP};
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
    for (int wordless = 0; wordless <= 1; wordless++) {
      script s = {.status = statuses[i], .wordless = wordless};
      nd4c_answer answer;
      (void)nd4c_fail(statuses[i], "an earlier failure");
      assert_int_equal(try_asking(&s, &answer), statuses[i]);
      assert_non_null(
          strstr(nd4c_error_message(), wordless ? "partition failed without a text" : "a compiler that fails"));
      nd4c_answer_free(&answer);
    }
  }
}

static void incomplete_tables_are_refused(void **state) {
  (void)state;
  char reason[256] = "";
  assert_false(nd4c_compiler_is_complete(NULL, reason, sizeof reason));
  nd4c_compiler compiler = {.struct_size = 16, .engine = "test"};
  assert_false(nd4c_compiler_is_complete(&compiler, reason, sizeof reason));
  assert_non_null(strstr(reason, "16 bytes"));
  compiler.struct_size = sizeof compiler;
  assert_false(nd4c_compiler_is_complete(&compiler, reason, sizeof reason));
  assert_non_null(strstr(reason, "are required"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sound_answers_are_kept),
      cmocka_unit_test(hostile_answers_are_refused_whole),
      cmocka_unit_test(a_compiler_without_memory_fails),
      cmocka_unit_test(incomplete_tables_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
