/* Sequences and optionals. Graphs have none: the importer keeps their items, and a model whose lengths or positions are
 * not known at import is interpreted. emission/scope.c calls the emit functions through the rows below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

/* -- sequences ------------------------------------------------------------------------------------------------- */

static nd4c_status emit_sequence_empty(nd4c_onnx_emission *emission) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(nd4c_onnx_get_dtype(emission, "dtype", ND4C_FLOAT32, &dtype));
  return nd4c_onnx_sequence(emission, dtype, NULL, 0, &emission->outputs[0]);
}

static nd4c_status emit_sequence_construct(nd4c_onnx_emission *emission) {
  return nd4c_onnx_sequence(emission, ND4C_DTYPE_NONE, emission->inputs, emission->input_count, &emission->outputs[0]);
}

static nd4c_status read_sequence(nd4c_onnx_emission *emission, const nd4c_onnx_operand **items, int32_t *count) {
  return nd4c_onnx_items(emission, emission->inputs[0], ND4C_ONNX_KIND_SEQUENCE, items, count);
}

/* A position -count .. last; `preset` if the input is left out. */
static nd4c_status read_position(nd4c_onnx_emission *emission, int32_t input, int32_t count, int32_t last,
                                 int32_t preset, int32_t *position) {
  int64_t given = 0;
  int32_t numbers = 0;
  *position = preset;
  if (nd4c_onnx_input(emission, input) == ND4C_ONNX_OPERAND_NONE) {
    if (preset < 0) {
      return nd4c_fail(ND4C_INDEX, "a position in an empty sequence");
    }
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[input], "the position", 1, &given, &numbers));
  if (numbers != 1 || given < -(int64_t)count || given > last) {
    return nd4c_fail(ND4C_INDEX, "position %" PRId64 " in a sequence of %d; expected %d to %d", given, (int)count,
                     (int)-count, (int)last);
  }
  *position = (int32_t)(given < 0 ? given + count : given);
  return ND4C_OK;
}

/* The sequence without `removed` items from `position` on, and with `added` (or NONE) in their place. */
static nd4c_status splice(nd4c_onnx_emission *emission, int32_t position, int32_t removed, nd4c_onnx_operand added) {
  const nd4c_onnx_operand *items = NULL;
  int32_t count = 0;
  int32_t length = 0;
  ND4C_TRY(read_sequence(emission, &items, &count));
  nd4c_onnx_operand *spliced = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof *spliced, "a sequence", &spliced));
  for (int32_t i = 0; i <= count; i++) {
    if (i == position && added != ND4C_ONNX_OPERAND_NONE) {
      spliced[length++] = added;
    }
    if (i < count && (i < position || i >= position + removed)) {
      spliced[length++] = items[i];
    }
  }
  nd4c_dtype dtype = length == 0 ? nd4c_emitted_get(&emission->emitter, items[0]).dtype : ND4C_DTYPE_NONE;
  return nd4c_onnx_sequence(emission, dtype, spliced, length, &emission->outputs[0]);
}

static nd4c_status emit_sequence_insert(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand *items = NULL;
  int32_t count = 0;
  int32_t position = 0;
  ND4C_TRY(read_sequence(emission, &items, &count));
  ND4C_TRY(read_position(emission, 2, count, count, count, &position));
  return splice(emission, position, 0, emission->inputs[1]);
}

static nd4c_status emit_sequence_erase(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand *items = NULL;
  int32_t count = 0;
  int32_t position = 0;
  ND4C_TRY(read_sequence(emission, &items, &count));
  ND4C_TRY(read_position(emission, 1, count, count - 1, count - 1, &position));
  return splice(emission, position, 1, ND4C_ONNX_OPERAND_NONE);
}

static nd4c_status emit_sequence_at(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand *items = NULL;
  int32_t count = 0;
  int32_t position = 0;
  ND4C_TRY(read_sequence(emission, &items, &count));
  ND4C_TRY(read_position(emission, 1, count, count - 1, count - 1, &position));
  emission->outputs[0] = items[position];
  return ND4C_OK;
}

static nd4c_status emit_sequence_length(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand *items = NULL;
  int32_t count = 0;
  ND4C_TRY(read_sequence(emission, &items, &count));
  return nd4c_emit_scalar(&emission->emitter, ND4C_INT64, count, &emission->outputs[0]);
}

/* -- splitting and joining ------------------------------------------------------------------------------------- */

