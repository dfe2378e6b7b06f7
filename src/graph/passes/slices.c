/* Turns picking with constant indices into views, and simplifies slice and concat: a slice of a slice, a slice of a
 * part of a concat, a concat of slices that stood side by side, a concat of a concat. passes.c runs it on every
 * optimised plan. A slice and a select are views, which cost nothing in a run; gather and take copy. */
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/status.h"
#include "graph/ir/sweep.h"
#include "graph/ir/uniform.h"
#include "graph/passes.h"

/* Parts of a concat that are merged, and that are searched: a long chain of concats must not take quadratic time. */
enum { LIMIT_INDICES = 1 << 16, MOST_MERGED = 64, MOST_SEARCHED = 1 << 10 };

/* -- slices -------------------------------------------------------------------------------------------------------- */

/* One axis of a slice: elements start, start + step, ...; count of them. An axis whose extent depends on dims is taken
 * whole: its count is that extent. */
typedef struct cut {
  int64_t start, step, count;
} cut;

static bool is_empty(const cut *c) {
  return c->count <= 0 && !nd4c_extent_is_symbolic(c->count);
}

/* The cuts of a slice node, one for each axis of its input; false if they depend on dims. */
static bool read_cuts(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, cut *cuts) {
  const nd4c_graph_value *x = &rewrite->graph->values[node->inputs[0]];
  const nd4c_attr_value *starts = &node->attrs[ND4C_ATTR_slice_starts], *stops = &node->attrs[ND4C_ATTR_slice_stops];
  const nd4c_attr_value *axes = &node->attrs[ND4C_ATTR_slice_axes], *steps = &node->attrs[ND4C_ATTR_slice_steps];
  for (int32_t i = 0; i < x->rank; i++) {
    cuts[i] = (cut){.start = 0, .step = 1, .count = x->shape[i]};
  }
  for (int32_t i = 0; i < starts->count; i++) {
    const int32_t axis = axes->count > 0 ? nd4c_axis_index(axes->as.ints[i], x->rank) : i;
    if (nd4c_extent_is_symbolic(x->shape[axis]) || nd4c_extent_is_symbolic(starts->as.ints[i]) ||
        nd4c_extent_is_symbolic(stops->as.ints[i])) {
      return false;
    }
    cuts[axis].step = steps->count > 0 ? steps->as.ints[i] : 1;
    nd4c_slice_axis(x->shape[axis], starts->as.ints[i], stops->as.ints[i], cuts[axis].step, &cuts[axis].start,
                    &cuts[axis].count);
  }
  return true;
}

/* Turns the node into a slice of another value by cuts that each take at least one element. */
static nd4c_status make_slice(nd4c_rewrite *rewrite, int32_t index, nd4c_value x, const cut *cuts) {
  int64_t starts[ND4C_MAX_RANK], stops[ND4C_MAX_RANK], axes[ND4C_MAX_RANK], steps[ND4C_MAX_RANK];
  const nd4c_graph_value *input = &rewrite->graph->values[x];
  int32_t count = 0;
  for (int32_t i = 0; i < input->rank; i++) {
    if (cuts[i].start == 0 && cuts[i].step == 1 && cuts[i].count == input->shape[i]) {
      continue;
    }
    const int64_t last = cuts[i].start + (cuts[i].count - 1) * cuts[i].step;
    const int64_t stop = cuts[i].step > 0 ? last + 1 : last - 1;
    starts[count] = cuts[i].start;
    stops[count] = stop < 0 ? ND4C_SLICE_NONE : stop; /* -1 would count from the end */
    axes[count] = i;
    steps[count++] = cuts[i].count == 1 ? 1 : cuts[i].step;
    stops[count - 1] = cuts[i].count == 1 ? cuts[i].start + 1 : stops[count - 1];
  }
  nd4c_attr_value attrs[ND4C_ATTR_slice_count] = {0};
  attrs[ND4C_ATTR_slice_starts] = (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .count = count, .as.ints = starts};
  attrs[ND4C_ATTR_slice_stops] = (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .count = count, .as.ints = stops};
  attrs[ND4C_ATTR_slice_axes] = (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .count = count, .as.ints = axes};
  attrs[ND4C_ATTR_slice_steps] = (nd4c_attr_value){.kind = ND4C_ATTR_INTS, .count = count, .as.ints = steps};
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_slice, &x, 1, attrs, NULL, &done);
}

