/* Normalisations of ONNX Runtime: fused with the sums before them. emission/scope.c calls the emit functions through
 * the rows below. */
#include "base/status.h"
#include "import/onnx/emission/fused.h"
#include "import/onnx/family.h"

/* -- skip ---------------------------------------------------------------------------------------------------------- */

/* Outputs 1 and 2: the mean of each row of the sum, and the reciprocal of its standard deviation. */
static nd4c_status statistics(nd4c_onnx_emission *emission, nd4c_onnx_operand sum, nd4c_onnx_operand gamma,
                              double epsilon) {
  const nd4c_onnx_operand inputs[2] = {sum, gamma};
  const nd4c_attr attrs[] = {nd4c_attr_of_float("epsilon", epsilon), nd4c_attr_of_dtype("dtype", ND4C_FLOAT32)};
  nd4c_onnx_operand made[3];
  ND4C_TRY(nd4c_emit_outputs(&emission->emitter, ND4C_OP_layer_norm_with_statistics, inputs, 2, attrs, 2, made, 3));
  emission->outputs[1] = made[1];
  emission->outputs[2] = made[2];
  return ND4C_OK;
}

/* inputs: those of the op skip_layer_norm. */
static nd4c_status skip_norm(nd4c_onnx_emission *emission, const nd4c_onnx_operand inputs[5], bool rms) {
  double epsilon = 0;
  nd4c_onnx_operand made[2];
  ND4C_TRY(nd4c_onnx_check_one_type(emission));
  ND4C_TRY(rms ? nd4c_onnx_refuse_outputs(emission, 1, 2, "statistics") : ND4C_OK);
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-12, &epsilon));
  const nd4c_attr attrs[] = {nd4c_attr_of_float("epsilon", epsilon), nd4c_attr_of_bool("rms", rms)};
  ND4C_TRY(nd4c_emit_outputs(&emission->emitter, ND4C_OP_skip_layer_norm, inputs, 5, attrs, 2, made, 2));
  emission->outputs[0] = made[0];
  emission->outputs[3] = made[1];
  return nd4c_onnx_wants(emission, 1) || nd4c_onnx_wants(emission, 2)
             ? statistics(emission, made[1], inputs[2], epsilon)
             : ND4C_OK;
}

static nd4c_status emit_skip_layer_norm(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand inputs[5] = {emission->inputs[0], emission->inputs[1], emission->inputs[2],
                                       nd4c_onnx_input(emission, 3), nd4c_onnx_input(emission, 4)};
  return skip_norm(emission, inputs, false);
}

static nd4c_status emit_skip_rms_norm(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand inputs[5] = {emission->inputs[0], emission->inputs[1], emission->inputs[2],
                                       ND4C_ONNX_OPERAND_NONE, nd4c_onnx_input(emission, 3)};
  return skip_norm(emission, inputs, true);
}

/* -- embedding ----------------------------------------------------------------------------------------------------- */

enum { IDS, SEGMENTS, WORDS, POSITIONS, SEGMENT_KINDS, GAMMA, BETA, MASK, POSITION_IDS, INPUTS };

/* The inputs of the node, NONE for optional ones that are left out. */
static nd4c_status read_inputs(nd4c_onnx_emission *emission, nd4c_onnx_operand inputs[INPUTS]) {
  static const int32_t required[] = {WORDS, POSITIONS, GAMMA, BETA};
  for (int32_t i = 0; i < INPUTS; i++) {
    inputs[i] = nd4c_onnx_input(emission, i);
  }
  for (size_t i = 0; i < sizeof required / sizeof *required; i++) {
    ND4C_TRY(nd4c_onnx_require_input(emission, required[i], &inputs[required[i]]));
  }
  if ((inputs[SEGMENTS] == ND4C_ONNX_OPERAND_NONE) != (inputs[SEGMENT_KINDS] == ND4C_ONNX_OPERAND_NONE)) {
    return nd4c_fail(ND4C_FORMAT, "one of segment_ids and segment_embedding is left out; expected both or none");
  }
  const int32_t rank = nd4c_emitted_get(&emission->emitter, inputs[IDS]).rank;
  const int32_t table = nd4c_emitted_get(&emission->emitter, inputs[POSITIONS]).rank;
  return rank == 2 && table == 2
             ? ND4C_OK
             : nd4c_fail(ND4C_SHAPE, "input_ids has rank %d and position_embedding %d; expected 2 and 2", (int)rank,
                         (int)table);
}

