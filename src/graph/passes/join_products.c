/* Computes products of one x with several constant matrices at once: x with the matrices beside each other, of which
 * the results are views. Queries, keys and values of attention, and the gate and the rest of a gated layer, are such
 * products, also those of bytes (linear_int8). It pays where x has few rows: a product then costs little more than to
 * start it and to read its weights, and one large product is divided among threads once. Measured with three products
 * on two threads of a Zen 5: 1.2 to 1.7 times as fast for 1 to 16 rows and 128 x 128 to 256 x 256 weights, 1.05 to 1.15
 * times for 512 x 512 and 1024 x 1024, 1.02 for 64 rows; products of bytes 1.1 to 1.5 times for one row of 128 to 1024
 * features; slower below 128 x 128. passes.c runs it on optimised plans of one device.
 *
 * Left alone are products whose weights another node reads, since these would be there twice, and those before an
 * activation or an addition that their kernel computes on the way. */
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/threads/parallel.h"
#include "device/device.h"
#include "device/storage/deferred.h"
#include "device/stream/cancellation.h"
#include "graph/ir/cost.h"
#include "graph/match/products.h"
#include "graph/passes.h"

enum { MOST_ROWS = 64, LEAST_WEIGHTS = 1 << 14, MOST_PRODUCTS = 8, NONE = -1, PIECE = 1 << 18 };

/* -- weights beside each other --------------------------------------------------------------------------------------
 */

/* Matrices with as many rows each, whose rows are joined. One row: the matrices themselves lie behind each other. */
typedef struct recipe {
  int32_t count;
  int64_t rows;
  nd4c_array *parts[MOST_PRODUCTS]; /* one reference each */
  size_t bytes[MOST_PRODUCTS];      /* of a row */
} recipe;

static void release(void *user) {
  recipe *r = user;
  for (int32_t i = 0; i < r->count; i++) {
    nd4c_array_release(r->parts[i]);
  }
  nd4c_deallocate(r);
}

/* The rows of one part between those of the others. */
typedef struct placing {
  char *to;
  const char *from;
  size_t whole, bytes; /* of a row of all parts, and of this one */
} placing;

static void place_rows(void *user, int64_t begin, int64_t end, int32_t worker) {
  const placing *p = user;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    memcpy(p->to + (size_t)row * p->whole, p->from + (size_t)row * p->bytes, p->bytes);
  }
}

static nd4c_status fill(void *user, void *to) {
  const recipe *r = user;
  size_t whole = 0, at = 0;
  for (int32_t i = 0; i < r->count; i++) {
    whole += r->bytes[i];
  }
  for (int32_t i = 0; i < r->count; i++) {
    const nd4c_array *part = r->parts[i];
    const void *bytes = NULL;
    void *made = NULL;
    ND4C_TRY(nd4c_deferred_read_bytes(part->storage, &bytes, &made));
    const char *from = (const char *)bytes + part->offset * nd4c_dtype_size(part->dtype);
    if (r->rows == 1) {
      nd4c_parallel_copy((char *)to + at, from, (int64_t)r->bytes[i]);
    } else {
      placing p = {(char *)to + at, from, whole, r->bytes[i]};
      const int64_t grain = 1 + (int64_t)(PIECE / (r->bytes[i] + 1));
      nd4c_parallel_for(r->rows, grain, nd4c_parallel_width(), place_rows, &p);
    }
    at += r->bytes[i];
    nd4c_deallocate(made);
  }
  return ND4C_OK;
}

/* Whether large weights can be joined when they are packed, so that the originals stay their only other copy. */
static bool can_defer(const nd4c_rewrite *rewrite, const nd4c_array *const *parts, int32_t count) {
  nd4c_device *host = NULL;
  int64_t bytes = 0;
  bool fits = nd4c_device_host(&host) == ND4C_OK && rewrite->context->device == host;
  for (int32_t i = 0; i < count && fits; i++) {
    bytes += nd4c_dtype_bytes(parts[i]->dtype, parts[i]->size);
    fits = nd4c_array_is_contiguous(parts[i]) && nd4c_deferred_can_read(parts[i]->storage);
  }
  return fits && bytes >= ND4C_DEFERRED_LEAST;
}

