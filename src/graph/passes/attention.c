/* Makes attention of softmax(scale q k^T + mask) v, composed of matmul, multiply, divide, add or where, and softmax. A
 * soft cap of the scores may stand before the mask, and casts to a wider dtype and back around softmax.
 * Transposes and reshapes around the pattern stay: they are views, which attention reads and writes in place. passes.c
 * runs it on optimised plans of one device, if that device has a kernel for the op that is faster than the reference.
 *
 * Two results differ from those of the single ops. A query whose keys are all left out by a mask of -infinity gives 0,
 * not NaN. An infinite value whose share is 0 does not count, where 0 times infinity is NaN. */
#include <math.h>
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "dispatch/choice.h"
#include "graph/match/moments.h"
#include "graph/passes.h"

enum { AXES = 4 }; /* of attention: batch, heads, places, features */

/* A view, of those that split the heads, is to read another value: what it reads now without its factors. */
typedef struct bypass {
  int32_t view; /* node; -1: none */
  nd4c_value source;
} bypass;

/* What is recognised so far. `keys` is k with its last axes exchanged, as the product reads it. */
typedef struct match {
  const nd4c_rewrite *rewrite;
  nd4c_value q, keys, v, mask;
  bool mask_leaves_out;  /* a boolean mask is true where a key takes no part */
  nd4c_value low;        /* the number that a key's score becomes instead, if that is not -infinity; else NONE */
  double scale, softcap; /* softcap: 0 for none */
  bypass bypasses[2];    /* of q and k */
  nd4c_value shared[2];  /* k and v [n, heads, 1, places, features], if the pattern repeats their heads; else NONE */
} match;

/* A score that becomes this number or one below takes a share of 0, unless all scores of the query do: no score in use
 * is large enough to change the number by being added to it. */
#define LOW_ENOUGH (-0x1p90)

/* -- recognising -------------------------------------------------------------------------------------------------- */

static bool same_shape(const nd4c_rewrite *rewrite, nd4c_value a, nd4c_value b) {
  const nd4c_graph_value *x = &rewrite->graph->values[a], *y = &rewrite->graph->values[b];
  return nd4c_shape_equal(x->rank, x->shape, y->rank, y->shape);
}

/* The producer of a value that only the pattern reads. */
static const nd4c_graph_node *inner(const match *found, nd4c_value value, nd4c_op op) {
  return nd4c_rewrite_is_single(found->rewrite, value) ? nd4c_rewrite_producer(found->rewrite, value, op) : NULL;
}

/* Reads a product with one number, or a quotient by one; false: the value is neither. */
static bool read_factor(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_value *source, double *factor) {
  const int32_t producer = value < 0 ? -1 : rewrite->graph->values[value].producer;
  const nd4c_graph_node *node = producer < 0 ? NULL : &rewrite->graph->nodes[producer];
  double number = 0;
  const nd4c_value x = node == NULL || node->def == NULL ? ND4C_VALUE_NONE : nd4c_factor_source(rewrite, node, &number);
  if (x < 0) {
    return false;
  }
  *source = x;
  *factor = number;
  return true;
}

/* The value without its factors, which go into the scale. `own`: only values that nothing else reads. */
static nd4c_value unscaled(match *found, nd4c_value value, bool own) {
  nd4c_value source;
  double factor;
  while ((!own || nd4c_rewrite_is_single(found->rewrite, value)) &&
         read_factor(found->rewrite, value, &source, &factor)) {
    found->scale *= factor;
    value = source;
  }
  return value;
}

/* Whether the pattern alone reads a value and all that lie between it and the source of its factors. */
static bool is_own_product(const match *found, nd4c_value value, nd4c_value source) {
  double factor;
  while (value != source) {
    if (!nd4c_rewrite_is_single(found->rewrite, value) || !read_factor(found->rewrite, value, &value, &factor)) {
      return false;
    }
  }
  return true;
}

/* The same for factors in front of the views behind `value`, which the product reads as `scaled`. The views then give
 * another result, so nothing but the pattern may read them or what is computed from them: otherwise the factors stay.
 */