/* *sum plus the table's rows at `indices`. */
static nd4c_status add_rows(nd4c_onnx_emission *emission, nd4c_onnx_operand table, nd4c_onnx_operand indices,
                            nd4c_onnx_operand *sum) {
  nd4c_onnx_operand rows;
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_gather, table, indices, &rows));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *sum, rows, sum);
}

/* *sum plus the embeddings of the positions 0 to the length. */
static nd4c_status add_positions(nd4c_onnx_emission *emission, nd4c_onnx_operand table, int64_t length,
                                 nd4c_onnx_operand *sum) {
  nd4c_onnx_operand rows;
  const int64_t most = nd4c_emitted_get(&emission->emitter, table).shape[0];
  if (!nd4c_onnx_assume(emission, ND4C_RELATION_AT_LEAST, most, length)) {
    return nd4c_fail(ND4C_SHAPE, "position_embedding has fewer rows than a sequence has words");
  }
  ND4C_TRY(nd4c_emit_slice(&emission->emitter, table, 0, 0, length, 1, &rows));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *sum, rows, sum);
}

/* How many words of each sequence the mask keeps; 0 without a mask. */
static nd4c_status count_words(nd4c_onnx_emission *emission, nd4c_onnx_operand mask, int64_t batch,
                               nd4c_onnx_operand *counts) {
  static const int64_t last = -1;
  if (mask == ND4C_ONNX_OPERAND_NONE) {
    return nd4c_emit_full(&emission->emitter, ND4C_INT32, 0, 1, &batch, counts);
  }
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_equal, mask, 1, counts));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, *counts, ND4C_INT32, counts));
  ND4C_TRY(nd4c_emit_reduce(&emission->emitter, ND4C_OP_sum, *counts, 1, &last, false, counts));
  return nd4c_emit_cast(&emission->emitter, *counts, ND4C_INT32, counts);
}

static nd4c_status emit_embed_layer_norm(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand inputs[INPUTS], sum;
  double epsilon = 0;
  nd4c_onnx_ignore(emission, "mask_index_type");
  ND4C_TRY(nd4c_onnx_get_float(emission, "epsilon", 1e-12, &epsilon));
  ND4C_TRY(read_inputs(emission, inputs));
  const nd4c_emitted_info ids = nd4c_emitted_get(&emission->emitter, inputs[IDS]);
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_gather, inputs[WORDS], inputs[IDS], &sum));
  ND4C_TRY(inputs[POSITION_IDS] != ND4C_ONNX_OPERAND_NONE
               ? add_rows(emission, inputs[POSITIONS], inputs[POSITION_IDS], &sum)
               : add_positions(emission, inputs[POSITIONS], ids.shape[1], &sum));
  if (inputs[SEGMENTS] != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(add_rows(emission, inputs[SEGMENT_KINDS], inputs[SEGMENTS], &sum));
  }
  const nd4c_onnx_operand norm[3] = {sum, inputs[GAMMA], inputs[BETA]};
  const nd4c_attr attr = nd4c_attr_of_float("epsilon", epsilon);
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_layer_norm, norm, 3, &attr, 1, &emission->outputs[0]));
  emission->outputs[2] = sum;
  return nd4c_onnx_wants(emission, 1) ? count_words(emission, inputs[MASK], ids.shape[0], &emission->outputs[1])
                                      : ND4C_OK;
}

/* -- rows ---------------------------------------------------------------------------------------------------------- */

#define ROWS                                                                             \
  OP(SkipLayerNormalization, 1, LAST, 3, 5, 4, skip_layer_norm, skip_layer_norm)         \
  OP(SkipSimplifiedLayerNormalization, 1, LAST, 3, 4, 4, skip_rms_norm, skip_layer_norm) \
  CHAIN(EmbedLayerNormalization, 1, LAST, 1, 9, 3, embed_layer_norm, NONE,               \
        "gather, slice, add, layer_norm; "                                               \
        "the mask's index: equal, sum")

ND4C_ONNX_FAMILY(normalization_microsoft, "com.microsoft", ROWS)
