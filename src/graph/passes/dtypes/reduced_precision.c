/* Lets nodes of float32 compute in bfloat16 or float16, if the caller asks for it: options.precision of a plan. Each
 * product, convolution and attention that the device computes fast in this dtype is an anchor. What follows an anchor
 * and leads to another one takes its dtype over, as long as its op loses no more than the rounding of its operands and
 * its result, and a fast kernel exists; kernels add up in float32. Operands are rounded first, so differences of nearly
 * equal numbers lose more. Masks lose float32's largest numbers and infinities: they are bounded. Other nodes stay in
 * float32 and read casts. Inputs and outputs of the graph keep their dtypes. passes.c runs it on optimised plans of one
 * device.
 *
 * Sums that a layer_norm or rms_norm reads stay in float32, with the norm: in a transformer they are what all layers
 * add to, so roundings of them would add up over the layers. A linear that adds to such a sum becomes a linear in the
 * reduced dtype and an add.
 *
 * A device without instructions for the dtype may still have fast products of few rows, in which reading the weights
 * takes the time (rewrite->reduces_products is false). Then those with constant weights are the only anchors, and all
 * else stays in float32, where it is faster.
 *
 * It runs after `layout`, because kernels are fast in some orders of memory only. `layout` then runs again, for the
 * casts. */
#include <string.h>

#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/passes/dtypes/retyping.h"

/* Ops whose work is worth casting their inputs. */
static const nd4c_op anchors[] = {ND4C_OP_matmul, ND4C_OP_linear, ND4C_OP_conv, ND4C_OP_conv_transpose,
                                  ND4C_OP_attention};

/* Ops that follow an anchor: each number of their result comes from one number of each operand, or their kernels add
 * up in float32. Operands are rounded, so the difference of nearly equal numbers loses more than a rounding. Not among
 * them: functions that magnify a relative error, such as exp and power. */
static const nd4c_op followers[] = {ND4C_OP_negative,
                                    ND4C_OP_abs,
                                    ND4C_OP_relu,
                                    ND4C_OP_leaky_relu,
                                    ND4C_OP_sigmoid,
                                    ND4C_OP_tanh,
                                    ND4C_OP_erf,
                                    ND4C_OP_gelu,
                                    ND4C_OP_clip,
                                    ND4C_OP_elu,
                                    ND4C_OP_selu,
                                    ND4C_OP_celu,
                                    ND4C_OP_softplus,
                                    ND4C_OP_softsign,
                                    ND4C_OP_hard_sigmoid,
                                    ND4C_OP_hard_swish,
                                    ND4C_OP_mish,
                                    ND4C_OP_swish,
                                    ND4C_OP_prelu,
                                    ND4C_OP_threshold,
                                    ND4C_OP_hard_tanh,
                                    ND4C_OP_glu,
                                    ND4C_OP_swiglu,
                                    ND4C_OP_add,
                                    ND4C_OP_subtract,
                                    ND4C_OP_multiply,
                                    ND4C_OP_divide,
                                    ND4C_OP_maximum,
                                    ND4C_OP_minimum,
                                    ND4C_OP_where,
                                    ND4C_OP_bias_add,
                                    ND4C_OP_softmax,
                                    ND4C_OP_batch_norm,
                                    ND4C_OP_group_norm,
                                    ND4C_OP_instance_norm,
                                    ND4C_OP_lrn,
                                    ND4C_OP_max_pool,
                                    ND4C_OP_average_pool,
                                    ND4C_OP_global_average_pool,
                                    ND4C_OP_global_max_pool,
                                    ND4C_OP_adaptive_average_pool,
                                    ND4C_OP_adaptive_max_pool,
                                    ND4C_OP_mean,
                                    ND4C_OP_max,
                                    ND4C_OP_min,
                                    ND4C_OP_reshape,
                                    ND4C_OP_transpose,
                                    ND4C_OP_broadcast_to,
                                    ND4C_OP_squeeze,
                                    ND4C_OP_expand_dims,
                                    ND4C_OP_flatten,
                                    ND4C_OP_slice,
                                    ND4C_OP_concat,
                                    ND4C_OP_gather,
                                    ND4C_OP_flip,
                                    ND4C_OP_swapaxes,
                                    ND4C_OP_moveaxis,
                                    ND4C_OP_select,
                                    ND4C_OP_stack,
                                    ND4C_OP_pad,
                                    ND4C_OP_tile,
                                    ND4C_OP_repeat,
                                    ND4C_OP_depth_to_space,
                                    ND4C_OP_space_to_depth,
                                    ND4C_OP_take,
                                    ND4C_OP_rotary_embedding,
                                    ND4C_OP_resize,
                                    ND4C_OP_copy,
                                    ND4C_OP_matrix_transpose};

