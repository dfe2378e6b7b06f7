/* Lets nodes of float16 or bfloat16 compute in float32, on a device whose kernels for them are those of the reference
 * or convert to float32 in each call. Then neighbours need no conversions between them, other passes find the patterns
 * that kernels of float32 compute at once, and constants are converted once. Values are rounded to 16 bits where they
 * leave the graph, where a cast of the model gives 16 bits, and where a node depends on the dtype (is_bound), so
 * results have fewer roundings than those of the single ops. ONNX Runtime rounds alike, but not before casts to
 * integers and bool. passes.c runs it on optimised plans of one device, before all passes that look for patterns.
 *
 * If the device has no fast products in this dtype, and one node of the graph gains, all nodes that compute in it
 * follow: there is no cast between them then. What only moves recorded numbers of 16 bits goes on doing so, such as the
 * lookup in a table of embeddings, since less memory is read. So do products of few rows with constant weights, if the
 * device has fast kernels for them. If the device has fast products, only the nodes that gain
 * change. */
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/match/fast.h"
#include "graph/passes/dtypes/retyping.h"

static bool has_dtype(const nd4c_graph *graph, nd4c_dtype dtype) {
  for (int32_t i = 0; i < graph->value_count; i++) {
    if (graph->values[i].dtype == dtype) {
      return true;
    }
  }
  return false;
}

/* Ops that give other results in float32, not more exact ones: nan_to_num puts the dtype's limits in, nextafter steps
 * to the dtype's next number, tolerances follow from the dtype's epsilon, edges of a histogram are rounded to the
 * dtype, and scatters with a reduction round each step to it. bit_cast needs no entry: it refuses float32 in place of
 * 16 bits. */
static const nd4c_op bound_ops[] = {ND4C_OP_nan_to_num, ND4C_OP_nextafter,   ND4C_OP_pinv,
                                    ND4C_OP_lstsq,      ND4C_OP_scatter_add, ND4C_OP_scatter_elements,
                                    ND4C_OP_scatter_nd, ND4C_OP_histogram};

/* Whether the node must read numbers of 16 bits. Nodes with no result in 16 bits must, casts to floats apart: they
 * convert, compare or quantise the number that the model has there, which may be infinite or 0, and transforms to
 * complex numbers would be less exact in float32 than the reference is. */
static bool is_bound(const nd4c_retyping *s, const nd4c_graph_node *node) {
  const nd4c_graph *graph = s->rewrite->graph;
  bool gives = false;
  for (size_t i = 0; i < sizeof bound_ops / sizeof bound_ops[0]; i++) {
    if (bound_ops[i] == node->def->info.op) {
      return true;
    }
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    gives = gives || nd4c_retyping_covers(s, node->outputs[i]);
  }
  return !gives && (node->def->info.op != ND4C_OP_cast ||
                    nd4c_dtype_get_info(graph->values[node->outputs[0]].dtype)->kind != ND4C_KIND_FLOAT);
}

/* Nodes with bodies have the dtypes of their bodies; random numbers depend on the dtype; nothing is known of a
 * plug-in's ops. */
static bool can_widen(const nd4c_retyping *s, const nd4c_graph_node *node) {
  bool reads = false;
  for (int32_t i = 0; i < node->input_count; i++) {
    reads = reads || nd4c_retyping_covers(s, node->inputs[i]);
  }
  return reads && node->control == NULL && node->def->info.category != ND4C_CATEGORY_RANDOM &&
         node->def->info.op < ND4C_OP_PLUGIN && !nd4c_retyping_reads_encoded(s, node) && !is_bound(s, node);
}

/* Whether the node only gives recorded numbers on. Of constants alone it is computed once, so it may as well give the
 * numbers that its readers want. */
static bool only_moves(const nd4c_retyping *s, const nd4c_graph_node *node) {
  const nd4c_category category = node->def->info.category;
  bool moves = node->def->view != NULL || node->def->info.op == ND4C_OP_cast || category == ND4C_CATEGORY_SHAPE ||
               category == ND4C_CATEGORY_INDEXING;
  bool varies = false;
  for (int32_t i = 0; i < node->input_count && moves; i++) {
    const nd4c_value input = node->inputs[i];
    moves = input < 0 || !s->changed[input];
    varies = varies || (input >= 0 && s->rewrite->graph->values[input].constant == NULL);
  }
  return moves && varies;
}