static bypass unscaled_views(match *found, nd4c_value scaled, nd4c_value value) {
  if (!is_own_product(found, scaled, value)) {
    return (bypass){-1, ND4C_VALUE_NONE};
  }
  while (nd4c_rewrite_is_single(found->rewrite, value)) {
    const nd4c_graph_node *view = nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_transpose);
    view = view != NULL ? view : nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_reshape);
    if (view == NULL) {
      break;
    }
    nd4c_value source = unscaled(found, view->inputs[0], false);
    if (source != view->inputs[0]) {
      return (bypass){(int32_t)(view - found->rewrite->graph->nodes), source};
    }
    value = source;
  }
  return (bypass){-1, ND4C_VALUE_NONE};
}

/* scale q k^T */
static bool read_product(match *found, nd4c_value value) {
  found->scale = 1;
  const nd4c_graph_node *product = inner(found, unscaled(found, value, true), ND4C_OP_matmul);
  if (product == NULL) {
    return false;
  }
  found->q = unscaled(found, product->inputs[0], false);
  found->keys = unscaled(found, product->inputs[1], false);
  found->bypasses[0] = unscaled_views(found, product->inputs[0], found->q);
  found->bypasses[1] = unscaled_views(found, product->inputs[1], found->keys);
  return isfinite(found->scale) && found->scale != 0; /* attention's scale 0 stands for its own */
}

/* The same, capped: c tanh(z / c) of scores z. Any other number in place of 1 / c belongs to the scale. */
static bool read_capped(match *found, nd4c_value value) {
  nd4c_value source, scores;
  double cap = 0, factor = 1;
  found->softcap = 0;
  if (!nd4c_rewrite_is_single(found->rewrite, value) || !read_factor(found->rewrite, value, &source, &cap)) {
    return read_product(found, value);
  }
  const nd4c_graph_node *tanh = inner(found, source, ND4C_OP_tanh);
  if (tanh == NULL || !(cap > 0) || isinf(cap)) {
    return read_product(found, value);
  }
  scores = tanh->inputs[0];
  if (nd4c_rewrite_is_single(found->rewrite, scores)) {
    (void)read_factor(found->rewrite, scores, &scores, &factor);
  }
  const bool fits = read_product(found, scores);
  found->softcap = cap;
  found->scale *= factor * cap;
  return fits && isfinite(found->scale) && found->scale != 0;
}

/* Scores where a condition holds and a very low number elsewhere, or the opposite. */
static bool read_where(match *found, const nd4c_graph_node *where, nd4c_value value) {
  enum { CONDITION, SIDES };
  for (int32_t side = 0; side < 2; side++) {
    nd4c_value scores = where->inputs[SIDES + side], low = where->inputs[SIDES + 1 - side];
    double number = 0;
    if (nd4c_constant_scalar(found->rewrite, low, &number) && number <= LOW_ENOUGH &&
        same_shape(found->rewrite, scores, value)) {
      found->mask = where->inputs[CONDITION];
      found->mask_leaves_out = side == 1;
      found->low = isinf(number) ? ND4C_VALUE_NONE : low;
      return read_capped(found, scores);
    }
  }
  return false;
}

static bool read_scores(match *found, nd4c_value value) {
  found->mask = found->low = ND4C_VALUE_NONE;
  if (read_capped(found, value)) {
    return true;
  }
  const nd4c_graph_node *sum = inner(found, value, ND4C_OP_add), *where = inner(found, value, ND4C_OP_where);
  for (int32_t i = 0; sum != NULL && i < 2; i++) {
    if (same_shape(found->rewrite, sum->inputs[i], value) && read_capped(found, sum->inputs[i])) {
      found->mask = sum->inputs[1 - i];
      return true;
    }
  }
  return where != NULL && read_where(found, where, value);
}