static nd4c_status defer(const nd4c_array *const *parts, int32_t count, int64_t axis, nd4c_array **joined) {
  recipe *r = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *r, "joined weights", &r));
  *r = (recipe){.rows = axis == 0 ? 1 : parts[0]->shape[0]};
  int64_t shape[] = {parts[0]->shape[0], parts[0]->shape[1]};
  shape[axis] = 0;
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    const nd4c_array *part = parts[i];
    status = nd4c_array_view(part, part->rank, part->shape, part->strides, part->offset, &r->parts[i]);
    r->count += status == ND4C_OK;
    r->bytes[i] = (size_t)(part->size / r->rows * nd4c_dtype_size(part->dtype));
    shape[axis] += part->shape[axis];
  }
  const nd4c_deferral deferral = {.fill = fill, .release = release, .user = r};
  status = status == ND4C_OK ? nd4c_deferred_array(parts[0]->dtype, 2, shape, &deferral, joined) : status;
  if (status != ND4C_OK) {
    release(r);
  }
  return status;
}

/* A new constant of matrices beside each other along an axis. */
static nd4c_status join(nd4c_rewrite *rewrite, const nd4c_value *values, int32_t count, int64_t axis,
                        nd4c_value *joined) {
  const nd4c_array *parts[MOST_PRODUCTS];
  nd4c_array *array = NULL;
  for (int32_t i = 0; i < count; i++) {
    parts[i] = rewrite->graph->values[values[i]].constant;
  }
  if (can_defer(rewrite, parts, count)) {
    ND4C_TRY(defer(parts, count, axis, &array));
  } else {
    const nd4c_attr_value attr = {.kind = ND4C_ATTR_INT, .as.i = axis};
    ND4C_TRY(nd4c_op_call_positional(rewrite->context, ND4C_OP_concat, parts, count, &attr, &array));
  }
  return nd4c_rewrite_constant(rewrite, array, joined);
}

/* -- products of one x ----------------------------------------------------------------------------------------------
 */

/* The products of each value, in the order of the graph. */
typedef struct finder {
  nd4c_rewrite *rewrite;
  nd4c_region region;
  int32_t *first, *last; /* by value */
  int32_t *next;         /* by node */
} finder;

/* The only node that reads a value; NULL: there are several, or none. */
static const nd4c_graph_node *only_reader(const finder *of, nd4c_value value, const int32_t *readers) {
  return nd4c_rewrite_is_single(of->rewrite, value) && readers[value] >= 0 ? &of->rewrite->graph->nodes[readers[value]]
                                                                           : NULL;
}

/* Whether the kernel of the product computes its reader on the way. What a chain multiplies next does not count. */
static bool takes_reader(const finder *of, nd4c_value y, const int32_t *readers) {
  const nd4c_graph_node *reader = only_reader(of, y, readers);
  if (reader == NULL) {
    return false;
  }
  switch (reader->def->info.op) {
    case ND4C_OP_add:
      return true;
    case ND4C_OP_relu:
    case ND4C_OP_gelu:
    case ND4C_OP_sigmoid:
    case ND4C_OP_tanh:
    case ND4C_OP_swish:
    case ND4C_OP_hard_swish:
    case ND4C_OP_clip:
      reader = only_reader(of, reader->outputs[0], readers);
      return reader == NULL || reader->def->info.op != ND4C_OP_multiply;
    default:
      return false;
  }
}

/* Whether w is [columns, features]. */
static bool is_turned(const nd4c_graph_node *node) {
  return node->def->info.op == ND4C_OP_linear_int8 ||
         (node->def->info.op == ND4C_OP_linear && node->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0);
}