typedef enum role { ROLE_OTHER, ROLE_FOLLOWER, ROLE_ANCHOR } role;

typedef struct state {
  nd4c_retyping retyping; /* first: emit_narrow finds the state by it */
  nd4c_rewrite *rewrite;
  role *roles;  /* by node */
  bool *leads;  /* by value: an anchor depends on it */
  bool *scores; /* by value: a softmax or a mask of an attention depends on it, without an anchor between */
  bool *sums;   /* by value: a norm reads it, or a sum that a norm reads */
} state;

static role role_of(nd4c_op op) {
  for (size_t i = 0; i < sizeof anchors / sizeof anchors[0]; i++) {
    if (anchors[i] == op) {
      return ROLE_ANCHOR;
    }
  }
  for (size_t i = 0; i < sizeof followers / sizeof followers[0]; i++) {
    if (followers[i] == op) {
      return ROLE_FOLLOWER;
    }
  }
  return ROLE_OTHER;
}

/* Where the device has fast products of few rows alone, their weights have to be there in the reduced dtype: to round
 * them in each run would take longer. */
static nd4c_status find_role(state *s, int32_t index) {
  const nd4c_graph_node *node = &s->rewrite->graph->nodes[index];
  const nd4c_op op = node->def->info.op;
  s->roles[index] = role_of(op);
  if (s->rewrite->reduces_products || s->roles[index] != ROLE_ANCHOR) {
    return ND4C_OK;
  }
  bool reads =
      (op == ND4C_OP_matmul || op == ND4C_OP_linear) && s->rewrite->graph->values[node->inputs[1]].constant != NULL;
  ND4C_TRY(reads ? nd4c_retyping_is_fast(&s->retyping, node, s->retyping.to, &reads) : ND4C_OK);
  s->roles[index] = reads ? ROLE_ANCHOR : ROLE_OTHER;
  return ND4C_OK;
}

/* What no anchor depends on, such as coordinates that a detector computes at its end, stays in float32. */
static void find_leads(const state *s) {
  const nd4c_graph *graph = s->rewrite->graph;
  for (int32_t i = s->rewrite->existing - 1; i >= 0; i--) {
    const nd4c_graph_node *node = &graph->nodes[i];
    bool leads = s->roles[i] == ROLE_ANCHOR;
    for (int32_t k = 0; k < node->output_count && !leads; k++) {
      leads = s->leads[node->outputs[k]];
    }
    for (int32_t k = 0; k < node->input_count && leads; k++) {
      if (node->inputs[k] >= 0) {
        s->leads[node->inputs[k]] = true;
      }
    }
  }
}

/* Which operands lead to what the node's result leads to. */
static bool passes_scores_on(const nd4c_graph_node *node) {
  switch (node->def->info.op) {
    case ND4C_OP_add:
    case ND4C_OP_subtract:
    case ND4C_OP_where:
    case ND4C_OP_maximum:
    case ND4C_OP_minimum:
    case ND4C_OP_clip:
      return true;
    default:
      return node->def->view != NULL;
  }
}

/* Scores and masks. Models mask places by float32's lowest number, so that a wholly masked row stays finite. */
static void find_scores(const state *s) {
  const nd4c_graph *graph = s->rewrite->graph;
  for (int32_t i = s->rewrite->existing - 1; i >= 0; i--) {
    const nd4c_graph_node *node = &graph->nodes[i];
    const nd4c_op op = node->def->info.op;
    if (op == ND4C_OP_attention && nd4c_node_input(node, ND4C_IN_attention_mask) >= 0) {
      s->scores[node->inputs[ND4C_IN_attention_mask]] = true;
    }
    const bool on = op == ND4C_OP_softmax || (s->scores[node->outputs[0]] && passes_scores_on(node));
    for (int32_t k = 0; k < node->input_count && on; k++) {
      if (node->inputs[k] >= 0) {
        s->scores[node->inputs[k]] = true;
      }
    }
  }
}

/* conv and linear have the addend at the same position. */
_Static_assert((int)ND4C_IN_conv_addend == (int)ND4C_IN_linear_addend, "positions of conv and linear");

