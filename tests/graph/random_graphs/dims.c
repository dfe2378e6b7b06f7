/* Dims of random graphs: the numbers of some extents become dims, so that passes run on a graph of expressions, and the
 * graph that they leave is bound to several sizes. supply.c chooses dims, sketch.c builds with them, trial.c resizes.
 */
#include <stdlib.h>
#include <string.h>

#include "ops/op.h"
#include "random_graphs.h"

const char *rg_dims_name(int32_t dim) {
  static const char *const names[RG_DIMS] = {"n", "m"};
  return names[dim];
}

void rg_dims_bounds(const rg_dims *dims, int32_t dim, int64_t *low, int64_t *high) {
  const int64_t a = dims->numbers[dim], b = dims->others[dim], least = a < b ? a : b;
  *low = dims->low || least == 0 ? least : 1;
  *high = dims->high ? a + b - least : -1;
}

nd4c_status rg_bind(const nd4c_graph *graph, const rg_dims *dims, const int64_t *sizes, nd4c_graph **bound) {
  const char *names[RG_DIMS];
  for (int32_t i = 0; i < dims->count; i++) {
    names[i] = rg_dims_name(i);
  }
  return nd4c_graph_bind(graph, names, sizes, dims->count, bound);
}

static int32_t find_number(const rg_dims *dims, int64_t number) {
  for (int32_t i = 0; i < dims->count; i++) {
    if (dims->numbers[i] == number) {
      return i;
    }
  }
  return -1;
}

void rg_dims_shape(const rg_dims *dims, const int64_t *to, int32_t rank, int64_t *shape) {
  for (int32_t i = 0; i < rank && (i == 0 || !dims->leading); i++) {
    const int32_t dim = find_number(dims, shape[i]);
    shape[i] = dim >= 0 ? to[dim] : shape[i];
  }
}

/* An entry of reshape that is a multiple of a dim's number is left for the op to find: with dims it is an expression.
 */
static void leave_one_out(const rg_dims *dims, int32_t count, int64_t *list) {
  int32_t left_out = -1;
  for (int32_t i = 0; i < count; i++) {
    if (list[i] < 0) {
      return;
    }
    for (int32_t d = 0; d < dims->count && left_out < 0; d++) {
      left_out = list[i] > dims->numbers[d] && list[i] % dims->numbers[d] == 0 ? i : left_out;
    }
  }
  if (left_out >= 0) {
    list[left_out] = -1;
  }
}

void rg_dims_attrs(const rg_dims *dims, const int64_t *to, const rg_node *node, nd4c_region *region,
                   nd4c_attr_value *attrs) {
  uint32_t symbolic = 0;
  memcpy(attrs, node->attrs, (size_t)node->op->attr_count * sizeof *attrs);
  if (!dims->attrs || !nd4c_op_takes_symbolic(nd4c_op_get_def(node->op->op), &symbolic)) {
    return;
  }
  for (int32_t i = 0; i < node->op->attr_count; i++) {
    nd4c_attr_value *value = &attrs[i];
    if ((symbolic & (UINT32_C(1) << i)) == 0 || value->kind != ND4C_ATTR_INTS || value->as.ints == NULL) {
      continue;
    }
    int64_t *list = nd4c_region_copy(region, value->as.ints, value->count, sizeof *list);
    rg_must(list == NULL ? ND4C_MEMORY : ND4C_OK, "attribute");
    if (node->op->op == ND4C_OP_reshape) {
      leave_one_out(dims, value->count, list);
    }
    for (int32_t k = 0; k < value->count; k++) {
      const int32_t dim = find_number(dims, list[k]);
      list[k] = dim >= 0 ? to[dim] : list[k];
    }
    value->as.ints = list;
  }
}

/* -- other sizes --------------------------------------------------------------------------------------------------- */

