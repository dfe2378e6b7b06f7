/* Computes cheap values again instead of keeping them: where the values between nodes take more memory than the plan's
 * options allow (arena_bytes), a value that is kept over the dearest step for readers behind it is computed a second
 * time in front of these. Only element-wise ops, casts, fills and views are, from values that are there then anyway.
 * Nothing changes without a limit. passes.c runs it on every optimised plan.
 *
 * The estimate knows views and results in place, but neither padding nor scratch nor what the compilers of segments
 * save. It takes dims as they usually are. */
#include "base/region.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/ir/cost.h"
#include "graph/passes.h"

enum {
  MOST_VALUES = 256, /* computed again in one graph */
  MOST_IDLE = 128,   /* looked at for one of them */
  MOST_NODES = 8,    /* computed for one of them */
  MOST_INPUTS = 3
};

/* When the memory of each value is taken, in numbers of nodes. A value stands for its views. */
typedef struct lives {
  const nd4c_graph *graph;
  nd4c_region region;
  nd4c_value *roots;   /* by value: the one whose memory it shares */
  int32_t *last;       /* by root: the last node that reads it or a view of it, -1: none */
  int32_t *last_until; /* the same among the nodes up to the dearest one */
  bool *kept;          /* by root: it is an output of the graph, which is not in the arena */
  double *changes;     /* by node: bytes taken minus bytes freed before it */
  int32_t dearest;
  double peak;
} lives;

static bool is_view(const nd4c_graph_node *node) {
  return node->def->view != NULL && node->input_count > 0 && node->inputs[0] >= 0;
}

static nd4c_status make_lives(const nd4c_graph *graph, lives *of) {
  *of = (lives){.graph = graph};
  ND4C_TRY(nd4c_region_make(&of->region, graph->value_count, sizeof *of->roots, &of->roots));
  ND4C_TRY(nd4c_region_make(&of->region, graph->value_count, sizeof *of->last, &of->last));
  ND4C_TRY(nd4c_region_make(&of->region, graph->value_count, sizeof *of->last_until, &of->last_until));
  ND4C_TRY(nd4c_region_make(&of->region, graph->value_count, sizeof *of->kept, &of->kept));
  return nd4c_region_make(&of->region, graph->node_count + 2, sizeof *of->changes, &of->changes);
}

