/* Decides which nodes of a plan become segments: offers regions to the device's compilers, one after the other. plan.c
 * and ahead.c call it.
 *
 * A region is a set of nodes such that no path leaves it and enters it again. A piece of a region can therefore run as
 * one if the same holds for the piece inside the region, which is checked. Islands, nodes that an earlier compiler
 * took, are not offered and separate regions: a node's level is the largest number of islands that a path to it enters,
 * and the nodes of one level are a region. */
#include <stdio.h>
#include <string.h>

#include "base/grouping.h"
#include "base/status.h"
#include "device/provider/answer.h"
#include "device/provider/compilers.h"
#include "device/stream/cancellation.h"
#include "dispatch/execute.h"
#include "graph/plan/common.h"

enum { RECENT_DECLINES = 16 };

typedef struct partitioning {
  nd4c_plan *plan;
  const nd4c_compiler *compiler;
  int32_t *level, *segment_level; /* by node; by segment */
  int32_t *nodes;                 /* of the region on offer */
  int32_t *order, *moved_to, *first_before, *before;
} partitioning;

/* -- regions ----------------------------------------------------------------------------------------------------- */

/* No compiler gets nodes with bodies: they separate regions, as islands do. */
static bool is_island(const nd4c_plan *plan, int32_t node) {
  return plan->segment_of[node] >= 0 || plan->graph->nodes[node].control != NULL;
}

/* The minimum level of a reader of this node: one more after an island. */
static int32_t level_behind(const partitioning *work, int32_t node, bool island) {
  const nd4c_plan *plan = work->plan;
  int32_t segment = plan->segment_of[node];
  int32_t level = segment >= 0 ? work->segment_level[segment] : work->level[node];
  return level + (!is_island(plan, node) && island ? 1 : 0);
}

static int32_t level_of(const partitioning *work, int32_t node) {
  const nd4c_graph *graph = work->plan->graph;
  int32_t level = 0;
  for (int32_t k = 0; k < graph->nodes[node].input_count; k++) {
    nd4c_value value = graph->nodes[node].inputs[k];
    int32_t producer = value < 0 ? -1 : graph->values[value].producer;
    bool inside = producer >= 0 && work->plan->segment_of[node] >= 0 &&
                  work->plan->segment_of[producer] == work->plan->segment_of[node];
    if (producer >= 0 && !inside) {
      int32_t behind = level_behind(work, producer, is_island(work->plan, node));
      level = behind > level ? behind : level;
    }
  }
  return level;
}

/* Computes levels. The nodes of a segment are adjacent, so each segment is complete before its readers. Returns the
 * highest level. */
static int32_t find_levels(const partitioning *work) {
  nd4c_plan *plan = work->plan;
  int32_t highest = 0;
  for (int32_t i = 0; i < plan->graph->node_count;) {
    int32_t segment = plan->segment_of[i], end = i + 1, level = level_of(work, i);
    for (; segment >= 0 && end < plan->graph->node_count && plan->segment_of[end] == segment; end++) {
      int32_t next = level_of(work, end);
      level = next > level ? next : level;
    }
    if (segment >= 0) {
      work->segment_level[segment] = level;
    }
    for (; i < end; i++) {
      work->level[i] = level;
    }
    highest = level > highest ? level : highest;
  }
  return highest;
}

/* -- answers ----------------------------------------------------------------------------------------------------- */

/* The record with this reason, if it is one of the latest: a plan may have very many nodes, and a compiler a reason of
 * its own for each. */
static nd4c_plan_decline *find_decline(const nd4c_plan *plan, const nd4c_compiler *compiler, const char *reason) {
  nd4c_plan_decline *decline = plan->declines;
  for (int i = 0; i < RECENT_DECLINES && decline != NULL; i++, decline = decline->next) {
    if (decline->engine == compiler->engine && strcmp(decline->reason, reason) == 0) {
      return decline;
    }
  }
  return NULL;
}

