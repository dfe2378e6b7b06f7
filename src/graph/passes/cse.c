/* Lets one node stand for all nodes with its op, attributes and inputs, and one constant for all that are equal.
 * passes.c runs it on every optimised plan.
 *
 * Every op of the op table is a function of its inputs and attributes, so this holds for random ops as well: they read
 * their state as an input and do not change it (op_table/random.h). Nothing says so of a plug-in's ops, which are left
 * alone, as are nodes with bodies, which may have such ops. */
#include <string.h>

#include "array/shape.h"
#include "base/hash.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "graph/ir/attrs.h"
#include "graph/ir/sweep.h"
#include "graph/passes.h"

/* Contents of larger constants are not compared: they are equal if they are the same view. */
enum { COMPARED_BYTES = 256 };

/* Open addressing: numbers of nodes or values plus 1, 0 is free. */
typedef struct table {
  int32_t *entries;
  uint64_t *hashes;
  uint64_t mask;
} table;

typedef struct finder {
  nd4c_region region;
  table nodes, constants;
  nd4c_value *same_as;
} finder;

typedef struct contents {
  uint8_t bytes[COMPARED_BYTES];
  size_t size; /* 0: compared as a view */
} contents;

static nd4c_status make_table(nd4c_region *region, int64_t count, table *made) {
  int64_t size = 16;
  while (size < 2 * count) {
    size *= 2;
  }
  made->mask = (uint64_t)size - 1;
  ND4C_TRY(nd4c_region_make(region, size, sizeof *made->entries, &made->entries));
  return nd4c_region_make(region, size, sizeof *made->hashes, &made->hashes);
}

/* -- nodes --------------------------------------------------------------------------------------------------------- */

/* True if the inputs may be exchanged without changing a bit of the result. This excludes maximum and minimum of 0 and
 * -0, and complex products, in which a compiler may fuse one of two multiplications. */
static bool is_commutative(const nd4c_graph *graph, const nd4c_graph_node *node) {
  switch (node->def->info.op) {
    case ND4C_OP_add:
    case ND4C_OP_equal:
    case ND4C_OP_not_equal:
    case ND4C_OP_logical_and:
    case ND4C_OP_logical_or:
    case ND4C_OP_logical_xor:
    case ND4C_OP_bitwise_and:
    case ND4C_OP_bitwise_or:
    case ND4C_OP_bitwise_xor:
      return true;
    case ND4C_OP_multiply:
      return nd4c_dtype_get_info(graph->values[node->outputs[0]].dtype)->kind != ND4C_KIND_COMPLEX;
    default:
      return false;
  }
}

/* Puts the inputs of a commutative op in the order of their numbers, for comparison. */
static void take_inputs(const nd4c_graph *graph, const nd4c_graph_node *node, nd4c_value *inputs) {
  const bool exchanged = is_commutative(graph, node) && node->inputs[0] > node->inputs[1];
  inputs[0] = node->inputs[exchanged ? 1 : 0];
  inputs[1] = node->inputs[exchanged ? 0 : 1];
}

static uint64_t hash_node(const nd4c_graph *graph, const nd4c_graph_node *node) {
  uint64_t hash = nd4c_hash_word(node->def->info.op, (uint64_t)node->input_count);
  nd4c_value pair[2];
  const nd4c_value *inputs = node->inputs;
  if (node->input_count == 2) {
    take_inputs(graph, node, pair);
    inputs = pair;
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    hash = nd4c_hash_word(hash, (uint64_t)(int64_t)inputs[i]);
  }
  return nd4c_attrs_hash(hash, node->def->info.attr_count, node->attrs);
}

static bool equal_inputs(const nd4c_graph *graph, const nd4c_graph_node *a, const nd4c_graph_node *b) {
  if (a->input_count != 2) {
    return memcmp(a->inputs, b->inputs, (size_t)a->input_count * sizeof *a->inputs) == 0;
  }
  nd4c_value left[2], right[2];
  take_inputs(graph, a, left);
  take_inputs(graph, b, right);
  return left[0] == right[0] && left[1] == right[1];
}

