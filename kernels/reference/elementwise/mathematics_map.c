/* The loop of all element-wise ops of the reference: elements of a row are loaded by one typed loop per operand,
 * computed one after the other, and stored by one typed loop. backends/cpu/reference/elementwise.c calls it, shape.c
 * and indexing_arrangement.c for casts. */
#include <string.h>

#include "kernels/reference/elementwise/elementwise.h"

enum { PIECE = 64 };

/* Drops axes of length 1 and joins those that continue each other. */
static void simplify(nd4c_map *map, int32_t rank, const int64_t *shape, const int64_t *const *strides) {
  map->rank = 0;
  for (int32_t axis = rank - 1; axis >= 0; axis--) { /* from the innermost; turned round below */
    if (shape[axis] == 1) {
      continue;
    }
    for (int32_t i = 0; i <= map->input_count; i++) {
      map->strides[i][map->rank] = strides[i][axis];
    }
    map->shape[map->rank] = shape[axis];
    bool joined = map->rank > 0;
    for (int32_t i = 0; i <= map->input_count; i++) {
      joined = joined && map->strides[i][map->rank] == map->strides[i][map->rank - 1] * map->shape[map->rank - 1];
    }
    if (joined) {
      map->shape[map->rank - 1] *= shape[axis];
    } else {
      map->rank++;
    }
  }
}

void nd4c_map_start(nd4c_map *map, nd4c_value_function function, int32_t input_count, const nd4c_operand *inputs,
                    const nd4c_dtype *as, const nd4c_operand *output, int32_t rank, const int64_t *shape) {
  const int64_t *strides[ND4C_REFERENCE_MAX_INPUTS + 1] = {output->strides};
  *map = (nd4c_map){.function = function, .input_count = input_count, .size = 1};
  map->operands[0] = *output;
  for (int32_t i = 0; i < input_count; i++) {
    bool cast = as[i] != ND4C_DTYPE_NONE && as[i] != inputs[i].dtype;
    map->operands[i + 1] = inputs[i];
    map->as[i] = cast ? as[i] : (nd4c_dtype)ND4C_DTYPE_NONE;
    map->kinds[i] = nd4c_reference_kind(cast ? as[i] : inputs[i].dtype);
    strides[i + 1] = inputs[i].strides;
  }
  for (int32_t axis = 0; axis < rank; axis++) {
    map->size *= shape[axis];
  }
  if (map->size > 0) {
    simplify(map, rank, shape, strides);
  }
}

/* Elements that only move keep their bits: a processor's conversions would make a signalling NaN a quiet one. */
static bool move_piece(const nd4c_map *map, int64_t count, const int64_t *offsets) {
  const nd4c_operand *x = &map->operands[1], *y = &map->operands[0];
  if (map->function != nd4c_value_copy || x->dtype != y->dtype || y->dtype == ND4C_BOOL) {
    return false;
  }
  int64_t from = map->rank > 0 ? map->strides[1][0] : 0, to = map->rank > 0 ? map->strides[0][0] : 0;
  size_t bytes = (size_t)nd4c_reference_bytes(y->dtype);
  bool narrow = (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(y->dtype)) != 0;
  for (int64_t j = 0; j < count; j++) {
    int64_t at = offsets[1] + j * from, place = offsets[0] + j * to;
    if (narrow) {
      nd4c_value_move(y->dtype, x->data, at, y->data, place);
    } else {
      memmove(y->data + place * (int64_t)bytes, x->data + at * (int64_t)bytes, bytes);
    }
  }
  return true;
}

/* `count` elements of a row from the offsets given. */
static void compute_piece(const nd4c_map *map, int64_t count, const int64_t *offsets) {
  if (move_piece(map, count, offsets)) {
    return;
  }
  nd4c_value values[ND4C_REFERENCE_MAX_INPUTS][PIECE], results[PIECE];
  for (int32_t i = 0; i < map->input_count; i++) {
    const nd4c_operand *operand = &map->operands[i + 1];
    int64_t step = map->rank > 0 ? map->strides[i + 1][0] : 0;
    nd4c_values_load(operand->dtype, operand->data, offsets[i + 1], step, count, values[i]);
    for (int64_t j = 0; map->as[i] != ND4C_DTYPE_NONE && j < count; j++) {
      values[i][j] = nd4c_value_cast(nd4c_reference_kind(operand->dtype), values[i][j], map->as[i]);
    }
  }
  for (int64_t j = 0; j < count; j++) {
    nd4c_value arguments[ND4C_REFERENCE_MAX_INPUTS];
    for (int32_t i = 0; i < map->input_count; i++) {
      arguments[i] = values[i][j];
    }
    results[j] = map->function(map->kinds, arguments);
  }
  const nd4c_operand *y = &map->operands[0];
  nd4c_values_store(y->dtype, y->data, offsets[0], map->rank > 0 ? map->strides[0][0] : 0, count, results);
}

void nd4c_map_range(const nd4c_map *map, int64_t begin, int64_t end) {
  int64_t length = map->rank > 0 ? map->shape[0] : 1;
  while (begin < end) {
    int64_t offsets[ND4C_REFERENCE_MAX_INPUTS + 1] = {0}, rest = begin, place = begin % length;
    int64_t count = length - place;
    for (int32_t axis = 0; axis < map->rank; axis++) {
      for (int32_t i = 0; i <= map->input_count; i++) {
        offsets[i] += rest % map->shape[axis] * map->strides[i][axis];
      }
      rest /= map->shape[axis];
    }
    count = count < end - begin ? count : end - begin;
    count = count < PIECE ? count : PIECE;
    compute_piece(map, count, offsets);
    begin += count;
  }
}

void nd4c_reference_map(nd4c_value_function function, int32_t input_count, const nd4c_operand *inputs,
                        const nd4c_dtype *as, const nd4c_operand *output, int32_t rank, const int64_t *shape) {
  nd4c_map map;
  nd4c_map_start(&map, function, input_count, inputs, as, output, rank, shape);
  nd4c_map_range(&map, 0, map.size);
}
