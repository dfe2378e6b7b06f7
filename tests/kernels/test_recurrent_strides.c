/* rnn, lstm and gru of engine simd against engine reference where operands and results do not lie in C order: networks
 * that are exported with batch_first give a transposed x, and zero states whose strides are all 0. */
#include <math.h>

#include "kernels/kernel_call.h"

enum { OUTPUTS = 3, STEPS = 9, SEQUENCES = 5, FEATURES = 6, HIDDEN = 19, ROOM = 2 * 2 * 4 * HIDDEN * HIDDEN };

/* How a tensor lies: C order; steps and sequences exchanged in memory; every second element; the last axis slowest;
 * all elements the same one. */
typedef enum place { PLAIN, EXCHANGED, GAPS, LAST_SLOWEST, REPEATED, PLACES } place;

typedef struct placed {
  int64_t shape[4], strides[4];
  float numbers[ROOM];
} placed;

typedef struct layer {
  nd4c_call call;
  nd4c_attr_value attrs[MAX_ATTRS];
  nd4c_tensor inputs[MAX_OPERANDS], outputs[OUTPUTS];
  placed in[MAX_OPERANDS], out[OUTPUTS];
} layer;

static void lay(nd4c_tensor *tensor, placed *p, int32_t rank, const int64_t *shape, place where) {
  int32_t order[] = {0, 1, 2, 3}; /* from the slowest axis to the fastest */
  if (where == EXCHANGED && rank > 2) {
    order[0] = rank - 2, order[rank - 2] = 0;
  } else if (where == LAST_SLOWEST) {
    order[0] = rank - 1, order[rank - 1] = 0;
  }
  int64_t stride = where == GAPS ? 2 : 1;
  for (int32_t i = rank - 1; i >= 0; i--) {
    p->shape[order[i]] = shape[order[i]];
    p->strides[order[i]] = where == REPEATED ? 0 : stride;
    stride *= shape[order[i]];
  }
  assert_true(stride <= ROOM);
  for (int32_t i = 0; i < ROOM; i++) {
    p->numbers[i] = (float)((i * 37 + rank * 11) % 101) / 101 - 0.5F;
  }
  *tensor = (nd4c_tensor){.dtype = ND4C_FLOAT32,
                          .rank = rank,
                          .shape = p->shape,
                          .strides = p->strides,
                          .size = shape_size(rank, shape),
                          .data = p->numbers};
}

typedef struct variant {
  const char *op;
  bool batch_first, before_reset;
} variant;

static void lay_operands(layer *l, const variant *v, const place *where) {
  const bool is_lstm = l->call.output_count == 3;
  const int64_t gates = is_lstm ? 4 : strcmp(v->op, "gru") == 0 ? 3 : 1;
  const int64_t state[2][3] = {{2, SEQUENCES, HIDDEN}, {SEQUENCES, 2, HIDDEN}};
  const int64_t x[2][3] = {{STEPS, SEQUENCES, FEATURES}, {SEQUENCES, STEPS, FEATURES}};
  const int64_t y[2][4] = {{STEPS, 2, SEQUENCES, HIDDEN}, {SEQUENCES, STEPS, 2, HIDDEN}};
  const int64_t w[] = {2, gates * HIDDEN, FEATURES}, r[] = {2, gates * HIDDEN, HIDDEN},
                bias[] = {2, 2 * gates * HIDDEN};
  lay(&l->inputs[ND4C_IN_rnn_x], &l->in[0], 3, x[v->batch_first], where[0]);
  lay(&l->inputs[ND4C_IN_rnn_w], &l->in[1], 3, w, where[1]);
  lay(&l->inputs[ND4C_IN_rnn_r], &l->in[2], 3, r, where[2]);
  lay(&l->inputs[ND4C_IN_rnn_bias], &l->in[3], 2, bias, where[3]);
  lay(&l->inputs[ND4C_IN_rnn_initial_h], &l->in[4], 3, state[v->batch_first], where[4]);
  if (is_lstm) {
    lay(&l->inputs[ND4C_IN_lstm_initial_c], &l->in[5], 3, state[v->batch_first], where[5]);
  }
  lay(&l->outputs[0], &l->out[0], 4, y[v->batch_first], where[6]);
  for (int32_t i = 1; i < l->call.output_count; i++) {
    lay(&l->outputs[i], &l->out[i], 3, state[v->batch_first], where[6]);
  }
}