/* The value of which this one is the transpose of matrices; NONE if it is not one. */
static nd4c_value exchanged_source(const match *found, nd4c_value value) {
  const nd4c_graph_node *node = nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_transpose);
  const nd4c_attr_value *axes = node == NULL ? NULL : &node->attrs[ND4C_ATTR_transpose_axes];
  if (node == NULL || axes->count != AXES) {
    return ND4C_VALUE_NONE;
  }
  static const int32_t order[AXES] = {0, 1, 3, 2};
  for (int32_t i = 0; i < AXES; i++) {
    if (nd4c_axis_index(axes->as.ints[i], AXES) != order[i]) {
      return ND4C_VALUE_NONE;
    }
  }
  return node->inputs[0];
}

/* The value that this one has several times beside each other, by broadcast_to, tile or concat; else NONE. */
static nd4c_value repeated_source(const match *found, nd4c_value value) {
  const nd4c_graph_node *node = nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_broadcast_to);
  node = node != NULL ? node : nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_tile);
  if (node != NULL) {
    return node->inputs[0];
  }
  node = nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_concat);
  for (int32_t i = 1; node != NULL && i < node->input_count; i++) {
    node = node->inputs[i] == node->inputs[0] ? node : NULL;
  }
  return node == NULL ? ND4C_VALUE_NONE : node->inputs[0];
}

/* The value [n, heads, 1, places, features] whose heads this one has, each several times; NONE if there is none. */
static nd4c_value shared_source(const match *found, nd4c_value value) {
  const nd4c_graph_value *values = found->rewrite->graph->values;
  const nd4c_graph_node *joined = nd4c_rewrite_producer(found->rewrite, value, ND4C_OP_reshape);
  const nd4c_value repeated = joined == NULL ? ND4C_VALUE_NONE : repeated_source(found, joined->inputs[0]);
  if (repeated < 0) {
    return ND4C_VALUE_NONE;
  }
  const nd4c_graph_value *all = &values[value], *wide = &values[joined->inputs[0]];
  const nd4c_graph_value *source = &values[repeated];
  if (all->rank != AXES || wide->rank != AXES + 1 || source->rank != AXES + 1 || source->shape[2] != 1) {
    return ND4C_VALUE_NONE;
  }
  if (nd4c_extent_is_symbolic(source->shape[1]) || nd4c_extent_is_symbolic(wide->shape[2])) {
    return ND4C_VALUE_NONE;
  }
  const int64_t given[] = {source->shape[0], source->shape[1], wide->shape[2], source->shape[3], source->shape[4]};
  const int64_t joint[] = {given[0], given[1] * given[2], given[3], given[4]};
  bool fits =
      nd4c_shape_equal(AXES + 1, given, AXES + 1, wide->shape) && nd4c_shape_equal(AXES, joint, AXES, all->shape);
  return fits ? repeated : ND4C_VALUE_NONE;
}

/* attention itself shares heads of k and v among those of q. */
static void find_shared(match *found) {
  nd4c_value k = exchanged_source(found, found->keys);
  found->shared[0] = k < 0 ? ND4C_VALUE_NONE : shared_source(found, k);
  found->shared[1] = shared_source(found, found->v);
  if (found->shared[0] < 0 || found->shared[1] < 0) {
    found->shared[0] = found->shared[1] = ND4C_VALUE_NONE;
  }
}

/* What gives shares of float32 that are only rounded to 16 bits: the casts of a model around its softmax, whose
 * products the pass widen lets compute in float32. */
static nd4c_value before_rounding(const match *found, nd4c_value shares) {
  const nd4c_graph_value *values = found->rewrite->graph->values;
  const nd4c_graph_node *wide = inner(found, shares, ND4C_OP_cast);
  const nd4c_graph_node *narrow = wide == NULL ? NULL : inner(found, wide->inputs[0], ND4C_OP_cast);
  const bool rounds = narrow != NULL && nd4c_dtype_size(values[wide->inputs[0]].dtype) == 2 &&
                      values[shares].dtype == ND4C_FLOAT32 && values[narrow->inputs[0]].dtype == ND4C_FLOAT32;
  return rounds ? narrow->inputs[0] : shares;
}