/* The inputs that have a number for each column, or one for all: biases, and what bytes of weights stand for. They are
 * constants. Ends with NONE. */
static const int32_t *column_inputs(nd4c_op op) {
  static const int32_t of_linear[] = {ND4C_IN_linear_bias, NONE};
  static const int32_t of_bytes[] = {ND4C_IN_linear_int8_w_scale, ND4C_IN_linear_int8_w_zero_point,
                                     ND4C_IN_linear_int8_bias, NONE};
  static const int32_t none[] = {NONE};
  return op == ND4C_OP_linear ? of_linear : op == ND4C_OP_linear_int8 ? of_bytes : none;
}

static bool is_output(const nd4c_graph *graph, nd4c_value value) {
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    if (graph->outputs.items[i].value == value) {
      return true;
    }
  }
  return false;
}

static bool has_plain_columns(const nd4c_graph *graph, const nd4c_graph_node *node) {
  bool plain = true;
  for (const int32_t *at = column_inputs(node->def->info.op); *at != NONE && plain; at++) {
    const nd4c_value value = nd4c_node_input(node, *at);
    plain = value < 0 || (graph->values[value].constant != NULL && graph->values[value].rank <= 1);
  }
  return plain;
}

/* Whether the node is a product of one of the three ops, without an activation or an addend. */
static bool is_plain_product(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  const nd4c_graph_value *values = rewrite->graph->values;
  switch (node->def->info.op) {
    case ND4C_OP_linear_int8:
      return values[node->inputs[1]].constant != NULL && values[node->inputs[1]].rank == 2;
    case ND4C_OP_linear:
      return nd4c_is_linear_product(rewrite, node) && nd4c_node_input(node, ND4C_IN_linear_addend) < 0 &&
             node->attrs[ND4C_ATTR_linear_activation].as.i == ND4C_ACTIVATION_NONE &&
             values[node->inputs[1]].dtype == values[node->inputs[0]].dtype;
    case ND4C_OP_matmul:
      return nd4c_is_linear_product(rewrite, node) && values[node->inputs[1]].dtype == values[node->inputs[0]].dtype;
    default:
      return false;
  }
}

/* Whether the node is a product that may be joined with others. */
static bool is_candidate(const finder *of, const nd4c_graph_node *node, const int32_t *readers) {
  const nd4c_graph *graph = of->rewrite->graph;
  return node->def != NULL && is_plain_product(of->rewrite, node) && has_plain_columns(graph, node) &&
         graph->values[node->inputs[1]].size >= LEAST_WEIGHTS && nd4c_rewrite_is_single(of->rewrite, node->inputs[1]) &&
         !is_output(graph, node->outputs[0]) && !takes_reader(of, node->outputs[0], readers);
}

/* Whether the input is left out by both, or by neither and of one dtype. */
static bool is_alike(const nd4c_graph *graph, nd4c_value a, nd4c_value b) {
  return a < 0 || b < 0 ? a < 0 && b < 0 : graph->values[a].dtype == graph->values[b].dtype;
}

/* Whether the two can be one product. */
static bool are_alike(const nd4c_graph *graph, const nd4c_graph_node *a, const nd4c_graph_node *b) {
  bool alike = a->def == b->def && is_turned(a) == is_turned(b) && is_alike(graph, a->inputs[1], b->inputs[1]);
  for (const int32_t *at = column_inputs(a->def->info.op); *at != NONE && alike; at++) {
    alike = is_alike(graph, nd4c_node_input(a, *at), nd4c_node_input(b, *at));
  }
  return alike && (a->def->info.op != ND4C_OP_linear_int8 ||
                   (a->inputs[ND4C_IN_linear_int8_x_scale] == b->inputs[ND4C_IN_linear_int8_x_scale] &&
                    nd4c_node_input(a, ND4C_IN_linear_int8_x_zero_point) ==
                        nd4c_node_input(b, ND4C_IN_linear_int8_x_zero_point)));
}