static nd4c_status note_decline(nd4c_plan *plan, const nd4c_compiler *compiler, int32_t node, const char *reason) {
  nd4c_plan_decline *decline = find_decline(plan, compiler, reason);
  if (decline != NULL) {
    decline->count++;
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_region_make(&plan->region, 1, sizeof *decline, &decline));
  *decline = (nd4c_plan_decline){.next = plan->declines, .node = node, .count = 1, .engine = compiler->engine};
  decline->reason = nd4c_region_text(&plan->region, reason);
  plan->declines = decline;
  return decline->reason == NULL ? nd4c_error_code() : ND4C_OK;
}

static bool has_kernels(const partitioning *work, int32_t node) {
  int32_t count = 0;
  (void)nd4c_device_kernels(work->plan->device, work->plan->graph->nodes[node].def->info.op, &count);
  return count > 0;
}

/* A piece of one node is left to kernel choice if there are kernels for it, unless the compiler says that it is
 * cheaper. */
static bool is_worth_a_segment(const partitioning *work, const nd4c_answer *answer, int32_t piece) {
  if (answer->pieces[piece].node_count > 1 || (answer->pieces[piece].flags & ND4C_PIECE_CHEAPER) != 0) {
    return true;
  }
  int32_t node = 0;
  while (answer->piece_of[node] != piece) {
    node++;
  }
  return !has_kernels(work, work->nodes[node]);
}

/* Its nodes are offered to the next compilers again. */
static nd4c_status note_piece_declined(const partitioning *work, const int32_t *nodes, int32_t count) {
  nd4c_plan *plan = work->plan;
  char reason[512];
  (void)snprintf(reason, sizeof reason, "took it into a segment of %d nodes, which it could not compile: %s", count,
                 nd4c_error_message());
  nd4c_error_clear();
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(note_decline(plan, work->compiler, nodes[i], reason));
  }
  return ND4C_OK;
}

/* Makes a segment of the piece, unless its compiler cannot compile it after all. Later compilers do not change the
 * order of nodes inside a segment, so the code compiled here is what runs. */
static nd4c_status take_piece(const partitioning *work, const nd4c_answer *answer, int32_t piece) {
  nd4c_plan *plan = work->plan;
  const int32_t count = answer->pieces[piece].node_count;
  nd4c_plan_segment *made = &plan->segments[plan->segment_count];
  int32_t *nodes = NULL, found = 0;
  bool declined = false;
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *nodes, &nodes));
  for (int32_t i = 0; i < answer->region->node_count; i++) {
    if (answer->piece_of[i] == piece) {
      nodes[found++] = work->nodes[i];
    }
  }
  *made = (nd4c_plan_segment){
      .compiler = work->compiler, .node_count = count, .nanoseconds = answer->pieces[piece].nanoseconds};
  const nd4c_status status = plan->ahead ? ND4C_OK : nd4c_plan_compile_segment(plan, nodes, made, &declined);
  if (status != ND4C_OK) {
    return nd4c_plan_fail_node(plan, nodes[count - 1], status);
  }
  if (declined) {
    return note_piece_declined(work, nodes, count);
  }
  for (int32_t i = 0; i < count; i++) {
    plan->segment_of[nodes[i]] = plan->segment_count;
  }
  plan->segment_count++;
  return ND4C_OK;
}

static nd4c_status take_answer(partitioning *work, const nd4c_answer *answer) {
  for (int32_t i = 0; i < answer->region->node_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (answer->piece_of[i] < 0) {
      ND4C_TRY(note_decline(work->plan, work->compiler, work->nodes[i], nd4c_answer_reason(answer, i)));
    }
  }
  for (int32_t i = 0; i < answer->piece_count; i++) {
    nd4c_progress_tell(work->plan->progress, "compiling", i, answer->piece_count);
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(is_worth_a_segment(work, answer, i) ? take_piece(work, answer, i) : ND4C_OK);
  }
  if (answer->piece_count > 0) {
    nd4c_progress_tell(work->plan->progress, "compiling", answer->piece_count, answer->piece_count);
  }
  return ND4C_OK;
}