static void find_roots(lives *of) {
  const nd4c_graph *graph = of->graph;
  for (int32_t i = 0; i < graph->value_count; i++) {
    of->roots[i] = i;
    of->last[i] = of->last_until[i] = -1;
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    if (node->def == NULL) {
      continue;
    }
    for (int32_t k = 0; k < node->input_count; k++) {
      if (node->inputs[k] >= 0) {
        of->last[of->roots[node->inputs[k]]] = i;
      }
    }
    for (int32_t k = 0; k < node->output_count && is_view(node); k++) {
      of->roots[node->outputs[k]] = of->roots[node->inputs[0]];
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    of->kept[of->roots[graph->outputs.items[i].value]] = true;
  }
}

/* Whether the value takes memory of the arena. */
static bool is_in_arena(const lives *of, nd4c_value value) {
  return of->roots[value] == value && of->graph->values[value].producer >= 0 && !of->kept[value] &&
         of->last[value] >= 0;
}

/* Whether the last reader of a value writes its result over it. */
static bool ends_in_place(const lives *of, nd4c_value value) {
  const nd4c_graph_node *reader = &of->graph->nodes[of->last[value]];
  const nd4c_value y = reader->outputs[0];
  return reader->def->alias == ND4C_ALIAS_SAME && reader->output_count == 1 && is_in_arena(of, y) &&
         nd4c_value_bytes(of->graph, y) == nd4c_value_bytes(of->graph, value);
}

/* The step at which most memory is taken. */
static void find_peak(lives *of) {
  double taken = 0;
  for (nd4c_value i = 0; i < of->graph->value_count; i++) {
    if (is_in_arena(of, i)) {
      const double bytes = nd4c_value_bytes(of->graph, i);
      of->changes[of->graph->values[i].producer] += bytes;
      of->changes[of->last[i] + (ends_in_place(of, i) ? 0 : 1)] -= bytes;
    }
  }
  for (int32_t i = 0; i < of->graph->node_count; i++) {
    taken += of->changes[i];
    if (taken > of->peak) {
      of->peak = taken;
      of->dearest = i;
    }
  }
  for (int32_t i = 0; i <= of->dearest && i < of->graph->node_count; i++) {
    const nd4c_graph_node *node = &of->graph->nodes[i];
    for (int32_t k = 0; k < node->input_count && node->def != NULL; k++) {
      if (node->inputs[k] >= 0) {
        of->last_until[of->roots[node->inputs[k]]] = i;
      }
    }
  }
}

/* -- what can be computed again ------------------------------------------------------------------------------------ */

/* Values that are computed again, each behind those that it reads. */
typedef struct again {
  nd4c_value values[MOST_NODES];
  int32_t count;
  int32_t from; /* the first node that is to read the last of them */
  double weight;
} again;

static bool is_cheap(const nd4c_graph_node *node) {
  const nd4c_category category = node->def->info.category;
  return node->output_count == 1 && node->input_count <= MOST_INPUTS && node->control == NULL &&
         !nd4c_op_is_foreign(node->def) &&
         (is_view(node) || category == ND4C_CATEGORY_UNARY || category == ND4C_CATEGORY_BINARY ||
          category == ND4C_CATEGORY_TERNARY || category == ND4C_CATEGORY_CREATION);
}

static bool is_listed(const again *list, nd4c_value value) {
  for (int32_t i = 0; i < list->count; i++) {
    if (list->values[i] == value) {
      return true;
    }
  }
  return false;
}

/* Whether the value's memory is taken until node `from` anyway. */
static bool is_there(const lives *of, nd4c_value value, int32_t from) {
  const nd4c_value root = of->roots[value];
  return of->graph->values[root].producer < 0 || of->kept[root] || of->last[root] >= from;
}

/* Lists the value and what must be computed for it. The depth is bounded by MOST_NODES. */
static bool list_values(const lives *of, nd4c_value value, again *list) {
  const int32_t producer = of->graph->values[value].producer;
  const nd4c_graph_node *node = producer < 0 ? NULL : &of->graph->nodes[producer];
  if (node == NULL || !is_cheap(node) || list->count == MOST_NODES) {
    return false;
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_value input = node->inputs[i];
    if (input < 0 || is_listed(list, input) || is_there(of, input, list->from)) {
      continue;
    }
    if (!list_values(of, input, list)) {
      return false;
    }
  }
  if (list->count == MOST_NODES) {
    return false;
  }
  list->values[list->count++] = value;
  list->weight += is_view(node) ? 0 : nd4c_cost_weight(nd4c_node_cost(of->graph, node), 1);
  return true;
}

/* The first node behind the dearest one that reads the value itself; -1: there is none, or a view that was made before
 * it is read behind it, which computing the value again would not free. */
static int32_t first_reader(const lives *of, nd4c_value value) {
  int32_t first = -1;
  for (int32_t i = of->dearest + 1; i <= of->last[value]; i++) {
    const nd4c_graph_node *node = &of->graph->nodes[i];
    for (int32_t k = 0; k < node->input_count && node->def != NULL; k++) {
      const nd4c_value input = node->inputs[k];
      if (input < 0 || of->roots[input] != value) {
        continue;
      }
      if (input != value && of->graph->values[input].producer <= of->dearest) {
        return -1;
      }
      first = first < 0 && input == value ? i : first;
    }
  }
  return first;
}

/* Whether the value lies idle at the dearest step, and is large enough to be worth a look. Values that were computed
 * again are not: two of them in front of one reader would lie idle for each other without end. */
static bool is_idle(const lives *of, nd4c_value value) {
  return MOST_IDLE * nd4c_value_bytes(of->graph, value) >= of->peak && is_in_arena(of, value) &&
         of->graph->values[value].producer < of->dearest && of->last[value] > of->dearest &&
         of->last_until[value] < of->dearest && !of->graph->nodes[of->graph->values[value].producer].again;
}

/* The value that frees most bytes for what it costs; *found false: there is none. */
static nd4c_status choose(const lives *of, again *best, bool *found) {
  double most = 0;
  for (nd4c_value i = 0; i < of->graph->value_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    again list = {.from = is_idle(of, i) ? first_reader(of, i) : -1};
    if (list.from < 0 || !list_values(of, i, &list)) {
      continue;
    }
    const double gain = nd4c_value_bytes(of->graph, i) / (list.weight + 1);
    if (gain > most) {
      most = gain;
      *best = list;
    }
  }
  *found = most > 0;
  return ND4C_OK;
}

/* -- computing again ----------------------------------------------------------------------------------------------- */

/* Emits a node's copy, which reads copies where there are some. */
static nd4c_status emit_copy(nd4c_rewrite *rewrite, const again *list, int32_t at, nd4c_value *copies) {
  nd4c_graph *graph = rewrite->graph;
  const nd4c_graph_node node = graph->nodes[graph->values[list->values[at]].producer]; /* emitting moves the nodes */
  nd4c_value inputs[MOST_INPUTS];
  nd4c_attr attrs[ND4C_REWRITE_ATTRS];
  for (int32_t i = 0; i < node.input_count; i++) {
    inputs[i] = node.inputs[i];
    for (int32_t k = 0; k < at; k++) {
      inputs[i] = node.inputs[i] == list->values[k] ? copies[k] : inputs[i];
    }
  }
  for (int32_t i = 0; i < node.def->info.attr_count; i++) {
    attrs[i] = (nd4c_attr){.name = node.def->info.attrs[i].name, .value = node.attrs[i]};
  }
  ND4C_TRY(nd4c_emit(&rewrite->emitter, node.def->info.op, inputs, node.input_count, attrs, node.def->info.attr_count,
                     &copies[at]));
  graph->nodes[graph->node_count - 1].again = true;
  graph->values[copies[at]].order = graph->values[list->values[at]].order;
  return ND4C_OK;
}

/* A value, and the copy of it that later readers read. */
typedef struct replaced {
  nd4c_value value, copy;
} replaced;

/* Lets the readers behind the dearest node read a copy, and puts that in front of the first of them. */
static nd4c_status compute_again(nd4c_rewrite *rewrite, const again *list, replaced *made) {
  nd4c_graph *graph = rewrite->graph;
  const int32_t existing = graph->node_count;
  const nd4c_value value = list->values[list->count - 1];
  nd4c_value copies[MOST_NODES];
  for (int32_t i = 0; i < list->count; i++) {
    ND4C_TRY(emit_copy(rewrite, list, i, copies));
  }
  for (int32_t i = list->from; i < existing; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count && graph->nodes[i].def != NULL; k++) {
      if (graph->nodes[i].inputs[k] == value) {
        nd4c_rewrite_input(rewrite, &graph->nodes[i], k, copies[list->count - 1]);
      }
    }
  }
  *made = (replaced){value, copies[list->count - 1]};
  rewrite->changes++;
  return nd4c_graph_sort(graph);
}

