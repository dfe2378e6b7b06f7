/* Attention of ONNX's own domain and of ai.onnx.preview. */
#include <math.h>

#include "base/status.h"
#include "import/onnx/family.h"
#include "import/onnx/file/dtype.h"

static nd4c_status emit_attention(nd4c_onnx_emission *emission) {
  static const struct {
    const char *onnx, *name;
    int64_t preset;
  } ints[] = {{"left_window_size", "left_window", -1},
              {"right_window_size", "right_window", -1},
              {"q_num_heads", "q_heads", 0},
              {"kv_num_heads", "kv_heads", 0}};
  nd4c_attr attrs[9];
  int64_t value = 0, mode = 0;
  double scale = 0, softcap = 0;
  int32_t count = 0;
  bool is_packed = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank == 3;
  nd4c_onnx_ignore(emission, "softmax_precision"); /* it is f64 */
  for (int32_t i = 0; i < 4; i++) {
    ND4C_TRY(nd4c_onnx_get_int(emission, ints[i].onnx, ints[i].preset, &value));
    if (i < 2 || is_packed) { /* older models tell the heads beside 4 axes, too */
      attrs[count++] = nd4c_attr_of_int(ints[i].name, value);
    }
  }
  ND4C_TRY(nd4c_onnx_get_float(emission, "scale", 0, &scale));
  ND4C_TRY(nd4c_onnx_get_float(emission, "softcap", 0, &softcap));
  ND4C_TRY(nd4c_onnx_get_int(emission, "is_causal", 0, &value));
  ND4C_TRY(nd4c_onnx_get_int(emission, "qk_matmul_output_mode", 0, &mode));
  attrs[count++] = nd4c_attr_of_float("scale", scale);
  attrs[count++] = nd4c_attr_of_float("softcap", softcap);
  attrs[count++] = nd4c_attr_of_bool("is_causal", value != 0);
  if (!nd4c_onnx_wants(emission, 1) && !nd4c_onnx_wants(emission, 2) && !nd4c_onnx_wants(emission, 3)) {
    return nd4c_emit(&emission->emitter, ND4C_OP_attention, emission->inputs, emission->input_count, attrs, count,
                     &emission->outputs[0]);
  }
  attrs[count++] = nd4c_attr_of_int("scores_mode", mode);
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_attention_with_cache, emission->inputs, emission->input_count,
                           attrs, count, emission->outputs, 4);
}

static nd4c_status emit_rotary(nd4c_onnx_emission *emission) {
  int64_t heads = 0, turned = 0, interleaved = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "num_heads", 0, &heads));
  ND4C_TRY(nd4c_onnx_get_int(emission, "rotary_embedding_dim", 0, &turned));
  ND4C_TRY(nd4c_onnx_get_int(emission, "interleaved", 0, &interleaved));
  nd4c_attr attrs[] = {nd4c_attr_of_int("heads", heads), nd4c_attr_of_int("rotary_dim", turned),
                       nd4c_attr_of_bool("interleaved", interleaved != 0)};
  return nd4c_emit(&emission->emitter, ND4C_OP_rotary_embedding, emission->inputs, emission->input_count, attrs, 3,
                   &emission->outputs[0]);
}

static nd4c_status emit_linear_attention(nd4c_onnx_emission *emission) {
#define RULE_NAME(NAME, number, name) name,
  static const char *const rules[] = {ND4C_UPDATE_RULE_TABLE(RULE_NAME)};
#undef RULE_NAME
  const int64_t rule_count = sizeof rules / sizeof rules[0];
  int64_t q_heads = 0, kv_heads = 0, rule = 0;
  double scale = 0;
  nd4c_span name;
  nd4c_onnx_ignore(emission, "chunk_size");
  ND4C_TRY(nd4c_onnx_get_int(emission, "q_num_heads", 0, &q_heads));
  ND4C_TRY(nd4c_onnx_get_int(emission, "kv_num_heads", 0, &kv_heads));
  ND4C_TRY(nd4c_onnx_get_float(emission, "scale", 0, &scale));
  ND4C_TRY(nd4c_onnx_get_text(emission, "update_rule", "gated_delta", &name));
  while (rule < rule_count && !nd4c_span_is(name, rules[rule])) {
    rule++;
  }
  if (rule == rule_count) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'update_rule' is %s, expected linear, gated, delta or gated_delta",
                     nd4c_span_show(name).text);
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("q_heads", q_heads), nd4c_attr_of_int("kv_heads", kv_heads),
                       nd4c_attr_of_float("scale", scale), nd4c_attr_of_int("update_rule", rule)};
  return nd4c_emit_outputs(&emission->emitter, ND4C_OP_linear_attention, emission->inputs, emission->input_count, attrs,
                           4, emission->outputs, 2);
}