/* The lengths of the parts: a list from the input, one number from the input for all, or 1. */
static nd4c_status read_lengths(nd4c_onnx_emission *emission, int64_t extent, int64_t **lengths, int32_t *count) {
  nd4c_onnx_operand split = nd4c_onnx_input(emission, 1);
  nd4c_emitted_info info = {.rank = 0};
  int64_t each = 1, parts = 0;
  if (split != ND4C_ONNX_OPERAND_NONE) {
    info = nd4c_emitted_get(&emission->emitter, split);
  }
  if (info.rank == 0) {
    ND4C_TRY(nd4c_onnx_read_int(emission, 1, "the length of the parts", 1, &each));
    if (each < 1) {
      return nd4c_fail(ND4C_FORMAT, "parts of length %" PRId64 "; expected 1 or more", each);
    }
    ND4C_TRY(nd4c_onnx_check_number(emission, extent, "the number of parts"));
  }
  ND4C_TRY(nd4c_onnx_check_number(emission, info.rank == 0 ? 0 : info.shape[0], "the number of parts"));
  parts = info.rank == 0 ? extent / each + (extent % each != 0) : info.shape[0];
  if (parts > INT32_MAX) {
    return nd4c_fail(ND4C_OVERFLOW, "an axis of %" PRId64 " in %" PRId64 " parts", extent, parts);
  }
  *count = (int32_t)parts;
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)parts + 1, sizeof **lengths, "the lengths of the parts", lengths));
  if (info.rank > 0) {
    return nd4c_onnx_read_ints(emission, split, "the lengths of the parts", *count, *lengths, count);
  }
  for (int32_t i = 0; i < *count; i++) {
    (*lengths)[i] = each < extent - i * each ? each : extent - i * each;
  }
  return ND4C_OK;
}

static nd4c_status emit_split_to_sequence(nd4c_onnx_emission *emission) {
  int64_t axis = 0, keepdims = 0, *lengths = NULL;
  int32_t fixed = 0, count = 0;
  nd4c_onnx_operand *parts = NULL;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "keepdims", 1, &keepdims));
  ND4C_TRY(nd4c_onnx_fix_axis(emission, emission->inputs[0], axis, &fixed));
  ND4C_TRY(read_lengths(emission, info.shape[fixed], &lengths, &count));
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)count + 1, sizeof *parts, "a sequence", &parts));
  bool squeeze = keepdims == 0 && nd4c_onnx_input(emission, 1) == ND4C_ONNX_OPERAND_NONE;
  ND4C_TRY(nd4c_compose_split(&emission->emitter, emission->inputs[0], fixed, count, lengths, squeeze, parts));
  return nd4c_onnx_sequence(emission, info.dtype, parts, count, &emission->outputs[0]);
}

/* Concatenates on the axis or, with new_axis, stacks on a new one. */
static nd4c_status emit_concat_from_sequence(nd4c_onnx_emission *emission) {
  int64_t axis = 0;
  int64_t new_axis = 0;
  int32_t count = 0;
  const nd4c_onnx_operand *items = NULL;
  if (nd4c_onnx_attribute_find(emission, "axis") == NULL) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'axis' is missing");
  }
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "new_axis", 0, &new_axis));
  ND4C_TRY(read_sequence(emission, &items, &count));
  if (count == 0) {
    return nd4c_fail(ND4C_SHAPE, "an empty sequence cannot be joined");
  }
  return new_axis != 0 ? nd4c_compose_stack(&emission->emitter, items, count, axis, &emission->outputs[0])
                       : nd4c_emit_along(&emission->emitter, ND4C_OP_concat, items, count, axis, &emission->outputs[0]);
}

/* -- SequenceMap ----------------------------------------------------------------------------------------------- */

enum { MAP_INPUTS = 64 };

/* The inputs of round `round`: an item of each sequence, arrays as they are. */
static nd4c_status map_inputs(nd4c_onnx_emission *emission, int32_t round, int32_t rounds, nd4c_onnx_operand *inputs) {
  for (int32_t i = 0; i < emission->input_count; i++) {
    inputs[i] = emission->inputs[i];
    if (nd4c_onnx_operand_kind(emission, inputs[i]) == ND4C_ONNX_KIND_SEQUENCE) {
      const nd4c_onnx_operand *items = NULL;
      int32_t count = 0;
      ND4C_TRY(nd4c_onnx_items(emission, inputs[i], ND4C_ONNX_KIND_SEQUENCE, &items, &count));
      if (count != rounds) {
        return nd4c_fail(ND4C_SHAPE, "sequence %d has %d items; expected %d as in the first", (int)i, (int)count,
                         (int)rounds);
      }
      inputs[i] = items[round];
    }
  }
  return ND4C_OK;
}

/* `made`: room for `rounds` items an output. */
static nd4c_status map_rounds(nd4c_onnx_emission *emission, const nd4c_onnx_graph *body, int32_t rounds,
                              nd4c_onnx_operand *made) {
  nd4c_onnx_operand inputs[MAP_INPUTS];
  nd4c_onnx_operand outputs[MAP_INPUTS];
  int32_t output_count = emission->node->output_count;
  for (int32_t round = 0; round < rounds; round++) {
    ND4C_TRY(map_inputs(emission, round, rounds, inputs));
    ND4C_TRY(nd4c_onnx_emit_graph(emission, body, inputs, emission->input_count, outputs, output_count));
    for (int32_t i = 0; i < output_count; i++) {
      made[i * rounds + round] = outputs[i];
    }
  }
  for (int32_t i = 0; i < output_count; i++) {
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    int64_t type = nd4c_onnx_graph_output(body, i)->type;
    if (rounds == 0 && type != 0) {
      ND4C_TRY(nd4c_onnx_dtype_resolve(type, &dtype));
    }
    ND4C_TRY(nd4c_onnx_sequence(emission, dtype, made + (size_t)i * (size_t)rounds, rounds, &emission->outputs[i]));
  }
  return ND4C_OK;
}