/* A slice of a slice. */
static nd4c_status merge_slices(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *inner) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const int32_t rank = rewrite->graph->values[node->inputs[0]].rank;
  cut first[ND4C_MAX_RANK], second[ND4C_MAX_RANK];
  if (!read_cuts(rewrite, inner, first) || !read_cuts(rewrite, node, second)) {
    return ND4C_OK;
  }
  for (int32_t i = 0; i < rank; i++) {
    int64_t skipped = 0;
    cut *merged = &second[i];
    if (is_empty(merged) || !nd4c_checked_multiply(merged->start, first[i].step, &skipped) ||
        !nd4c_checked_multiply(merged->step, first[i].step, &merged->step) ||
        !nd4c_checked_add(first[i].start, skipped, &merged->start)) {
      return ND4C_OK;
    }
  }
  return make_slice(rewrite, index, inner->inputs[0], second);
}

/* A slice that takes elements of one part of a concat. */
static nd4c_status slice_part(nd4c_rewrite *rewrite, int32_t index, const nd4c_graph_node *concat, nd4c_value *same) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *values = rewrite->graph->values, *whole = &values[node->inputs[0]];
  const int32_t axis = nd4c_axis_index(concat->attrs[ND4C_ATTR_concat_axis].as.i, whole->rank);
  cut cuts[ND4C_MAX_RANK];
  if (concat->input_count > MOST_SEARCHED || nd4c_extent_is_symbolic(whole->shape[axis]) ||
      !read_cuts(rewrite, node, cuts)) {
    return ND4C_OK;
  }
  bool complete = true;
  for (int32_t i = 0; i < whole->rank; i++) {
    if (is_empty(&cuts[i])) {
      return ND4C_OK;
    }
    complete = complete && (i == axis || (cuts[i].step == 1 && cuts[i].count == whole->shape[i]));
  }
  const int64_t last = cuts[axis].start + (cuts[axis].count - 1) * cuts[axis].step;
  const int64_t low = last < cuts[axis].start ? last : cuts[axis].start;
  const int64_t high = last < cuts[axis].start ? cuts[axis].start : last;
  int64_t begin = 0;
  for (int32_t k = 0; k < concat->input_count; k++) {
    const nd4c_value part = concat->inputs[k];
    const int64_t end = begin + values[part].shape[axis];
    if (low >= begin && high < end) {
      if (values[part].dtype != whole->dtype) {
        return ND4C_OK;
      }
      cuts[axis].start -= begin;
      if (!complete || cuts[axis].step != 1 || cuts[axis].count != values[part].shape[axis]) {
        return make_slice(rewrite, index, part, cuts);
      }
      /* The part's other extents may be those of the concat only by assumption. */
      *same = nd4c_rewrite_may_replace(rewrite, node->outputs[0], part) ? part : ND4C_VALUE_NONE;
      return ND4C_OK;
    }
    begin = end;
  }
  return ND4C_OK;
}

static nd4c_status visit_slice(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same) {
  const nd4c_value x = rewrite->graph->nodes[index].inputs[0];
  const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, x, ND4C_OP_slice);
  const nd4c_graph_node *concat = nd4c_rewrite_producer(rewrite, x, ND4C_OP_concat);
  if (inner != NULL) {
    return merge_slices(rewrite, index, inner);
  }
  return concat != NULL ? slice_part(rewrite, index, concat, same) : ND4C_OK;
}

/* -- concats ------------------------------------------------------------------------------------------------------- */

/* Parts of a concat that lie side by side in one value, as one cut of it. */
typedef struct joint {
  nd4c_value source;
  int32_t axis;
  cut cuts[ND4C_MAX_RANK];
} joint;

/* The part as a cut of the value that it is a slice of, or of itself; false if that depends on dims. */
static bool read_part(const nd4c_rewrite *rewrite, nd4c_value part, int32_t axis, joint *made) {
  const nd4c_graph_node *slice = nd4c_rewrite_producer(rewrite, part, ND4C_OP_slice);
  made->source = slice != NULL ? slice->inputs[0] : part;
  if (slice != NULL) {
    return read_cuts(rewrite, slice, made->cuts) && !nd4c_extent_is_symbolic(made->cuts[axis].count);
  }
  for (int32_t i = 0; i < rewrite->graph->values[part].rank; i++) {
    made->cuts[i] = (cut){.start = 0, .step = 1, .count = rewrite->graph->values[part].shape[i]};
  }
  return !nd4c_extent_is_symbolic(made->cuts[axis].count);
}