static nd4c_status offer_region(partitioning *work, int32_t count) {
  nd4c_plan *plan = work->plan;
  nd4c_segment region;
  nd4c_value *inputs = NULL, *outputs = NULL;
  nd4c_answer answer;
  nd4c_compile_room room;
  const nd4c_compile_options options = nd4c_compile_request_tell(plan->compile, plan->context, work->compiler, &room);
  ND4C_TRY(nd4c_plan_describe_segment(plan, work->compiler, work->nodes, count, &region, &inputs, &outputs));
  ND4C_TRY(nd4c_cancellation_poll());
  nd4c_status status = nd4c_answer_ask(work->compiler, plan->device->handle, &region, &options, &answer);
  if (status == ND4C_OK) {
    status = take_answer(work, &answer);
  }
  nd4c_answer_free(&answer);
  return status;
}

/* -- order ------------------------------------------------------------------------------------------------------- */

static void list_edges(const partitioning *work) {
  const nd4c_graph *graph = work->plan->graph;
  int32_t count = 0;
  for (int32_t i = 0; i < graph->node_count; i++) {
    work->first_before[i] = count;
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      nd4c_value value = graph->nodes[i].inputs[k];
      if (value >= 0 && graph->values[value].producer >= 0) {
        work->before[count++] = graph->values[value].producer;
      }
    }
  }
  work->first_before[graph->node_count] = count;
}

static nd4c_status apply_order(const partitioning *work) {
  nd4c_plan *plan = work->plan;
  nd4c_graph *graph = plan->graph;
  int32_t count = graph->node_count;
  nd4c_graph_node *nodes = nd4c_region_copy(&plan->region, graph->nodes, count, sizeof *nodes);
  int32_t *segment_of = nd4c_region_copy(&plan->region, plan->segment_of, count, sizeof *segment_of);
  if (nodes == NULL || segment_of == NULL) {
    return nd4c_error_code();
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t from = work->order[i];
    graph->nodes[i] = nodes[from];
    plan->segment_of[i] = segment_of[from];
    work->moved_to[from] = i;
    for (int32_t k = 0; k < graph->nodes[i].output_count; k++) {
      graph->values[graph->nodes[i].outputs[k]].producer = i;
    }
  }
  for (nd4c_plan_decline *decline = plan->declines; decline != NULL; decline = decline->next) {
    decline->node = work->moved_to[decline->node];
  }
  return ND4C_OK;
}

/* Reorders nodes so that those of each segment are adjacent. */
static nd4c_status order_nodes(const partitioning *work) {
  const nd4c_plan *plan = work->plan;
  int32_t crossed = -1;
  list_edges(work);
  const nd4c_grouping grouping = {.count = plan->graph->node_count,
                                  .group_count = plan->segment_count,
                                  .first_before = work->first_before,
                                  .before = work->before,
                                  .group_of = plan->segment_of};
  ND4C_TRY(nd4c_grouping_order(&grouping, work->order, &crossed));
  return crossed < 0 ? apply_order(work)
                     : nd4c_fail(ND4C_INTERNAL,
                                 "plan: segment %d cannot run as one, though its compiler's answer was "
                                 "found to be sound",
                                 crossed);
}

/* -- all of it --------------------------------------------------------------------------------------------------- */

static nd4c_status ask_compiler(partitioning *work) {
  nd4c_plan *plan = work->plan;
  const int32_t highest = find_levels(work), before = plan->segment_count;
  for (int32_t level = 0; level <= highest; level++) {
    int32_t count = 0;
    ND4C_TRY(nd4c_cancellation_poll());
    for (int32_t i = 0; i < plan->graph->node_count; i++) {
      if (!is_island(plan, i) && work->level[i] == level) {
        work->nodes[count++] = i;
      }
    }
    const nd4c_status status = count > 0 ? offer_region(work, count) : ND4C_OK;
    if (status != ND4C_OK) {
      char text[256];
      return nd4c_fail_prefix(status, "%s asked about %d nodes from %s on", work->compiler->engine, (int)count,
                              nd4c_plan_node_text(plan, work->nodes[0], text, sizeof text));
    }
  }
  return plan->segment_count > before ? order_nodes(work) : ND4C_OK;
}

/* Whether the segment, which may be none (-1), takes only operands in C order. */
static bool needs_c_order(const nd4c_plan *plan, int32_t segment) {
  return segment >= 0 && !nd4c_compiler_takes_any_strides(plan->segments[segment].compiler);
}