/* What a conv or linear adds to its product; NONE if it adds nothing, or applies an activation to the sum. */
static nd4c_value addend_of(const nd4c_graph_node *node) {
  const nd4c_op op = node->def->info.op;
  if (op != ND4C_OP_conv && op != ND4C_OP_linear) {
    return ND4C_VALUE_NONE;
  }
  const int32_t activation = op == ND4C_OP_conv ? (int)ND4C_ATTR_conv_activation : (int)ND4C_ATTR_linear_activation;
  return node->attrs[activation].as.i == ND4C_ACTIVATION_NONE ? nd4c_node_input(node, ND4C_IN_linear_addend)
                                                              : ND4C_VALUE_NONE;
}

static bool is_sum(const nd4c_graph_node *node) {
  return node->def->info.op == ND4C_OP_add || node->def->info.op == ND4C_OP_subtract;
}

static void find_sums(const state *s) {
  const nd4c_graph *graph = s->rewrite->graph;
  for (int32_t i = s->rewrite->existing - 1; i >= 0; i--) {
    const nd4c_graph_node *node = &graph->nodes[i];
    const nd4c_op op = node->def->info.op;
    const bool norm = op == ND4C_OP_layer_norm || op == ND4C_OP_rms_norm, on = s->sums[node->outputs[0]];
    if (op == ND4C_OP_skip_layer_norm) {
      s->sums[node->inputs[ND4C_IN_skip_layer_norm_x]] = s->sums[node->inputs[ND4C_IN_skip_layer_norm_skip]] = true;
    } else if (norm || (on && node->def->view != NULL)) {
      s->sums[node->inputs[0]] = true;
    } else if (on && is_sum(node)) {
      s->sums[node->inputs[0]] = s->sums[node->inputs[1]] = true;
    } else if (on && addend_of(node) >= 0) {
      s->sums[addend_of(node)] = true;
    }
  }
}

/* Whether a follower has enough reduced operands: at least one, or, where few nodes change, all that vary. */
static bool has_reduced(const state *s, const nd4c_graph_node *node) {
  bool any = false, all = true;
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_value input = node->inputs[i];
    const bool covered = nd4c_retyping_covers(&s->retyping, input);
    any = any || (covered && s->retyping.changed[input]);
    all = all && (!covered || s->retyping.changed[input] || s->rewrite->graph->values[input].constant != NULL);
  }
  return any && (all || s->rewrite->reduces_products);
}

/* An anchor has operands of float32 or reduced ones; a follower has reduced operands, leads to another anchor, and is
 * no sum that a norm reads. */
static bool is_candidate(const state *s, int32_t index) {
  const nd4c_graph_node *node = &s->rewrite->graph->nodes[index];
  const bool follows = s->leads[node->outputs[0]] && !(s->sums[node->outputs[0]] && is_sum(node));
  const role its = s->roles[index];
  bool any = its == ROLE_ANCHOR ? nd4c_retyping_covers(&s->retyping, node->inputs[0])
                                : its == ROLE_FOLLOWER && follows && has_reduced(s, node);
  for (int32_t i = 0; i < node->output_count; i++) {
    any = any && s->rewrite->graph->values[node->outputs[i]].dtype == ND4C_FLOAT32;
  }
  return any && !nd4c_retyping_reads_encoded(&s->retyping, node);
}

/* -- rewriting ----------------------------------------------------------------------------------------------------- */

/* A cast. Scores are first bounded to half of the reduced dtype's range, so that neither the rounding nor a sum of two
 * masks gives an infinity. Softmax has 0 there as before. */
static nd4c_status emit_narrow(const nd4c_retyping *retyping, nd4c_value value, nd4c_dtype dtype, nd4c_value *narrow) {
  const state *s = (const state *)retyping;
  nd4c_emitter *emitter = &s->rewrite->emitter;
  if (dtype == retyping->to && s->scores[value]) {
    const double bound = dtype == ND4C_BFLOAT16 ? 0x1p127 : 0x1p15;
    nd4c_value inputs[] = {value, ND4C_VALUE_NONE, ND4C_VALUE_NONE};
    ND4C_TRY(nd4c_emit_scalar(emitter, ND4C_FLOAT32, -bound, &inputs[ND4C_IN_clip_low]));
    ND4C_TRY(nd4c_emit_scalar(emitter, ND4C_FLOAT32, bound, &inputs[ND4C_IN_clip_high]));
    ND4C_TRY(nd4c_emit(emitter, ND4C_OP_clip, inputs, 3, NULL, 0, &value));
  }
  return nd4c_emit_cast(emitter, value, dtype, narrow);
}