/* where: of x, w, r, bias, initial_h, initial_c, results. */
static layer *make(const variant *v, const place *where) {
  layer *l = calloc(1, sizeof *l);
  const nd4c_op_info *info = NULL;
  assert_non_null(l);
  assert_int_equal(nd4c_op_find(v->op, &info), ND4C_OK);
  for (int32_t i = 0; i < info->attr_count; i++) {
    l->attrs[i] = info->attrs[i].preset;
  }
  l->attrs[ND4C_ATTR_rnn_direction].as.i = ND4C_DIRECTION_BIDIRECTIONAL;
  l->attrs[ND4C_ATTR_rnn_batch_first].as.i = v->batch_first;
  if (strcmp(v->op, "gru") == 0) {
    l->attrs[ND4C_ATTR_gru_linear_before_reset].as.i = v->before_reset;
  }
  l->call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                        .op = info,
                        .input_count = info->input_count,
                        .output_count = info->output_count,
                        .inputs = l->inputs,
                        .outputs = l->outputs,
                        .attrs = l->attrs,
                        .width = 2};
  lay_operands(l, v, where);
  return l;
}

static void compute(layer *l, const nd4c_kernel *kernel) {
  call_frame frame = {.call = l->call};
  for (int32_t i = 0; i < l->call.output_count; i++) {
    memset(l->out[i].numbers, 0x5A, sizeof l->out[i].numbers);
  }
  frame.result.memory = l->out[0].numbers;
  frame.result.bytes = sizeof l->out[0].numbers;
  run_kernel(kernel, &frame);
}

/* Results in memory, gaps included: no kernel may write to a gap. `within`: of numbers above 1 a part of them. Frees
 * both layers. */
static void compare(const variant *v, const place *where, float within, layer *got, layer *expected) {
  char reason[TEXT_SIZE] = "";
  const nd4c_kernel *simd = engine_kernel(v->op, "simd");
  if (!simd->usable(&got->call, reason, sizeof reason)) {
    fail_msg("%s: x %d, results %d: %s", v->op, (int)where[0], (int)where[6], reason);
  }
  compute(expected, engine_kernel(v->op, "reference"));
  compute(got, simd);
  for (int32_t i = 0; i < got->call.output_count; i++) {
    for (int32_t k = 0; k < ROOM; k++) {
      const float a = got->out[i].numbers[k], b = expected->out[i].numbers[k];
      if (!(fabsf(a - b) <= within * fmaxf(1, fabsf(b))) && a != b) {
        fail_msg("%s: x %d, w %d, h %d, result %d, place %d: %.9g, reference %.9g", v->op, (int)where[0], (int)where[1],
                 (int)where[4], (int)i, (int)k, (double)a, (double)b);
      }
    }
  }
  free(got);
  free(expected);
}

static void check(const variant *v, const place *where) {
  compare(v, where, 2e-6F, make(v, where), make(v, where));
}

static const variant variants[] = {{"lstm", false, false}, {"lstm", true, false}, {"gru", false, false},
                                   {"gru", true, false},   {"gru", false, true},  {"rnn", false, false},
                                   {"rnn", true, false}};
enum { VARIANTS = sizeof variants / sizeof *variants };

static void each_operand_has_any_strides(void **state) {
  (void)state;
  for (int32_t i = 0; i < VARIANTS; i++) {
    for (int32_t input = 0; input < 6; input++) {
      for (place how = EXCHANGED; how < PLACES; how++) {
        place where[7] = {PLAIN};
        where[input] = how;
        if (how != REPEATED || input > ND4C_IN_rnn_r) {
          check(&variants[i], where);
        }
      }
    }
  }
}

static void exported_layers_have_transposed_x_and_repeated_states(void **state) {
  (void)state;
  for (int32_t i = 0; i < VARIANTS; i++) {
    check(&variants[i], (place[]){EXCHANGED, PLAIN, PLAIN, PLAIN, REPEATED, REPEATED, PLAIN});
    check(&variants[i], (place[]){GAPS, LAST_SLOWEST, GAPS, GAPS, LAST_SLOWEST, GAPS, EXCHANGED});
  }
}