/* Extends the joint by a part that follows it; false if the part does not. */
static bool append_part(joint *made, const joint *part, int32_t rank) {
  bool follows = part->source == made->source;
  for (int32_t i = 0; i < rank && follows; i++) {
    const cut *a = &made->cuts[i], *b = &part->cuts[i];
    follows = i == made->axis ? a->step == 1 && b->step == 1 && b->start == a->start + a->count
                              : a->start == b->start && a->step == b->step && a->count == b->count;
  }
  if (follows) {
    made->cuts[made->axis].count += part->cuts[made->axis].count;
  }
  return follows;
}

/* A concat of all parts of a value, in order, is the value; of some that stand side by side, a slice of it. */
static nd4c_status join_slices(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, bool *joined) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *output = &rewrite->graph->values[node->outputs[0]];
  joint made = {.axis = nd4c_axis_index(node->attrs[ND4C_ATTR_concat_axis].as.i, output->rank)}, next;
  *joined = false;
  if (!read_part(rewrite, node->inputs[0], made.axis, &made)) {
    return ND4C_OK;
  }
  for (int32_t k = 1; k < node->input_count; k++) {
    if (!read_part(rewrite, node->inputs[k], made.axis, &next) || !append_part(&made, &next, output->rank)) {
      return ND4C_OK;
    }
  }
  bool whole = nd4c_rewrite_may_replace(rewrite, node->outputs[0], made.source);
  for (int32_t i = 0; i < output->rank; i++) {
    if (is_empty(&made.cuts[i])) {
      return ND4C_OK;
    }
    whole = whole && made.cuts[i].step == 1 && made.cuts[i].count == output->shape[i];
  }
  *joined = true;
  if (whole) {
    *same = made.source;
    return ND4C_OK;
  }
  return node->input_count > 1 ? make_slice(rewrite, index, made.source, made.cuts) : ND4C_OK;
}

/* The concat along the same axis that gives a part and has no other reader; its parts need no cast on the way. */
static const nd4c_graph_node *inner_concat(const nd4c_rewrite *rewrite, nd4c_value part, int32_t axis) {
  const nd4c_graph_node *inner = nd4c_rewrite_producer(rewrite, part, ND4C_OP_concat);
  const nd4c_graph_value *values = rewrite->graph->values;
  if (inner == NULL || !nd4c_rewrite_is_single(rewrite, part) ||
      nd4c_axis_index(inner->attrs[ND4C_ATTR_concat_axis].as.i, values[part].rank) != axis) {
    return NULL;
  }
  for (int32_t i = 0; i < inner->input_count; i++) {
    if (values[inner->inputs[i]].dtype != values[part].dtype) {
      return NULL;
    }
  }
  return inner;
}

static nd4c_status flatten_concat(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const int32_t axis =
      nd4c_axis_index(node->attrs[ND4C_ATTR_concat_axis].as.i, rewrite->graph->values[node->outputs[0]].rank);
  int32_t total = 0, count = 0;
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_graph_node *inner = inner_concat(rewrite, node->inputs[i], axis);
    total += inner != NULL ? inner->input_count : 1;
  }
  if (total == node->input_count || total > MOST_MERGED) {
    return ND4C_OK;
  }
  nd4c_value *parts = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)total, sizeof *parts, "parts of a concat", &parts));
  for (int32_t i = 0; i < node->input_count; i++) {
    const nd4c_graph_node *inner = inner_concat(rewrite, node->inputs[i], axis);
    const nd4c_value *from = inner != NULL ? inner->inputs : &node->inputs[i];
    const int32_t taken = inner != NULL ? inner->input_count : 1;
    memcpy(parts + count, from, (size_t)taken * sizeof *parts);
    count += taken;
  }
  bool done = false;
  const nd4c_status status = nd4c_rewrite_node(rewrite, index, ND4C_OP_concat, parts, total, node->attrs, NULL, &done);
  nd4c_deallocate(parts);
  return status;
}

static nd4c_status visit_concat(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same) {
  bool joined = false;
  ND4C_TRY(join_slices(rewrite, index, same, &joined));
  return joined ? ND4C_OK : flatten_concat(rewrite, index);
}

/* -- indices ------------------------------------------------------------------------------------------------------- */

/* Indices that step evenly along an axis, all in range. Of an axis whose extent depends on dims, a single one may be
 * counted from the end: it stays as it is. */