/* The softmax of scores that gives the shares, which may be computed in a wider dtype; *scores are in that of the
 * shares. NULL: it is none. */
static const nd4c_graph_node *find_softmax(const match *found, nd4c_value given, nd4c_value *scores) {
  const nd4c_value shares = before_rounding(found, given);
  const nd4c_graph_node *softmax = inner(found, shares, ND4C_OP_softmax);
  const nd4c_graph_node *narrow = softmax == NULL ? inner(found, shares, ND4C_OP_cast) : NULL;
  if (narrow == NULL) {
    *scores = softmax == NULL ? ND4C_VALUE_NONE : softmax->inputs[0];
    return softmax;
  }
  const nd4c_graph_value *values = found->rewrite->graph->values;
  softmax = inner(found, narrow->inputs[0], ND4C_OP_softmax);
  const nd4c_graph_node *wide = softmax == NULL ? NULL : inner(found, softmax->inputs[0], ND4C_OP_cast);
  const nd4c_dtype dtype = values[shares].dtype;
  const bool fits = wide != NULL && values[wide->inputs[0]].dtype == dtype && nd4c_dtype_size(dtype) == 2 &&
                    values[wide->outputs[0]].dtype == ND4C_FLOAT32;
  *scores = fits ? wide->inputs[0] : ND4C_VALUE_NONE;
  return fits ? softmax : NULL;
}

static bool recognise(match *found, const nd4c_graph_node *product) {
  nd4c_value scores;
  const nd4c_graph_node *softmax = find_softmax(found, product->inputs[0], &scores);
  if (softmax == NULL) {
    return false;
  }
  int32_t rank = found->rewrite->graph->values[softmax->inputs[0]].rank;
  found->v = product->inputs[1];
  return nd4c_axis_index(softmax->attrs[ND4C_ATTR_softmax_axis].as.i, rank) == rank - 1 && read_scores(found, scores);
}

/* -- fitting ------------------------------------------------------------------------------------------------------ */

/* Shapes of q, k, v and y with four axes. */
typedef struct operands {
  int64_t shapes[AXES][AXES];
} operands;

/* The value with four axes: with extents 1 before its own. `turned`: the last two are exchanged. */
static void widen(const nd4c_graph_value *value, bool turned, int64_t *shape) {
  for (int32_t i = 0; i < AXES; i++) {
    int32_t axis = i - AXES + value->rank;
    shape[i] = axis < 0 ? 1 : value->shape[axis];
  }
  if (turned) {
    int64_t places = shape[AXES - 1];
    shape[AXES - 1] = shape[AXES - 2];
    shape[AXES - 2] = places;
  }
}

static void describe(const match *found, const nd4c_value *values, operands *to) {
  const nd4c_graph *graph = found->rewrite->graph;
  for (int32_t i = 0; i < AXES; i++) {
    nd4c_value shared = i == 1 || i == 2 ? found->shared[i - 1] : ND4C_VALUE_NONE;
    widen(&graph->values[values[i]], i == 1, to->shapes[i]);
    to->shapes[i][1] = shared >= 0 ? graph->values[shared].shape[1] : to->shapes[i][1];
  }
}

/* True if attention computes what the single ops do: batches are equal, and heads of k and v are one, q's, or shared.
 */
static bool fits(const match *found, const nd4c_value *values, const operands *of) {
  const nd4c_graph *graph = found->rewrite->graph;
  const nd4c_graph_value *y = &graph->values[values[3]];
  const int64_t *q = of->shapes[0], *k = of->shapes[1], *v = of->shapes[2], *last = of->shapes[3];
  bool wanted = y->dtype == ND4C_FLOAT32 || y->dtype == ND4C_FLOAT64 || y->dtype == ND4C_FLOAT16;
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_graph_value *x = &graph->values[values[i]];
    wanted = wanted && x->dtype == y->dtype && x->rank == y->rank;
  }
  const nd4c_graph_value *mask = found->mask < 0 ? NULL : &graph->values[found->mask];
  return wanted && y->rank >= 2 && y->rank <= AXES && (mask == NULL || mask->rank <= y->rank) && q[0] == last[0] &&
         k[0] == last[0] && v[0] == last[0] && q[1] == last[1] && k[1] == v[1] && q[1] >= 0 && k[1] >= 0 &&
         (k[1] == 1 || k[1] == q[1] || (found->shared[0] >= 0 && k[1] > 0 && q[1] % k[1] == 0));
}