/* Whether x has so few rows that joining pays. */
static bool has_few_rows(const nd4c_rewrite *rewrite, nd4c_value x) {
  const nd4c_graph_value *value = &rewrite->graph->values[x];
  double rows = 1;
  for (int32_t i = 0; i < value->rank - 1; i++) {
    rows *= nd4c_extents_usual(rewrite->graph->extents, value->shape[i]);
  }
  return rows <= MOST_ROWS;
}

/* -- joining --------------------------------------------------------------------------------------------------------
 */

typedef struct group {
  int32_t nodes[MOST_PRODUCTS], count;
} group;

/* Columns of a result. */
static int64_t columns_of(const nd4c_graph *graph, const nd4c_graph_node *node) {
  const nd4c_graph_value *y = &graph->values[node->outputs[0]];
  return y->shape[y->rank - 1];
}

/* A constant's numbers as one for each column; one reference. */
static nd4c_status spread(const nd4c_rewrite *rewrite, const nd4c_array *constant, int64_t columns,
                          nd4c_array **numbers) {
  const nd4c_attr_value shape = {.kind = ND4C_ATTR_INTS, .count = 1, .as.ints = &columns};
  return nd4c_op_call_positional(rewrite->context, ND4C_OP_broadcast_to, &constant, 1, &shape, numbers);
}

/* The numbers for all columns as a new constant; one number that all products have stays. */
static nd4c_status join_columns(nd4c_rewrite *rewrite, const group *of, int32_t input, nd4c_value *joined) {
  nd4c_array *parts[MOST_PRODUCTS] = {NULL}, *whole = NULL;
  bool single = rewrite->graph->values[*joined].size == 1;
  for (int32_t i = 0; i < of->count; i++) {
    single = single && rewrite->graph->nodes[of->nodes[i]].inputs[input] == *joined;
  }
  if (single) {
    return ND4C_OK;
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < of->count && status == ND4C_OK; i++) {
    const nd4c_graph_node *node = &rewrite->graph->nodes[of->nodes[i]];
    status = spread(rewrite, rewrite->graph->values[node->inputs[input]].constant, columns_of(rewrite->graph, node),
                    &parts[i]);
  }
  if (status == ND4C_OK) {
    const nd4c_attr_value axis = {.kind = ND4C_ATTR_INT, .as.i = 0};
    status = nd4c_op_call_positional(rewrite->context, ND4C_OP_concat, (const nd4c_array *const *)parts, of->count,
                                     &axis, &whole);
  }
  for (int32_t i = 0; i < of->count; i++) {
    nd4c_array_release(parts[i]);
  }
  return status == ND4C_OK ? nd4c_rewrite_constant(rewrite, whole, joined) : status;
}

static nd4c_status emit_joined(nd4c_rewrite *rewrite, const group *of, nd4c_value *y) {
  const nd4c_graph_node first = rewrite->graph->nodes[of->nodes[0]]; /* a copy: emitting moves the nodes */
  const bool linear = first.def->info.op == ND4C_OP_linear, turned = is_turned(&first);
  nd4c_value weights[MOST_PRODUCTS], inputs[ND4C_IN_linear_int8_count];
  for (int32_t i = 0; i < ND4C_IN_linear_int8_count; i++) {
    inputs[i] = nd4c_node_input(&first, i);
  }
  for (int32_t i = 0; i < of->count; i++) {
    weights[i] = rewrite->graph->nodes[of->nodes[i]].inputs[1];
  }
  ND4C_TRY(join(rewrite, weights, of->count, turned ? 0 : 1, &inputs[1]));
  for (const int32_t *at = column_inputs(first.def->info.op); *at != NONE; at++) {
    if (inputs[*at] >= 0) {
      ND4C_TRY(join_columns(rewrite, of, *at, &inputs[*at]));
    }
  }
  const nd4c_attr attr = nd4c_attr_of_bool("transpose_w", turned);
  return nd4c_emit(&rewrite->emitter, first.def->info.op, inputs, first.input_count, &attr, linear ? 1 : 0, y);
}