/* The elements of an array over and over, in another shape. */
static nd4c_array *repeat_elements(const nd4c_array *array, const int64_t *shape) {
  const size_t each = (size_t)nd4c_dtype_size(nd4c_array_dtype(array)), had = (size_t)nd4c_array_size(array);
  size_t size = 1;
  for (int32_t i = 0; i < nd4c_array_rank(array); i++) {
    size *= (size_t)shape[i];
  }
  unsigned char *from = rg_need(had * each), *to = rg_need(size * each);
  rg_must(nd4c_array_read(array, from, had * each), "read");
  for (size_t i = 0; i < size && had > 0; i++) {
    memcpy(to + i * each, from + i % had * each, each);
  }
  nd4c_array *made = NULL;
  rg_must(nd4c_array_from_data(nd4c_array_dtype(array), nd4c_array_rank(array), shape, to, NULL, &made), "array");
  free(from);
  free(to);
  return made;
}

rg_sketch *rg_dims_resize(const rg_sketch *sketch, nd4c_region *region) {
  rg_sketch *copy = rg_sketch_copy(sketch);
  const rg_dims *dims = &sketch->dims;
  for (int32_t i = 0; i < copy->value_count; i++) {
    rg_value *value = &copy->values[i];
    if (value->node < 0 && !value->is_constant) {
      int64_t shape[RG_RANK];
      memcpy(shape, rg_shape(copy, i), (size_t)rg_rank(copy, i) * sizeof *shape);
      rg_dims_shape(dims, dims->others, rg_rank(copy, i), shape);
      nd4c_array *resized = repeat_elements(value->array, shape);
      nd4c_array_release(value->array);
      value->array = resized;
    }
  }
  for (int32_t i = 0; i < copy->node_count; i++) {
    rg_dims_attrs(dims, dims->others, &sketch->nodes[i], region, copy->nodes[i].attrs);
  }
  if (rg_recompute(copy) != ND4C_OK) {
    rg_sketch_free(copy);
    return NULL;
  }
  return copy;
}

/* -- choosing ------------------------------------------------------------------------------------------------------ */

/* An extent of an input that the graph reads; 0: none was found. */
static int64_t pick_number(rg_sketch *sketch, bool leading) {
  int32_t inputs[RG_VALUES];
  const int32_t count = rg_graph_inputs(sketch, inputs);
  for (int32_t i = 0; i < 8 && count > 0; i++) {
    const int32_t input = inputs[rg_pick(sketch, count)], rank = rg_rank(sketch, input);
    const int64_t number = rank == 0 ? 0 : rg_shape(sketch, input)[leading ? 0 : rg_pick(sketch, rank)];
    if (number > 0) {
      return number;
    }
  }
  return 0;
}

static bool choose(rg_sketch *sketch) {
  static const int64_t others[] = {1, 2, 3, 4, 5, 6, 9};
  rg_dims *dims = &sketch->dims;
  *dims = (rg_dims){.leading = !rg_chance(sketch, 3),
                    .attrs = !rg_chance(sketch, 4),
                    .low = sketch->seed / 3 % 4 == 1,
                    .high = sketch->seed / 3 % 8 < 3};
  const int32_t count = 1 + rg_pick(sketch, RG_DIMS);
  while (dims->count < count) {
    const int64_t number = pick_number(sketch, dims->leading);
    if (number == 0 || find_number(dims, number) >= 0) {
      break;
    }
    const int64_t other = others[rg_pick(sketch, sizeof others / sizeof others[0])];
    const bool none = rg_is_wide(sketch) && rg_chance(sketch, 6);
    dims->others[dims->count] = none ? 0 : (other != number ? other : 7);
    dims->numbers[dims->count++] = number;
  }
  return dims->count > 0;
}

void rg_dims_choose(rg_sketch *sketch) {
  enum { TRIES = 4 };
  for (int32_t i = 0; i < TRIES; i++) {
    nd4c_graph *graph = choose(sketch) ? rg_build_with_dims(sketch) : NULL;
    if (graph != NULL) {
      nd4c_graph_destroy(graph);
      return;
    }
  }
  sketch->dims.count = 0;
}
