/* Merges a cast of a cast where the dtype in the middle represents every number of the first one, so that the result is
 * the same bit for bit. A cast back gives the first value. passes.c runs it on every optimised plan. */
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

/* Bits of the significand, the hidden one included, of a dtype that ops compute with; 0 for others. */
static int32_t precision_of(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_BFLOAT16:
      return 8;
    case ND4C_FLOAT16:
      return 11;
    case ND4C_FLOAT32:
      return 24;
    case ND4C_FLOAT64:
      return 53;
    default:
      return 0;
  }
}

/* Whether each number of `from` is one of `to`. float16 and bfloat16 do not contain each other. */
static bool contains(nd4c_dtype to, nd4c_dtype from) {
  const nd4c_dtype_info *a = nd4c_dtype_get_info(from), *b = nd4c_dtype_get_info(to);
  if (((ND4C_DTYPES_NARROW & (ND4C_DTYPE_BIT(from) | ND4C_DTYPE_BIT(to)))) != 0) {
    return false;
  }
  switch (a->kind) {
    case ND4C_KIND_BOOL:
      return b->kind == ND4C_KIND_BOOL || b->kind == ND4C_KIND_INT || b->kind == ND4C_KIND_UINT ||
             b->kind == ND4C_KIND_FLOAT;
    case ND4C_KIND_UINT:
      return (b->kind == ND4C_KIND_UINT && b->bits >= a->bits) || (b->kind == ND4C_KIND_INT && b->bits > a->bits) ||
             (b->kind == ND4C_KIND_FLOAT && precision_of(to) >= a->bits && to != ND4C_FLOAT16);
    case ND4C_KIND_INT:
      return (b->kind == ND4C_KIND_INT && b->bits >= a->bits) ||
             (b->kind == ND4C_KIND_FLOAT && precision_of(to) >= a->bits - 1 && to != ND4C_FLOAT16);
    case ND4C_KIND_FLOAT:
      return b->kind == ND4C_KIND_FLOAT && precision_of(to) >= precision_of(from) &&
             (to == from || to == ND4C_FLOAT32 || to == ND4C_FLOAT64);
    default:
      return false;
  }
}

/* Whether casting what `middle` contains of `from` does the same as casting it from `from`. From floats to integers a
 * number out of range saturates, from integers it wraps. */
static bool is_same_rule(nd4c_dtype from, nd4c_dtype middle, nd4c_dtype to) {
  const nd4c_dtype_kind a = nd4c_dtype_get_info(from)->kind, b = nd4c_dtype_get_info(middle)->kind;
  const nd4c_dtype_kind c = nd4c_dtype_get_info(to)->kind;
  const bool to_integer = c == ND4C_KIND_INT || c == ND4C_KIND_UINT;
  return (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(to)) == 0 && c != ND4C_KIND_STRING &&
         (!to_integer || a == ND4C_KIND_BOOL || (a == ND4C_KIND_FLOAT) == (b == ND4C_KIND_FLOAT) || to == from);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  const nd4c_graph_value *values = rewrite->graph->values;
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_node *inner =
      node->def->info.op == ND4C_OP_cast ? nd4c_rewrite_producer(rewrite, node->inputs[0], ND4C_OP_cast) : NULL;
  if (inner == NULL) {
    return ND4C_OK;
  }
  const nd4c_value x = inner->inputs[0];
  const nd4c_dtype from = values[x].dtype, middle = values[node->inputs[0]].dtype, to = values[node->outputs[0]].dtype;
  if (!contains(middle, from) || !is_same_rule(from, middle, to)) {
    return ND4C_OK;
  }
  if (to == from) {
    *same = x;
    return ND4C_OK;
  }
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_cast, &x, 1, node->attrs, NULL, &done);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 32, casts, ANY, "merges casts through a dtype that loses nothing")