/* All readers read the value again; the copy, which nothing reads then, is removed when the pass ends. */
static void undo(nd4c_rewrite *rewrite, const replaced *made) {
  nd4c_graph *graph = rewrite->graph;
  for (int32_t i = 0; i < graph->node_count; i++) {
    for (int32_t k = 0; k < graph->nodes[i].input_count && graph->nodes[i].def != NULL; k++) {
      if (graph->nodes[i].inputs[k] == made->copy) {
        nd4c_rewrite_input(rewrite, &graph->nodes[i], k, made->value);
      }
    }
  }
  rewrite->changes--;
}

/* The values computed again so far, and how many of them brought the estimate to its least. */
typedef struct progress {
  replaced made[MOST_VALUES];
  int32_t count, useful;
  double least;
} progress;

/* One value; *done: the graph keeps to the limit, or nothing helps any more. */
static nd4c_status step(nd4c_rewrite *rewrite, progress *so_far, bool *done) {
  lives of;
  again best = {.count = 0};
  nd4c_status status = make_lives(rewrite->graph, &of);
  bool found = false;
  *done = true;
  if (status == ND4C_OK) {
    find_roots(&of);
    find_peak(&of);
    if (so_far->count == 0 || of.peak < so_far->least) {
      so_far->least = of.peak;
      so_far->useful = so_far->count;
    }
    if (of.peak > (double)rewrite->arena_bytes && so_far->count < (int32_t)MOST_VALUES) {
      status = choose(&of, &best, &found);
    }
    *done = !found;
  }
  nd4c_region_free(&of.region);
  if (*done) {
    return status;
  }
  ND4C_TRY(compute_again(rewrite, &best, &so_far->made[so_far->count]));
  so_far->count++;
  return ND4C_OK;
}

/* Values of which the last ones lower the estimate no further are not computed again: several equal peaks may need one
 * value each, and the last of them may be one that nothing lowers. */
static nd4c_status run(nd4c_rewrite *rewrite) {
  progress so_far = {.count = 0};
  bool done = rewrite->arena_bytes == 0;
  while (!done) {
    ND4C_TRY(step(rewrite, &so_far, &done));
  }
  for (int32_t i = so_far.count - 1; i >= so_far.useful; i--) {
    undo(rewrite, &so_far.made[i]);
  }
  return ND4C_OK;
}

ND4C_PASS(LAYOUT, 120, recompute, ANY, "computes cheap values again where memory is limited (arena_bytes)")