/* The segment of the node that produces the value; -1: none. Values of nodes that passes removed still name them. */
static int32_t producing_segment(const nd4c_plan *plan, nd4c_value value) {
  const int32_t producer = plan->graph->values[value].producer;
  return producer < 0 || producer >= plan->segmented_count ? -1 : plan->segment_of[producer];
}

/* Marks values that segments read in C order, and values that never leave a segment. */
static nd4c_status mark_values(nd4c_plan *plan) {
  const nd4c_graph *graph = plan->graph;
  ND4C_TRY(nd4c_region_make(&plan->region, graph->value_count, sizeof *plan->fed, &plan->fed));
  ND4C_TRY(nd4c_region_make(&plan->region, graph->value_count, sizeof *plan->hidden, &plan->hidden));
  for (int32_t i = 0; i < graph->value_count; i++) {
    plan->hidden[i] = producing_segment(plan, i) >= 0;
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    int32_t segment = plan->segment_of[i];
    for (int32_t k = 0; k < graph->nodes[i].input_count; k++) {
      nd4c_value value = graph->nodes[i].inputs[k];
      if (value >= 0) {
        plan->fed[value] = plan->fed[value] || needs_c_order(plan, segment);
        plan->hidden[value] = plan->hidden[value] && producing_segment(plan, value) == segment;
      }
    }
  }
  for (int32_t i = 0; i < graph->outputs.count; i++) {
    plan->hidden[graph->outputs.items[i].value] = false;
  }
  /* Most compilers expect C order, whatever order kernels around a conv prefer. */
  for (int32_t i = 0; i < graph->value_count; i++) {
    if (plan->fed[i] || needs_c_order(plan, producing_segment(plan, i))) {
      graph->values[i].order = NULL;
    }
  }
  return ND4C_OK;
}

/* A plan that is made for a file, or from one, asks only compilers that can write their executables: all its pieces
 * must be in the file. */
static bool may_ask(const nd4c_plan *plan, const nd4c_compiler *compiler) {
  const bool other = plan->rules.forced[0] != '\0' && !nd4c_engine_is_forced(&plan->rules, compiler->engine);
  const bool unwritten = plan->portable && !(ND4C_HAS_FIELD(compiler, serialise) && compiler->serialise != NULL);
  return !other && !unwritten && !nd4c_engine_is_disabled(&plan->rules, compiler->engine);
}

static nd4c_status allocate(partitioning *work) {
  nd4c_plan *plan = work->plan;
  int64_t count = (int64_t)plan->graph->node_count + 1, edges = 1;
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    edges += plan->graph->nodes[i].input_count;
  }
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *plan->segments, &plan->segments));
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *work->level, &work->level));
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *work->segment_level, &work->segment_level));
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *work->nodes, &work->nodes));
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *work->order, &work->order));
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *work->moved_to, &work->moved_to));
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *work->first_before, &work->first_before));
  ND4C_TRY(nd4c_region_make(&plan->region, edges, sizeof *work->before, &work->before));
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *plan->segment_of, &plan->segment_of));
  plan->segmented_count = plan->graph->node_count;
  memset(plan->segment_of, -1, (size_t)count * sizeof *plan->segment_of);
  return ND4C_OK;
}

static nd4c_status find_segments(nd4c_plan *plan) {
  int32_t count = 0, asked = 0;
  const nd4c_compiler *const *compilers = nd4c_device_compilers(plan->device, &count);
  for (int32_t i = 0; i < count; i++) {
    asked += may_ask(plan, compilers[i]);
  }
  if (asked == 0 || plan->place_count > 1) { /* steps of other devices may lie between */
    return ND4C_OK;
  }
  partitioning work = {.plan = plan};
  ND4C_TRY(allocate(&work));
  for (int32_t i = 0; i < count; i++) {
    work.compiler = compilers[i];
    if (may_ask(plan, compilers[i])) {
      ND4C_TRY(ask_compiler(&work));
    }
  }
  return mark_values(plan);
}

nd4c_status nd4c_plan_find_segments(nd4c_plan *plan) {
  if (plan->common != NULL && plan->common->fixed) {
    return nd4c_common_take(plan);
  }
  ND4C_TRY(find_segments(plan));
  return plan->common != NULL ? nd4c_common_keep(plan) : ND4C_OK;
}