/* What kernels are asked about: numbers in place of extents. */
typedef struct question {
  int64_t shapes[AXES][AXES], strides[AXES][AXES], mask_shape[ND4C_MAX_RANK], mask_strides[ND4C_MAX_RANK];
  nd4c_tensor inputs[AXES], output;
} question;

/* The value as an operand with these four axes. */
static void ask_about(const nd4c_graph *graph, nd4c_value value, const int64_t *shape, int64_t *least, int64_t *strides,
                      nd4c_tensor *tensor) {
  nd4c_graph_describe(graph, value, tensor);
  tensor->size = 1;
  for (int32_t i = 0; i < AXES; i++) {
    least[i] = nd4c_graph_least(graph, shape[i]);
    tensor->size *= least[i];
  }
  nd4c_shape_strides(AXES, least, strides);
  tensor->rank = AXES;
  tensor->shape = least;
  tensor->strides = strides;
}

/* True if the device computes attention by another kernel than the reference's. */
static bool is_fast(const match *found, const nd4c_value *values, const operands *of, const nd4c_attr_value *attrs) {
  enum { Q, K, V, Y, MASK = Y };
  const nd4c_context *context = found->rewrite->context;
  const nd4c_graph *graph = found->rewrite->graph;
  question asked;
  for (int32_t i = Q; i <= Y; i++) {
    ask_about(graph, values[i], of->shapes[i], asked.shapes[i], asked.strides[i],
              i == Y ? &asked.output : &asked.inputs[i]);
  }
  if (found->mask >= 0) {
    nd4c_graph_describe_least(graph, found->mask, asked.mask_shape, asked.mask_strides, &asked.inputs[MASK]);
    asked.inputs[MASK].dtype = found->low >= 0 ? asked.inputs[Q].dtype : asked.inputs[MASK].dtype;
  }
  const nd4c_op_def *def = nd4c_op_get_def(ND4C_OP_attention);
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                          .op = &def->info,
                          .input_count = found->mask >= 0 ? MASK + 1 : MASK,
                          .output_count = 1,
                          .inputs = asked.inputs,
                          .outputs = &asked.output,
                          .attrs = attrs,
                          .stream = context->stream,
                          .device = context->device->handle,
                          .width = context->width};
  return nd4c_choice_is_fast(context, &call);
}

/* -- rewriting ---------------------------------------------------------------------------------------------------- */

/* A mask that says which keys take part, or that is added. */
static nd4c_status prepare_mask(nd4c_emitter *emitter, const match *found, nd4c_value *mask) {
  *mask = found->mask;
  if (found->low >= 0) {
    nd4c_value zero;
    ND4C_TRY(nd4c_emit_scalar_like(emitter, found->low, 0, &zero));
    return nd4c_emit_where(emitter, found->mask, found->mask_leaves_out ? found->low : zero,
                           found->mask_leaves_out ? zero : found->low, mask);
  }
  return found->mask_leaves_out ? nd4c_emit_unary(emitter, ND4C_OP_logical_not, found->mask, mask) : ND4C_OK;
}