static bool has_dims(const nd4c_graph *graph, nd4c_value value) {
  const nd4c_graph_value *v = &graph->values[value];
  bool has = false;
  for (int32_t i = 0; i < v->rank && graph->extents != NULL; i++) {
    has = has || nd4c_extents_has(graph->extents, v->shape[i]);
  }
  return has;
}

static bool is_product(const nd4c_graph_node *node) {
  return node->def->info.op == ND4C_OP_matmul || node->def->info.op == ND4C_OP_linear;
}

/* Whether the device computes the node slowly as it is recorded, and fast in float32. all: the device has no fast
 * products but those of few rows; where a dim says how many there are, a run may bring more. */
static nd4c_status gains(nd4c_retyping *s, const nd4c_graph_node *node, bool all, bool *slow) {
  *slow = can_widen(s, node) && node->def->info.op != ND4C_OP_cast;
  if (*slow) {
    bool fast = false;
    if (!all || !is_product(node) || !has_dims(s->rewrite->graph, node->outputs[0])) {
      ND4C_TRY(nd4c_retyping_is_fast(s, node, s->from, &fast));
    }
    ND4C_TRY(nd4c_retyping_is_fast(s, node, ND4C_FLOAT32, slow));
    *slow = *slow && !fast;
  }
  return ND4C_OK;
}

/* Whether the node is a product in which reading the weights takes the time, half of it in 16 bits: the device has a
 * fast kernel for few rows. */
static nd4c_status reads_weights(nd4c_retyping *s, const nd4c_graph_node *node, bool *reads) {
  enum { LEAST_WEIGHTS = 1 << 16 }; /* casts around a product with fewer ones take longer than is saved */
  const nd4c_graph *graph = s->rewrite->graph;
  *reads = is_product(node) && !has_dims(graph, node->outputs[0]);
  if (*reads) {
    const nd4c_array *weights = graph->values[node->inputs[1]].constant;
    *reads = weights != NULL && weights->size >= LEAST_WEIGHTS && weights->dtype == s->from;
  }
  return *reads ? nd4c_retyping_is_fast(s, node, s->from, reads) : ND4C_OK;
}

/* all: nodes that gain nothing follow, but for those that read weights. */
static nd4c_status visit(nd4c_retyping *s, int32_t index, bool all) {
  const nd4c_graph_node *node = &s->rewrite->graph->nodes[index];
  bool done = can_widen(s, node), reads = false;
  if (done && (!all || only_moves(s, node))) {
    ND4C_TRY(gains(s, node, all, &done));
  }
  ND4C_TRY(done && all ? reads_weights(s, node, &reads) : ND4C_OK);
  done = done && !reads;
  ND4C_TRY(done ? nd4c_retyping_change(s, index, &done) : ND4C_OK);
  return done ? ND4C_OK : nd4c_retyping_keep(s, index);
}

static nd4c_status widen_all(nd4c_retyping *s) {
  const bool all = !nd4c_multiplies_fast(s->rewrite->context, s->from);
  bool any = false;
  for (int32_t i = 0; i < s->rewrite->existing && !any; i++) {
    ND4C_TRY(gains(s, &s->rewrite->graph->nodes[i], all, &any));
  }
  for (int32_t i = 0; i < s->rewrite->existing && any; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(visit(s, i, all));
  }
  return any ? nd4c_retyping_outputs(s) : ND4C_OK;
}

static nd4c_status widen(nd4c_rewrite *rewrite, nd4c_dtype dtype) {
  if (!has_dtype(rewrite->graph, dtype) || dtype == rewrite->precision) { /* what was asked for stays */
    return ND4C_OK;
  }
  nd4c_retyping s;
  nd4c_status status = nd4c_retyping_begin(&s, rewrite, dtype, ND4C_FLOAT32);
  if (status == ND4C_OK) {
    status = widen_all(&s);
  }
  nd4c_retyping_end(&s);
  return status;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  ND4C_TRY(widen(rewrite, ND4C_FLOAT16));
  return widen(rewrite, ND4C_BFLOAT16);
}

ND4C_PASS(SIMPLIFY, 13, widen, DEVICE,
          "lets nodes of float16 and bfloat16 compute in float32 where the device has no fast kernels for 16 bits")