static nd4c_status emit_sequence_map(nd4c_onnx_emission *emission) {
  const nd4c_onnx_graph *body = NULL;
  const nd4c_onnx_operand *items = NULL;
  int32_t rounds = 0;
  ND4C_TRY(nd4c_onnx_get_graph(emission, "body", &body));
  ND4C_TRY(read_sequence(emission, &items, &rounds));
  if (emission->input_count > MAP_INPUTS || emission->node->output_count > MAP_INPUTS ||
      body->outputs.count != emission->node->output_count) {
    return nd4c_fail(ND4C_FORMAT, "%d inputs and %d outputs; expected at most %d, and as many outputs as the body has",
                     (int)emission->input_count, (int)emission->node->output_count, (int)MAP_INPUTS);
  }
  size_t room = (size_t)rounds * (size_t)emission->node->output_count;
  nd4c_onnx_operand *made = NULL;
  ND4C_TRY(nd4c_onnx_claim(emission, room + 1, sizeof *made, "a sequence", &made));
  return map_rounds(emission, body, rounds, made);
}

/* -- optionals ------------------------------------------------------------------------------------------------- */

static nd4c_status emit_optional(nd4c_onnx_emission *emission) {
  nd4c_onnx_ignore(emission, "type"); /* the type of an empty optional, which no op reads */
  return nd4c_onnx_optional(emission, nd4c_onnx_input(emission, 0), &emission->outputs[0]);
}

/* An input that is not an optional has an element. */
static nd4c_status emit_optional_has_element(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand x = nd4c_onnx_input(emission, 0);
  const nd4c_onnx_operand *items = NULL;
  int32_t count = x != ND4C_ONNX_OPERAND_NONE;
  if (nd4c_onnx_operand_kind(emission, x) == ND4C_ONNX_KIND_OPTIONAL) {
    ND4C_TRY(nd4c_onnx_items(emission, x, ND4C_ONNX_KIND_OPTIONAL, &items, &count));
  }
  return nd4c_emit_scalar(&emission->emitter, ND4C_BOOL, count, &emission->outputs[0]);
}

static nd4c_status emit_optional_get_element(nd4c_onnx_emission *emission) {
  const nd4c_onnx_operand *items = &emission->inputs[0];
  int32_t count = 1;
  if (nd4c_onnx_operand_kind(emission, emission->inputs[0]) == ND4C_ONNX_KIND_OPTIONAL) {
    ND4C_TRY(nd4c_onnx_items(emission, emission->inputs[0], ND4C_ONNX_KIND_OPTIONAL, &items, &count));
  }
  if (count == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "the optional is empty; expected one that holds an element");
  }
  emission->outputs[0] = items[0];
  return ND4C_OK;
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                           \
  CHAIN(SequenceEmpty, 11, LAST, 0, 0, 1, sequence_empty, NONE, "a value of the interpreter")                          \
  CHAIN(SequenceConstruct, 11, LAST, 1, ANY, 1, sequence_construct, NONE, "a value of the interpreter")                \
  CHAIN(SequenceInsert, 11, LAST, 2, 3, 1, sequence_insert, NONE, "a value of the interpreter")                        \
  CHAIN(SequenceErase, 11, LAST, 1, 2, 1, sequence_erase, NONE, "a value of the interpreter")                          \
  CHAIN(SequenceAt, 11, LAST, 2, 2, 1, sequence_at, NONE, "a value of the interpreter")                                \
  CHAIN(SequenceLength, 11, LAST, 1, 1, 1, sequence_length, NONE, "a property of a value of the interpreter")          \
  CHAIN(SplitToSequence, 11, LAST, 1, 2, 1, split_to_sequence, NONE,                                                   \
        "slice for each element of a value of the interpreter, squeeze")                                               \
  OP(ConcatFromSequence, 11, LAST, 1, 1, 1, concat_from_sequence, NONE)                                                \
  CHAIN(SequenceMap, 17, LAST, 1, ANY, ANY, sequence_map, NONE, "an inner graph for each element, by the interpreter") \
  CHAIN(Optional, 15, LAST, 0, 1, 1, optional, NONE, "a value of the interpreter")                                     \
  CHAIN(OptionalHasElement, 15, LAST, 0, 1, 1, optional_has_element, NONE, "a property of a value of the interpreter") \
  CHAIN(OptionalGetElement, 15, LAST, 1, 1, 1, optional_get_element, NONE, "a value of the interpreter")

ND4C_ONNX_FAMILY(sequence, "", ROWS)