/* The values that attention reads: with four axes, and k with its features last. */
static nd4c_status prepare(nd4c_rewrite *rewrite, const match *found, const operands *of, int32_t rank,
                           nd4c_value *inputs) {
  nd4c_emitter *emitter = &rewrite->emitter;
  int64_t order[AXES];
  for (int32_t i = 0; i < rank; i++) {
    order[i] = i < rank - 2 ? i : rank - 1 - (i - (rank - 2));
  }
  inputs[0] = found->q;
  inputs[2] = found->v;
  if (found->shared[0] >= 0) {
    ND4C_TRY(nd4c_emit_reshape(emitter, found->shared[0], AXES, of->shapes[1], &inputs[1]));
    ND4C_TRY(nd4c_emit_reshape(emitter, found->shared[1], AXES, of->shapes[2], &inputs[2]));
  } else {
    ND4C_TRY(nd4c_emit_axes(emitter, ND4C_OP_transpose, found->keys, rank, order, &inputs[1]));
  }
  for (int32_t i = 0; rank < AXES && i < 3; i++) {
    ND4C_TRY(nd4c_emit_reshape(emitter, inputs[i], AXES, of->shapes[i], &inputs[i]));
  }
  return prepare_mask(emitter, found, &inputs[3]);
}

static nd4c_status rewrite_product(nd4c_rewrite *rewrite, int32_t index, const match *found, const operands *of,
                                   const nd4c_attr_value *attrs, bool *done) {
  const nd4c_graph_value *y = &rewrite->graph->values[rewrite->graph->nodes[index].outputs[0]];
  const char *fused = found->mask < 0 ? "matmul + softmax + matmul" : "matmul + mask + softmax + matmul";
  int32_t rank = y->rank, count = found->mask < 0 ? 3 : 4;
  nd4c_value inputs[4], heads;
  *done = false;
  ND4C_TRY(prepare(rewrite, found, of, rank, inputs));
  if (rank == AXES) {
    return nd4c_rewrite_node(rewrite, index, ND4C_OP_attention, inputs, count, attrs, fused, done);
  }
  const nd4c_attr scale[] = {nd4c_attr_of_float("scale", found->scale), nd4c_attr_of_float("softcap", found->softcap)};
  nd4c_attr_value shape[ND4C_REWRITE_ATTRS];
  ND4C_TRY(nd4c_emit(&rewrite->emitter, ND4C_OP_attention, inputs, count, scale, 2, &heads));
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_reshape, shape));
  y = &rewrite->graph->values[rewrite->graph->nodes[index].outputs[0]];
  shape[ND4C_ATTR_reshape_shape].as.ints = y->shape;
  shape[ND4C_ATTR_reshape_shape].count = rank;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_reshape, &heads, 1, shape, NULL, done);
}

static nd4c_status fuse(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *product = &rewrite->graph->nodes[index];
  match found = {.rewrite = rewrite, .mask = ND4C_VALUE_NONE};
  operands of;
  if (!recognise(&found, product)) {
    return ND4C_OK;
  }
  find_shared(&found);
  const nd4c_value values[AXES] = {found.q, found.keys, found.v, product->outputs[0]};
  nd4c_attr_value attrs[ND4C_REWRITE_ATTRS];
  ND4C_TRY(nd4c_rewrite_presets(ND4C_OP_attention, attrs));
  attrs[ND4C_ATTR_attention_scale].as.f = found.scale;
  attrs[ND4C_ATTR_attention_softcap].as.f = found.softcap;
  describe(&found, values, &of);
  bool done = false;
  if (fits(&found, values, &of) && is_fast(&found, values, &of, attrs)) {
    ND4C_TRY(rewrite_product(rewrite, index, &found, &of, attrs, &done));
  }
  for (int32_t i = 0; done && i < 2; i++) {
    const bypass *way = &found.bypasses[i];
    if (way->view >= 0) {
      nd4c_rewrite_input(rewrite, &rewrite->graph->nodes[way->view], 0, way->source);
    }
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  for (int32_t i = 0; i < rewrite->existing; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[i];
    if (node->def != NULL && node->def->info.op == ND4C_OP_matmul) {
      ND4C_TRY(fuse(rewrite, i));
    }
  }
  return ND4C_OK;
}

ND4C_PASS(RECOGNIZE, 52, attention, DEVICE,
          "makes attention of matmul, softmax and matmul; fully masked queries give 0")