/* Each function in each place, with parameters of its own, and a bound that some of the sums exceed. The second
 * direction has the same functions in another order. */
static void compare_functions(const variant *v, int64_t kind, double clip, bool with_parameters) {
  static const double alpha[] = {0.75, 0.125, 0.25, 0.5, 0.375, 0.625}, beta[] = {0.5, -0.25, 0.125, 0, 0.25, 0.75};
  const int32_t count = strcmp(v->op, "lstm") == 0 ? 6 : strcmp(v->op, "gru") == 0 ? 4 : 2;
  const place plain[7] = {PLAIN};
  layer *both[] = {make(v, plain), make(v, plain)};
  int64_t kinds[6];
  for (int32_t i = 0; i < count; i++) {
    kinds[i] = (kind + 3 * i) % (ND4C_RECURRENT_ACTIVATION_SOFTPLUS + 1);
  }
  for (int i = 0; i < 2; i++) {
    nd4c_attr_value *attrs = both[i]->attrs;
    for (int32_t k = 0; k < ROOM; k++) { /* steps amplify what is rounded, unless the state adds little */
      both[i]->in[2].numbers[k] *= 0.0625F;
    }
    attrs[ND4C_ATTR_rnn_activations].as.ints = kinds;
    attrs[ND4C_ATTR_rnn_activations].count = count;
    attrs[ND4C_ATTR_rnn_clip].as.f = clip;
    if (with_parameters) {
      attrs[ND4C_ATTR_rnn_alpha].as.floats = alpha;
      attrs[ND4C_ATTR_rnn_beta].as.floats = beta;
      attrs[ND4C_ATTR_rnn_alpha].count = attrs[ND4C_ATTR_rnn_beta].count = count;
    }
  }
  compare(v, plain, 2e-5F, both[0], both[1]);
}

/* Without a bound, states of an lstm or gru grow until f32 cannot hold them; conformance.cpu takes two steps so. */
static void each_function(void **state) {
  static const double clips[] = {0, 0.3, 2};
  (void)state;
  for (int32_t v = 0; v < VARIANTS; v++) {
    for (int64_t kind = ND4C_RECURRENT_ACTIVATION_RELU; kind <= ND4C_RECURRENT_ACTIVATION_SOFTPLUS; kind++) {
      const bool is_rnn = strcmp(variants[v].op, "rnn") == 0;
      for (int i = is_rnn ? 0 : 1; i < 3; i++) {
        compare_functions(&variants[v], kind, clips[i], false);
        compare_functions(&variants[v], kind, clips[i], true);
      }
    }
  }
}

static void refuses(layer *l, const char *expected) {
  char reason[TEXT_SIZE] = "";
  assert_false(engine_kernel("lstm", "simd")->usable(&l->call, reason, sizeof reason));
  assert_string_equal(reason, expected);
}

static void reasons_name_the_operand(void **state) {
  const place plain[7] = {PLAIN};
  layer *l = make(&variants[0], plain);
  (void)state;
  open_providers();
  l->inputs[ND4C_IN_lstm_initial_c].dtype = ND4C_FLOAT64;
  refuses(l, "initial_c is not float32");
  l->inputs[ND4C_IN_lstm_initial_c].dtype = ND4C_FLOAT32;
  l->inputs[ND4C_IN_rnn_initial_h].size = 0;
  refuses(l, "initial_h is empty");
  l->inputs[ND4C_IN_rnn_initial_h].size = 2 * SEQUENCES * HIDDEN;
  l->outputs[1].size = 0;
  refuses(l, "h is empty");
  free(l);
  l = make(&variants[0], (place[]){PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, GAPS});
  refuses(l, "the last axis of y has gaps");
  free(l);
  l = make(&variants[0], (place[]){PLAIN, PLAIN, REPEATED, PLAIN, PLAIN, PLAIN, PLAIN});
  refuses(l, "r has more than 16 elements for each one in memory");
  free(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_operand_has_any_strides),
                                     cmocka_unit_test(exported_layers_have_transposed_x_and_repeated_states),
                                     cmocka_unit_test(each_function), cmocka_unit_test(reasons_name_the_operand)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
