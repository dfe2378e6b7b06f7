/* Sequences and optionals. Where a sequence's length and the positions are known, all of it is settled at import. */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/status.h"
#include "import/onnx/family.h"

/* -- sequences ------------------------------------------------------------------------------------------------- */

static nd4c_status emit_sequence_empty(nd4c_onnx_emission *emission) {
  int64_t number = 0;
  nd4c_dtype dtype = ND4C_FLOAT32;
  ND4C_TRY(nd4c_onnx_get_int(emission, "dtype", 0, &number));
  if (number != 0) {
    ND4C_TRY(nd4c_onnx_dtype_resolve(number, &dtype));
  }
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

/* The sequence with items replaced: `removed` of them at `position`, `added` (or none) put there. */
static nd4c_status splice(nd4c_onnx_emission *emission, int32_t position, int32_t removed, nd4c_onnx_operand added) {
  const nd4c_onnx_operand *items = NULL;
  int32_t count = 0;
  int32_t length = 0;
  ND4C_TRY(read_sequence(emission, &items, &count));
  nd4c_onnx_operand *spliced = nd4c_allocate(((size_t)count + 1) * sizeof *spliced);
  if (spliced == NULL) {
    return nd4c_fail_memory("a sequence", ((size_t)count + 1) * sizeof *spliced);
  }
  for (int32_t i = 0; i <= count; i++) {
    if (i == position && added != ND4C_ONNX_OPERAND_NONE) {
      spliced[length++] = added;
    }
    if (i < count && (i < position || i >= position + removed)) {
      spliced[length++] = items[i];
    }
  }
  nd4c_dtype dtype = length == 0 ? nd4c_emitted_get(&emission->emitter, items[0]).dtype : ND4C_DTYPE_NONE;
  nd4c_status status = nd4c_onnx_sequence(emission, dtype, spliced, length, &emission->outputs[0]);
  nd4c_deallocate(spliced);
  return status;
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

/* How SplitToSequence cuts: parts of `each`, or one length a part. */
typedef struct split_plan {
  int64_t axis, extent, each, *lengths;
  int32_t count;
  bool squeeze;
} split_plan;

/* Cuts and makes the sequence. */
static nd4c_status split_into(nd4c_onnx_emission *emission, const split_plan *plan, nd4c_onnx_operand *parts) {
  int64_t start = 0;
  for (int32_t i = 0; i < plan->count; i++) {
    int64_t left = plan->extent - start;
    int64_t length = plan->lengths != NULL ? plan->lengths[i] : plan->each < left ? plan->each : left;
    if (length < 0 || length > left) {
      return nd4c_fail(ND4C_SHAPE, "part %d of %" PRId64 " from %" PRId64 " on leaves the axis of %" PRId64, (int)i,
                       length, start, plan->extent);
    }
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, emission->inputs[0], plan->axis, start, start + length, 1, &parts[i]));
    if (plan->squeeze) {
      ND4C_TRY(nd4c_emit_axes(&emission->emitter, ND4C_OP_squeeze, parts[i], 1, &plan->axis, &parts[i]));
    }
    start += length;
  }
  if (start != plan->extent) {
    return nd4c_fail(ND4C_SHAPE, "parts of %" PRId64 " in all; expected %" PRId64, start, plan->extent);
  }
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype;
  return nd4c_onnx_sequence(emission, dtype, parts, plan->count, &emission->outputs[0]);
}

/* `lengths` has room for as many as the input says. */
static nd4c_status read_split(nd4c_onnx_emission *emission, split_plan *plan, int64_t *lengths) {
  nd4c_onnx_operand split = nd4c_onnx_input(emission, 1);
  int32_t count = 0;
  if (split == ND4C_ONNX_OPERAND_NONE) {
    plan->count = plan->extent > INT32_MAX ? -1 : (int32_t)plan->extent;
  } else {
    bool scalar = nd4c_emitted_get(&emission->emitter, split).rank == 0;
    int32_t limit = nd4c_emitted_get(&emission->emitter, split).rank == 1
                        ? (int32_t)nd4c_emitted_get(&emission->emitter, split).shape[0]
                        : 1;
    ND4C_TRY(nd4c_onnx_read_ints(emission, split, "the lengths of the parts", limit, lengths, &count));
    plan->squeeze = false;
    plan->lengths = scalar ? NULL : lengths;
    plan->each = scalar ? lengths[0] : 0;
    if (scalar && plan->each < 1) {
      return nd4c_fail(ND4C_FORMAT, "parts of length %" PRId64 "; expected 1 or more", plan->each);
    }
    int64_t parts = scalar ? plan->extent / plan->each + (plan->extent % plan->each != 0) : count;
    plan->count = parts > INT32_MAX ? -1 : (int32_t)parts;
  }
  return plan->count >= 0 ? ND4C_OK : nd4c_fail(ND4C_OVERFLOW, "an axis of %" PRId64 " in parts", plan->extent);
}