/* Lets the readers of each product read its part of the joined one. */
static nd4c_status replace(nd4c_rewrite *rewrite, const group *of) {
  const int32_t until = rewrite->graph->node_count, changes = rewrite->changes;
  nd4c_value y, part;
  int64_t at = 0;
  ND4C_TRY(emit_joined(rewrite, of, &y));
  for (int32_t i = 0; i < of->count; i++) {
    const nd4c_value old = rewrite->graph->nodes[of->nodes[i]].outputs[0];
    const int64_t columns = columns_of(rewrite->graph, &rewrite->graph->nodes[of->nodes[i]]);
    ND4C_TRY(nd4c_emit_slice(&rewrite->emitter, y, -1, at, at + columns, 1, &part));
    ND4C_TRY(nd4c_rewrite_replace(rewrite, old, part, until));
    at += columns;
  }
  rewrite->changes = changes + 1;
  return ND4C_OK;
}

/* Joins the products of x that are like the first one that is not joined yet. */
static nd4c_status visit(finder *of, nd4c_value x) {
  const nd4c_graph *graph = of->rewrite->graph;
  while (of->first[x] != NONE) {
    group found = {.nodes = {of->first[x]}, .count = 1};
    int32_t *link = &of->next[of->first[x]];
    of->first[x] = *link;
    link = &of->first[x];
    while (*link != NONE && found.count < MOST_PRODUCTS) {
      if (are_alike(graph, &graph->nodes[found.nodes[0]], &graph->nodes[*link])) {
        found.nodes[found.count++] = *link;
        *link = of->next[*link];
      } else {
        link = &of->next[*link];
      }
    }
    if (found.count > 1) {
      ND4C_TRY(replace(of->rewrite, &found));
    }
  }
  return ND4C_OK;
}

static nd4c_status list_products(finder *of) {
  const nd4c_graph *graph = of->rewrite->graph;
  int32_t *readers = NULL;
  ND4C_TRY(nd4c_region_make(&of->region, graph->value_count, sizeof *readers, &readers));
  for (int32_t i = 0; i < graph->value_count; i++) {
    readers[i] = of->first[i] = of->last[i] = NONE;
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      if (graph->nodes[i].inputs[k] >= 0) {
        readers[graph->nodes[i].inputs[k]] = i;
      }
    }
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    of->next[i] = NONE;
    if (is_candidate(of, &graph->nodes[i], readers) && has_few_rows(of->rewrite, graph->nodes[i].inputs[0])) {
      const nd4c_value x = graph->nodes[i].inputs[0];
      *(of->first[x] == NONE ? &of->first[x] : &of->next[of->last[x]]) = i;
      of->last[x] = i;
    }
  }
  return ND4C_OK;
}

static nd4c_status find(finder *of) {
  const int32_t values = of->rewrite->graph->value_count, nodes = of->rewrite->graph->node_count;
  ND4C_TRY(nd4c_region_make(&of->region, values, sizeof *of->first, &of->first));
  ND4C_TRY(nd4c_region_make(&of->region, values, sizeof *of->last, &of->last));
  ND4C_TRY(nd4c_region_make(&of->region, (int64_t)nodes + 1, sizeof *of->next, &of->next));
  ND4C_TRY(list_products(of));
  for (nd4c_value x = 0; x < values; x++) {
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(visit(of, x));
  }
  return ND4C_OK;
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  finder of = {.rewrite = rewrite};
  const nd4c_status status = find(&of);
  nd4c_region_free(&of.region);
  return status;
}

ND4C_PASS(FUSE, 75, join_products, DEVICE, "computes products of few rows with several constant matrices at once")