/* -- FlexAttention: scores and shares pass through graphs of the node -- */

/* k or v [n, heads, t, head] with each head repeated: [n, heads * times, t, head]. */
static nd4c_status repeat_heads(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int64_t times,
                                nd4c_onnx_operand *y) {
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  const int64_t *s = info.shape;
  const int64_t apart[5] = {s[0], s[1], 1, s[2], s[3]}, spread[5] = {s[0], s[1], times, s[2], s[3]};
  const int64_t joined[4] = {s[0], s[1] * times, s[2], s[3]};
  *y = x;
  if (times == 1) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, x, 5, apart, y));
  ND4C_TRY(nd4c_emit_broadcast(&emission->emitter, *y, 5, spread, y));
  return nd4c_emit_reshape(&emission->emitter, *y, 4, joined, y);
}

/* Runs x through the graph in an attribute, if there is one. */
static nd4c_status modify(nd4c_onnx_emission *emission, const char *attribute, nd4c_onnx_operand *x) {
  const nd4c_onnx_graph *graph = NULL;
  if (nd4c_onnx_attribute_find(emission, attribute) == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_get_graph(emission, attribute, &graph));
  nd4c_onnx_operand before = *x;
  return nd4c_onnx_emit_graph(emission, graph, &before, 1, x, 1);
}

/* The number of q's heads for each of k's and v's. */
static nd4c_status heads_per_key(nd4c_onnx_emission *emission, int64_t *times) {
  nd4c_emitted_info info[3];
  for (int32_t i = 0; i < 3; i++) {
    info[i] = nd4c_emitted_get(&emission->emitter, emission->inputs[i]);
    if (info[i].rank != 4) {
      return nd4c_fail(ND4C_SHAPE, "input %d has rank %d; expected 4: [batch, heads, length, head]", (int)i,
                       (int)info[i].rank);
    }
  }
  int64_t heads = info[1].shape[1];
  if (heads < 1 || info[0].shape[1] % heads != 0 || info[2].shape[1] != heads) {
    return nd4c_fail(ND4C_SHAPE, "Q has %lld heads, K %lld and V %lld; expected those of K and V to divide Q's",
                     (long long)info[0].shape[1], (long long)heads, (long long)info[2].shape[1]);
  }
  *times = info[0].shape[1] / heads;
  return ND4C_OK;
}

static nd4c_status emit_flex_attention(nd4c_onnx_emission *emission) {
  static const int64_t last_two[] = {0, 1, 3, 2};
  nd4c_onnx_operand operands[3], scores;
  nd4c_dtype own = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype, wide = ND4C_DTYPE_NONE;
  int64_t precision = 0, times = 1;
  double scale = 0;
  ND4C_TRY(nd4c_onnx_get_float(emission, "scale", 0, &scale));
  ND4C_TRY(nd4c_onnx_get_int(emission, "softmax_precision", 0, &precision));
  ND4C_TRY(heads_per_key(emission, &times));
  if (precision != 0) {
    ND4C_TRY(nd4c_onnx_dtype_resolve(precision, &wide));
  } else {
    wide = own == ND4C_FLOAT64 ? own : ND4C_FLOAT32;
  }
  for (int32_t i = 0; i < 3; i++) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[i], wide, &operands[i]));
    ND4C_TRY(repeat_heads(emission, operands[i], i > 0 ? times : 1, &operands[i]));
  }
  if (scale == 0) {
    scale = 1 / sqrt((double)nd4c_emitted_get(&emission->emitter, emission->inputs[0]).shape[3]);
  }
  nd4c_attr order = nd4c_attr_of_ints("axes", last_two, 4), last = nd4c_attr_of_int("axis", -1);
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_transpose, &operands[1], 1, &order, 1, &operands[1]));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, operands[0], operands[1], &scores));
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_multiply, scores, scale, &scores));
  ND4C_TRY(modify(emission, "score_mod", &scores));
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_softmax, &scores, 1, &last, 1, &scores));
  ND4C_TRY(modify(emission, "prob_mod", &scores));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, scores, operands[2], &scores));
  return nd4c_emit_cast(&emission->emitter, scores, own, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS(X)                                       \
  X(Attention, 23, LAST, 3, 7, 4, attention, NONE)    \
  X(RotaryEmbedding, 23, LAST, 3, 4, 1, rotary, NONE) \
  X(LinearAttention, 27, LAST, 3, 6, 2, linear_attention, NONE)
#define PREVIEW_ROWS(X) X(FlexAttention, 1, LAST, 3, 3, 1, flex_attention, NONE)

ND4C_ONNX_FAMILY(attention, "", ROWS)
ND4C_ONNX_FAMILY(attention_preview, "ai.onnx.preview", PREVIEW_ROWS)