/* Makes an add of the node, whose first operand is the product in the reduced dtype and whose second one is the addend
 * in float32. */
static nd4c_status split_sum(state *s, int32_t index, bool *done) {
  const nd4c_graph_node *node = &s->rewrite->graph->nodes[index];
  const nd4c_op_def *def = node->def;
  const nd4c_value addend = addend_of(node);
  nd4c_value *inputs = NULL, sum[2] = {ND4C_VALUE_NONE, addend};
  nd4c_attr *attrs = NULL;
  ND4C_TRY(nd4c_region_make(&s->retyping.region, def->info.attr_count, sizeof *attrs, &attrs));
  for (int32_t i = 0; i < def->info.attr_count; i++) {
    attrs[i] = (nd4c_attr){.name = def->info.attrs[i].name, .value = node->attrs[i]};
  }
  ND4C_TRY(nd4c_retyping_inputs(&s->retyping, index, true, &inputs));
  ND4C_TRY(nd4c_retyping_fits(&s->retyping, index, inputs, done));
  if (!*done) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit(&s->rewrite->emitter, def->info.op, inputs, ND4C_IN_linear_addend, attrs, def->info.attr_count,
                     &sum[0]));
  ND4C_TRY(nd4c_emit_cast(&s->rewrite->emitter, sum[0], ND4C_FLOAT32, &sum[0]));
  ND4C_TRY(nd4c_retyping_read(&s->retyping, addend, false, &sum[1]));
  return nd4c_rewrite_node(s->rewrite, index, ND4C_OP_add, sum, 2, NULL, NULL, done);
}

/* Whether the sum stays in float32: a norm reads it, or few nodes change and the addend is none of them. */
static bool adds_apart(const state *s, const nd4c_graph_node *node) {
  const nd4c_value addend = addend_of(node);
  return s->sums[node->outputs[0]] || (!s->rewrite->reduces_products && !s->retyping.changed[addend] &&
                                       s->rewrite->graph->values[addend].constant == NULL);
}

static nd4c_status visit(state *s, int32_t index) {
  const nd4c_graph_node *node = &s->rewrite->graph->nodes[index];
  bool fits = is_candidate(s, index);
  if (fits) {
    ND4C_TRY(nd4c_retyping_is_fast(&s->retyping, node, s->retyping.to, &fits));
  }
  if (fits && addend_of(node) >= 0 && adds_apart(s, node)) {
    ND4C_TRY(split_sum(s, index, &fits));
  } else if (fits) {
    ND4C_TRY(nd4c_retyping_change(&s->retyping, index, &fits));
  }
  return fits ? ND4C_OK : nd4c_retyping_keep(&s->retyping, index);
}

static nd4c_status rewrite_all(state *s) {
  nd4c_region *region = &s->retyping.region;
  const int32_t count = s->retyping.count;
  ND4C_TRY(nd4c_region_make(region, count, sizeof *s->leads, &s->leads));
  ND4C_TRY(nd4c_region_make(region, count, sizeof *s->scores, &s->scores));
  ND4C_TRY(nd4c_region_make(region, count, sizeof *s->sums, &s->sums));
  ND4C_TRY(nd4c_region_make(region, s->rewrite->existing, sizeof *s->roles, &s->roles));
  for (int32_t i = 0; i < s->rewrite->existing; i++) {
    ND4C_TRY(find_role(s, i));
  }
  find_leads(s);
  find_scores(s);
  find_sums(s);
  for (int32_t i = 0; i < s->rewrite->existing; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(visit(s, i));
  }
  return nd4c_retyping_outputs(&s->retyping);
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  if (rewrite->precision == ND4C_DTYPE_NONE) {
    return ND4C_OK;
  }
  state s = {.rewrite = rewrite};
  nd4c_status status = nd4c_retyping_begin(&s.retyping, rewrite, ND4C_FLOAT32, rewrite->precision);
  s.retyping.cast = emit_narrow;
  if (status == ND4C_OK) {
    status = rewrite_all(&s);
  }
  nd4c_retyping_end(&s.retyping);
  return status;
}

ND4C_PASS(LAYOUT, 105, reduced_precision, NUMBERS,
          "lets products and what lies between them compute in the dtype that options.precision asks for")
