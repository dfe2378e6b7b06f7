/* Attention of ONNX's own domain and of ai.onnx.preview. emission/scope.c calls the emit functions through the rows
 * below. */
#include <math.h>

#include "base/status.h"
#include "import/onnx/family.h"
#include "import/onnx/file/dtype.h"
#include "ops/compose/compose.h"

static const char *const update_rules[] = {ND4C_UPDATE_RULE_TABLE(ND4C_ONNX_WORD) NULL};

static nd4c_status emit_attention(nd4c_onnx_emission *emission) {
  static const nd4c_onnx_rule heads[] = {ATTR("q_num_heads", INT, "q_heads", 0),
                                         ATTR("kv_num_heads", INT, "kv_heads", 0)};
  static const nd4c_onnx_rule mode = ATTR("qk_matmul_output_mode", INT, "scores_mode", 0);
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  for (int32_t i = 0; i < 2; i++) {
    nd4c_onnx_ignore(emission, heads[i].onnx); /* older models give the heads even if the inputs have 4 axes */
    if (nd4c_emitted_get(&emission->emitter, emission->inputs[0]).rank == 3) {
      ND4C_TRY(nd4c_onnx_attrs_read(emission, &heads[i], &attrs));
    }
  }
  nd4c_onnx_ignore(emission, mode.onnx);
  bool more = nd4c_onnx_wants(emission, 1) || nd4c_onnx_wants(emission, 2) || nd4c_onnx_wants(emission, 3);
  if (more) {
    ND4C_TRY(nd4c_onnx_attrs_read(emission, &mode, &attrs));
  }
  return nd4c_onnx_emit_attrs(emission, more ? ND4C_OP_attention_with_cache : ND4C_OP_attention, emission->inputs,
                              emission->input_count, &attrs);
}

/* -- FlexAttention: scores and shares pass through graphs of the node -- */

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
    ND4C_TRY(nd4c_onnx_check_number(emission, info[i].shape[1], "the number of heads"));
    ND4C_TRY(nd4c_onnx_check_number(emission, info[i].shape[3], "the size of a head"));
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
    if (i > 0 && times > 1) {
      ND4C_TRY(nd4c_compose_repeat(&emission->emitter, operands[i], 1, times, &operands[i]));
    }
  }
  if (scale == 0) {
    scale = 1 / sqrt((double)nd4c_emitted_get(&emission->emitter, emission->inputs[0]).shape[3]);
  }
  ND4C_TRY(nd4c_emit_axes(&emission->emitter, ND4C_OP_transpose, operands[1], 4, last_two, &operands[1]));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, operands[0], operands[1], &scores));
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_multiply, scores, scale, &scores));
  ND4C_TRY(modify(emission, "score_mod", &scores));
  ND4C_TRY(nd4c_emit_along(&emission->emitter, ND4C_OP_softmax, &scores, 1, -1, &scores));
  ND4C_TRY(modify(emission, "prob_mod", &scores));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, scores, operands[2], &scores));
  return nd4c_emit_cast(&emission->emitter, scores, own, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                       \
  READ(Attention, 23, LAST, 3, 7, 4, attention, NONE, ATTR("left_window_size", INT, "left_window", -1),            \
       ATTR("right_window_size", INT, "right_window", -1), ATTR("scale", FLOAT, "scale", 0),                       \
       ATTR("softcap", FLOAT, "softcap", 0), ATTR("is_causal", BOOL, "is_causal", 0), IGNORE("softmax_precision")) \
  MAP(RotaryEmbedding, 23, LAST, 3, 4, 1, rotary_embedding, ATTR("num_heads", INT, "heads", 0),                    \
      ATTR("rotary_embedding_dim", INT, "rotary_dim", 0), ATTR("interleaved", BOOL, "interleaved", 0))             \
  MAP(LinearAttention, 27, LAST, 3, 6, 2, linear_attention, ATTR("q_num_heads", INT, "q_heads", 0),                \
      ATTR("kv_num_heads", INT, "kv_heads", 0), ATTR("scale", FLOAT, "scale", 0),                                  \
      WORDS("update_rule", "update_rule", ND4C_UPDATE_RULE_GATED_DELTA, update_rules), IGNORE("chunk_size"))

ND4C_ONNX_FAMILY(attention, "", ROWS)
#define ATTENTION_PREVIEW_ROWS                                 \
  CHAIN(FlexAttention, 1, LAST, 3, 3, 1, flex_attention, NONE, \
        "transpose, matmul, multiply, softmax, matmul, with inner graphs between")

ND4C_ONNX_FAMILY(attention_preview, "ai.onnx.preview", ATTENTION_PREVIEW_ROWS)