static bool read_indices(const nd4c_rewrite *rewrite, nd4c_value indices, int64_t length, cut *made) {
  const nd4c_graph_value *info = &rewrite->graph->values[indices];
  int64_t extent = length, high = 0;
  if (info->constant == NULL || info->size == 0 || info->size > LIMIT_INDICES) {
    return false;
  }
  const bool symbolic = nd4c_extent_is_symbolic(length);
  if (symbolic) {
    nd4c_extents_bounds(rewrite->graph->extents, length, &extent, &high);
  }
  int64_t count = 0, *numbers = nd4c_allocate((size_t)info->size * sizeof *numbers);
  bool even = numbers != NULL && nd4c_constant_wholes(rewrite, indices, LIMIT_INDICES, numbers, &count);
  for (int64_t i = 0; i < count && even; i++) {
    even = numbers[i] >= -extent && numbers[i] < extent;
    even = even && (!symbolic || numbers[i] >= 0 || info->rank == 0);
    numbers[i] += even && numbers[i] < 0 && !symbolic ? extent : 0;
  }
  if (even) {
    *made = (cut){.start = numbers[0], .step = count > 1 ? numbers[1] - numbers[0] : 1, .count = count};
    even = made->step != 0;
  }
  for (int64_t i = 1; i < count && even; i++) {
    even = numbers[i] - numbers[i - 1] == made->step;
  }
  nd4c_deallocate(numbers);
  return even;
}

/* The axis along which a node picks slices of its first input by its second; -1: it does not, or in another way. */
static int32_t picked_axis(const nd4c_rewrite *rewrite, const nd4c_graph_node *node) {
  const int32_t rank = rewrite->graph->values[node->inputs[0]].rank;
  switch (node->def->info.op) {
    case ND4C_OP_gather:
      return nd4c_axis_index(node->attrs[ND4C_ATTR_gather_axis].as.i, rank);
    case ND4C_OP_take: /* an index in range is the same in every mode, but a negative one only in the mode RAISE */
      return node->attrs[ND4C_ATTR_take_axes].count == 1 &&
                     node->attrs[ND4C_ATTR_take_mode].as.i == ND4C_INDEX_MODE_RAISE
                 ? nd4c_axis_index(node->attrs[ND4C_ATTR_take_axes].as.ints[0], rank)
                 : -1;
    case ND4C_OP_embedding_lookup:
      return 0;
    default:
      return -1;
  }
}

/* One index without axes is a select, a list of even steps a slice. More axes would need a reshape, which copies if the
 * slice has gaps. */
static nd4c_status visit_pick(nd4c_rewrite *rewrite, int32_t index) {
  const nd4c_graph_node *node = &rewrite->graph->nodes[index];
  const nd4c_graph_value *values = rewrite->graph->values;
  const int32_t axis = picked_axis(rewrite, node);
  const nd4c_value x = node->inputs[0], indices = nd4c_node_input(node, 1);
  cut cuts[ND4C_MAX_RANK];
  if (axis < 0 || indices < 0 || values[indices].rank > 1 || values[x].constant != NULL ||
      !read_indices(rewrite, indices, values[x].shape[axis], &cuts[axis])) {
    return ND4C_OK;
  }
  if (values[indices].rank == 1) {
    for (int32_t i = 0; i < values[x].rank; i++) {
      cuts[i] = i == axis ? cuts[i] : (cut){.start = 0, .step = 1, .count = values[x].shape[i]};
    }
    return values[x].size == 0 ? ND4C_OK : make_slice(rewrite, index, x, cuts);
  }
  nd4c_attr_value attrs[ND4C_ATTR_select_count] = {0};
  attrs[ND4C_ATTR_select_axis] = (nd4c_attr_value){.kind = ND4C_ATTR_INT, .as.i = axis};
  attrs[ND4C_ATTR_select_index] = (nd4c_attr_value){.kind = ND4C_ATTR_INT, .as.i = cuts[axis].start};
  bool done = false;
  return nd4c_rewrite_node(rewrite, index, ND4C_OP_select, &x, 1, attrs, NULL, &done);
}

static nd4c_status visit(nd4c_rewrite *rewrite, int32_t index, nd4c_value *same, void *state) {
  (void)state;
  switch (rewrite->graph->nodes[index].def->info.op) {
    case ND4C_OP_slice:
      return visit_slice(rewrite, index, same);
    case ND4C_OP_concat:
      return visit_concat(rewrite, index, same);
    case ND4C_OP_gather:
    case ND4C_OP_take:
    case ND4C_OP_embedding_lookup:
      return visit_pick(rewrite, index);
    default:
      return ND4C_OK;
  }
}

static nd4c_status run(nd4c_rewrite *rewrite) {
  return nd4c_rewrite_sweep(rewrite, visit, NULL);
}

ND4C_PASS(SIMPLIFY, 36, slices, ANY, "turns constant indices into views and merges slices and concats")