static nd4c_status split_with(nd4c_onnx_emission *emission, split_plan *plan, int64_t *lengths) {
  ND4C_TRY(read_split(emission, plan, lengths));
  nd4c_onnx_operand *parts = nd4c_allocate((size_t)plan->count * sizeof *parts);
  if (parts == NULL) {
    return nd4c_fail_memory("a sequence", (size_t)plan->count * sizeof *parts);
  }
  nd4c_status status = split_into(emission, plan, parts);
  nd4c_deallocate(parts);
  return status;
}

static nd4c_status emit_split_to_sequence(nd4c_onnx_emission *emission) {
  int64_t keepdims = 0;
  split_plan plan = {.each = 1};
  nd4c_onnx_operand split = nd4c_onnx_input(emission, 1);
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 0, &plan.axis));
  ND4C_TRY(nd4c_onnx_get_int(emission, "keepdims", 1, &keepdims));
  if (plan.axis < -info.rank || plan.axis >= info.rank) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", plan.axis, (int)info.rank);
  }
  plan.axis += plan.axis < 0 ? info.rank : 0;
  plan.extent = info.shape[plan.axis];
  plan.squeeze = keepdims == 0;
  int64_t room = 1;
  if (split != ND4C_ONNX_OPERAND_NONE && nd4c_emitted_get(&emission->emitter, split).rank == 1) {
    room = nd4c_emitted_get(&emission->emitter, split).shape[0];
  }
  if (room > INT32_MAX) {
    return nd4c_fail(ND4C_OVERFLOW, "%" PRId64 " parts", room);
  }
  int64_t *lengths = nd4c_allocate(((size_t)room + 1) * sizeof *lengths);
  if (lengths == NULL) {
    return nd4c_fail_memory("the lengths of the parts", ((size_t)room + 1) * sizeof *lengths);
  }
  nd4c_status status = split_with(emission, &plan, lengths);
  nd4c_deallocate(lengths);
  return status;
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
  nd4c_onnx_operand *parts = nd4c_allocate((size_t)count * sizeof *parts);
  if (parts == NULL) {
    return nd4c_fail_memory("a sequence", (size_t)count * sizeof *parts);
  }
  memcpy(parts, items, (size_t)count * sizeof *parts);
  nd4c_status status = ND4C_OK;
  int32_t rank = nd4c_emitted_get(&emission->emitter, parts[0]).rank + (new_axis != 0);
  if (axis < -rank || axis >= rank) {
    status = nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d", axis, (int)rank);
  }
  axis += axis < 0 ? rank : 0;
  for (int32_t i = 0; i < count && new_axis != 0 && status == ND4C_OK; i++) {
    status = nd4c_emit_axes(&emission->emitter, ND4C_OP_expand_dims, parts[i], 1, &axis, &parts[i]);
  }
  if (status == ND4C_OK) {
    nd4c_attr attr = nd4c_attr_of_int("axis", axis);
    status = nd4c_emit(&emission->emitter, ND4C_OP_concat, parts, count, &attr, 1, &emission->outputs[0]);
  }
  nd4c_deallocate(parts);
  return status;
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
  nd4c_onnx_operand *made = nd4c_allocate(room * sizeof *made);
  if (made == NULL) {
    return nd4c_fail_memory("a sequence", room * sizeof *made);
  }
  nd4c_status status = map_rounds(emission, body, rounds, made);
  nd4c_deallocate(made);
  return status;
}

/* -- optionals ------------------------------------------------------------------------------------------------- */

static nd4c_status emit_optional(nd4c_onnx_emission *emission) {
  nd4c_onnx_ignore(emission, "type"); /* of an empty one, which nothing asks for */
  return nd4c_onnx_optional(emission, nd4c_onnx_input(emission, 0), &emission->outputs[0]);
}

/* What is no optional is there. */
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
  CHAIN(SequenceLength, 11, LAST, 1, 1, 1, sequence_length, NONE, "a question to a value of the interpreter")          \
  CHAIN(SplitToSequence, 11, LAST, 1, 2, 1, split_to_sequence, NONE,                                                   \
        "slice for each element of a value of the interpreter, squeeze")                                               \
  OP(ConcatFromSequence, 11, LAST, 1, 1, 1, concat_from_sequence, NONE)                                                \
  CHAIN(SequenceMap, 17, LAST, 1, ANY, ANY, sequence_map, NONE, "an inner graph for each element, by the interpreter") \
  CHAIN(Optional, 15, LAST, 0, 1, 1, optional, NONE, "a value of the interpreter")                                     \
  CHAIN(OptionalHasElement, 15, LAST, 0, 1, 1, optional_has_element, NONE, "a question to a value of the interpreter") \
  CHAIN(OptionalGetElement, 15, LAST, 1, 1, 1, optional_get_element, NONE, "a value of the interpreter")

ND4C_ONNX_FAMILY(sequence, "", ROWS)