static bool equal_nodes(const nd4c_graph *graph, const nd4c_graph_node *a, const nd4c_graph_node *b) {
  return a->def == b->def && a->input_count == b->input_count && equal_inputs(graph, a, b) &&
         nd4c_attrs_equal(a->def->info.attr_count, a->attrs, b->attrs);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  const nd4c_graph *graph = rewrite->graph;
  const nd4c_graph_node *node = &graph->nodes[index];
  if (nd4c_op_is_foreign(node->def) || node->control != NULL || node->again) {
    return ND4C_OK;
  }
  const table *nodes = &((finder *)state)->nodes;
  const uint64_t hash = hash_node(graph, node);
  /* x + y has the extent of one operand where the graph assumes that both have the same, and y + x that of the other.
   */
  for (uint64_t slot = hash & nodes->mask;; slot = (slot + 1) & nodes->mask) {
    if (nodes->entries[slot] == 0) {
      nodes->entries[slot] = index + 1;
      nodes->hashes[slot] = hash;
      return ND4C_OK;
    }
    const nd4c_graph_node *other = &graph->nodes[nodes->entries[slot] - 1];
    if (nodes->hashes[slot] == hash && other->def != NULL && equal_nodes(graph, node, other) &&
        nd4c_rewrite_may_replace_all(rewrite, node, other->outputs)) {
      memcpy(same, other->outputs, (size_t)other->output_count * sizeof *same);
      return ND4C_OK;
    }
  }
}

/* -- constants ----------------------------------------------------------------------------------------------------- */

/* The elements of a small constant. */
static nd4c_status take_contents(const nd4c_array *array, contents *taken) {
  const int64_t size = nd4c_dtype_bytes(array->dtype, array->size);
  const bool small = size <= COMPARED_BYTES && array->dtype != ND4C_UTF8;
  taken->size = small && (array->storage->flags & ND4C_STORAGE_ENCODED) == 0 ? (size_t)size : 0;
  return taken->size > 0 ? nd4c_array_read(array, taken->bytes, taken->size) : ND4C_OK;
}

static nd4c_status compare_constants(const nd4c_array *other, const nd4c_array *array, const contents *taken,
                                     bool *equal) {
  *equal = nd4c_array_is_same_view(other, array);
  if (*equal || taken->size == 0 || other->dtype != array->dtype ||
      !nd4c_shape_equal(other->rank, other->shape, array->rank, array->shape)) {
    return ND4C_OK;
  }
  contents compared;
  ND4C_TRY(take_contents(other, &compared));
  *equal = compared.size == taken->size && memcmp(compared.bytes, taken->bytes, taken->size) == 0;
  return ND4C_OK;
}

static nd4c_status find_constant(finder *find, const nd4c_graph *graph, nd4c_value value) {
  const nd4c_array *array = graph->values[value].constant;
  const table *constants = &find->constants;
  contents taken;
  ND4C_TRY(take_contents(array, &taken));
  uint64_t hash = nd4c_hash_word(nd4c_hash_word((uint64_t)array->dtype, (uint64_t)array->rank), (uint64_t)array->size);
  hash = taken.size > 0 ? nd4c_hash_bytes(hash, taken.bytes, taken.size)
                        : nd4c_hash_bytes(hash, &array->storage, sizeof array->storage);
  for (uint64_t slot = hash & constants->mask;; slot = (slot + 1) & constants->mask) {
    if (constants->entries[slot] == 0) {
      constants->entries[slot] = value + 1;
      constants->hashes[slot] = hash;
      return ND4C_OK;
    }
    const nd4c_value other = constants->entries[slot] - 1;
    bool equal = false;
    if (constants->hashes[slot] == hash) {
      ND4C_TRY(compare_constants(graph->values[other].constant, array, &taken, &equal));
    }
    if (equal) {
      find->same_as[value] = other;
      return ND4C_OK;
    }
  }
}

/* Constants of derived.h are left out: a value holds its use of one. */
static bool is_compared(const nd4c_rewrite *rewrite, nd4c_value value) {
  const nd4c_graph_value *info = &rewrite->graph->values[value];
  return info->constant != NULL && !info->derived && rewrite->uses[value] > 0;
}

static nd4c_status find_constants(finder *find, const nd4c_rewrite *rewrite) {
  const nd4c_graph *graph = rewrite->graph;
  int64_t count = 0;
  for (int32_t i = 0; i < graph->value_count; i++) {
    count += is_compared(rewrite, i);
  }
  ND4C_TRY(nd4c_region_make(&find->region, graph->value_count, sizeof *find->same_as, &find->same_as));
  ND4C_TRY(make_table(&find->region, count, &find->constants));
  for (int32_t i = 0; i < graph->value_count; i++) {
    find->same_as[i] = i;
    if (is_compared(rewrite, i)) {
      ND4C_TRY(find_constant(find, graph, i));
    }
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  finder find = {0};
  nd4c_status status = make_table(&find.region, rewrite->graph->node_count, &find.nodes);
  status = status == ND4C_OK ? find_constants(&find, rewrite) : status;
  status = status == ND4C_OK ? nd4c_rewrite_sweep_from(rewrite, find.same_as, visit, &find) : status;
  nd4c_region_free(&find.region);
  return status;
}

ND4C_PASS(SIMPLIFY, 31, cse, ANY, "computes equal nodes once")
