/* Implements plan_memory.h, and nd4c_plan_make_memory, the stage of nd4c_plan_create that places all values of a
 * plan. */
#include "graph/plan/plan_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/control.h"
#include "graph/plan/arenas.h"

/* -- placement -------------------------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
  const nd4c_plan_block *left = *(nd4c_plan_block *const *)a, *right = *(nd4c_plan_block *const *)b;
  if (left->bytes != right->bytes) {
    return left->bytes > right->bytes ? -1 : 1;
  }
  return left->first != right->first ? (left->first < right->first ? -1 : 1) : (left < right ? -1 : left > right);
}

static int by_offset(const void *a, const void *b) {
  const nd4c_plan_block *left = *(nd4c_plan_block *const *)a, *right = *(nd4c_plan_block *const *)b;
  return (left->offset > right->offset) - (left->offset < right->offset);
}

static int by_last(const void *a, const void *b) {
  const nd4c_plan_block *left = *(nd4c_plan_block *const *)a, *right = *(nd4c_plan_block *const *)b;
  return left->last != right->last ? (left->last < right->last ? -1 : 1) : (left < right ? -1 : left > right);
}

/* A plan of a few steps is bound to new extents in microseconds, of which qsort would take a tenth. */
static void sort_blocks(nd4c_plan_block **blocks, int32_t count, int (*compare)(const void *, const void *)) {
  enum { FEW = 96 };
  if (count > FEW) {
    qsort(blocks, (size_t)count, sizeof *blocks, compare);
    return;
  }
  for (int32_t i = 1; i < count; i++) {
    nd4c_plan_block *moved = blocks[i];
    int32_t at = i;
    for (; at > 0 && compare(&blocks[at - 1], &moved) > 0; at--) {
      blocks[at] = blocks[at - 1];
    }
    blocks[at] = moved;
  }
}

/* Blocks that have places, by offset. Those of one size are placed in the order in which their lives begin: what has
 * ended before a block of this size begins is in the way of none that follows, and leaves `live`. */
typedef struct placed_blocks {
  nd4c_plan_block **all, **live; /* all: without those of the size that is being placed */
  int32_t all_count, live_count;
} placed_blocks;

/* Places `block` in the smallest fitting gap between live blocks with overlapping lifetimes. */
static void place_block(placed_blocks *placed, nd4c_plan_block *block) {
  int64_t end = 0, best = -1, best_gap = INT64_MAX;
  int32_t kept = 0;
  for (int32_t i = 0; i < placed->live_count; i++) {
    nd4c_plan_block *other = placed->live[i];
    if (other->last < block->first) {
      continue;
    }
    placed->live[kept++] = other;
    if (other->first > block->last) {
      continue;
    }
    int64_t gap = other->offset - end;
    if (gap >= block->bytes && gap < best_gap) {
      best = end;
      best_gap = gap;
    }
    int64_t other_end = other->offset + other->bytes;
    end = other_end > end ? other_end : end;
  }
  block->offset = best >= 0 ? best : end;
  int32_t at = kept;
  for (; at > 0 && placed->live[at - 1]->offset > block->offset; at--) {
    placed->live[at] = placed->live[at - 1];
  }
  placed->live[at] = block;
  placed->live_count = kept + 1;
}

/* Places very many blocks of the largest size, which have one size and nothing in their way: each where one that has
 * ended lay, else behind all. That takes no more bytes than best fit, which would look at all live blocks for each.
 * Returns the bytes. */
static int64_t place_largest(placed_blocks *placed, nd4c_plan_block **group, int32_t count) {
  nd4c_plan_block **ends = placed->all, **idle = placed->live; /* both are empty so far */
  int32_t ended = 0, idle_count = 0;
  int64_t end = 0;
  memcpy(ends, group, (size_t)count * sizeof *ends);
  sort_blocks(ends, count, by_last);
  for (int32_t i = 0; i < count; i++) {
    for (; ends[ended]->last < group[i]->first; ended++) { /* ends, as group[i] itself has not ended */
      idle[idle_count++] = ends[ended];
    }
    group[i]->offset = idle_count > 0 ? idle[idle_count - 1]->offset : end;
    end += idle_count > 0 ? 0 : group[i]->bytes;
    idle_count -= idle_count > 0;
  }
  return end;
}

static int32_t count_largest(nd4c_plan_block *const *order, int32_t used) {
  int32_t count = 0;
  while (count < used && order[count]->bytes == order[0]->bytes) {
    count++;
  }
  return count;
}

/* Merges the blocks of one size, which now have places, with the earlier ones; all are live for the next size. */
static void merge_group(placed_blocks *placed, nd4c_plan_block **group, int32_t count) {
  sort_blocks(group, count, by_offset);
  int32_t from = placed->all_count - 1, to = placed->all_count + count - 1;
  for (int32_t i = count - 1; i >= 0; to--) {
    const bool earlier = from >= 0 && placed->all[from]->offset > group[i]->offset;
    placed->all[to] = earlier ? placed->all[from--] : group[i--];
  }
  placed->all_count += count;
  placed->live_count = placed->all_count;
  memcpy(placed->live, placed->all, (size_t)placed->all_count * sizeof *placed->all);
}

/* Rounds sizes up and checks that even all blocks side by side can be addressed. */
static nd4c_status round_sizes(nd4c_plan_block *blocks, int32_t count) {
  int64_t total = 0;
  for (int32_t i = 0; i < count; i++) {
    int64_t rounded = 0;
    if (!nd4c_checked_add(blocks[i].bytes, ND4C_PLAN_ALIGNMENT - 1, &rounded)) {
      return nd4c_fail(ND4C_OVERFLOW, "plan: a tensor of %lld bytes", (long long)blocks[i].bytes);
    }
    blocks[i].bytes = rounded / ND4C_PLAN_ALIGNMENT * ND4C_PLAN_ALIGNMENT;
    if (!nd4c_checked_add(total, blocks[i].bytes, &total)) {
      return nd4c_fail(ND4C_OVERFLOW, "plan: the tensors together exceed what can be addressed");
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_plan_place_blocks(nd4c_plan_block *blocks, int32_t count, const nd4c_plan_progress *progress,
                                   int64_t *bytes) {
  enum { MANY = 1024 };
  *bytes = 0;
  ND4C_TRY(round_sizes(blocks, count));
  nd4c_plan_block **order = nd4c_allocate(3 * (size_t)count * sizeof *order);
  if (order == NULL) {
    return nd4c_fail_memory("arena planning", 3 * (size_t)count * sizeof *order);
  }
  placed_blocks placed = {.all = order + count, .live = order + 2 * (size_t)count};
  int32_t used = 0;
  for (int32_t i = 0; i < count; i++) {
    order[i] = &blocks[i];
    used += blocks[i].bytes > 0;
  }
  sort_blocks(order, count, by_size);
  nd4c_status status = ND4C_OK;
  int32_t begin = count_largest(order, used);
  begin = begin >= MANY ? begin : 0;
  *bytes = place_largest(&placed, order, begin);
  for (int32_t i = begin, group = 0; i < used && status == ND4C_OK; i++) {
    nd4c_progress_tell(progress, "placing", i, used);
    status = nd4c_cancellation_poll();
    if (order[i]->bytes != order[group]->bytes) {
      merge_group(&placed, order + group, i - group);
      group = i;
    }
    place_block(&placed, order[i]);
    int64_t end = order[i]->offset + order[i]->bytes;
    *bytes = end > *bytes ? end : *bytes;
  }
  nd4c_deallocate(order);
  ND4C_TRY(status);
  nd4c_progress_tell(progress, "placing", used, used);
  return ND4C_OK;
}

int32_t nd4c_plan_share_buffers(nd4c_plan_block *blocks, int32_t count, int64_t *buffer_bytes, int32_t *buffer_last) {
  int32_t buffers = 0;
  for (int32_t i = 0; i < count; i++) {
    nd4c_plan_block *block = &blocks[i];
    int32_t at = 0;
    while (at < buffers && (buffer_bytes[at] != block->bytes || buffer_last[at] >= block->first)) {
      at++;
    }
    block->buffer = block->bytes == 0 ? -1 : at;
    if (block->bytes > 0) {
      buffer_bytes[at] = block->bytes;
      buffer_last[at] = block->last;
      buffers += at == buffers;
    }
  }
  return buffers;
}

/* -- what a plan puts into its arena ------------------------------------------------------------------------------ */

/* Blocks by slot: slots that share a block (computed in place) have the same number. */
typedef struct planning {
  nd4c_plan *plan;
  nd4c_plan_block *blocks; /* one for each slot, then one for each step's scratch */
  int32_t block_count;
  int32_t *block_of; /* by slot, -1: none */
  int32_t place;     /* whose arena it is */
  int32_t *last_use; /* by slot: last step that touches it or a view of it */
} planning;

static void note_lifetimes(planning *work) {
  const nd4c_plan *plan = work->plan;
  for (int32_t i = 0; i < plan->slot_count; i++) {
    work->block_of[i] = -1;
    work->last_use[i] = -1;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    for (int32_t k = 0; k < step->input_count; k++) {
      if (step->inputs[k] >= 0) {
        work->last_use[plan->slots[step->inputs[k]].root] = i;
      }
    }
    for (int32_t k = 0; k < step->output_count; k++) {
      work->last_use[plan->slots[step->outputs[k]].root] = i;
    }
  }
}

/* The input whose memory step `index` can reuse for its output, or -1: in the arena, and last used by this step. Empty
 * slots stay at the place that produces them. */
static int32_t find_in_place(const planning *work, int32_t index) {
  const nd4c_plan *plan = work->plan;
  const nd4c_step *step = &plan->steps[index];
  for (int32_t i = 0; i < step->input_count; i++) {
    const int32_t at = step->inputs[i] < 0 ? -1 : plan->slots[step->inputs[i]].root;
    if (at >= 0 && plan->slots[at].kind == ND4C_SLOT_ARENA && plan->slots[at].place == work->place &&
        work->last_use[at] == index && nd4c_plan_is_in_place(plan, step, i)) {
      return i;
    }
  }
  return -1;
}

static void add_output(planning *work, int32_t index, nd4c_value value) {
  nd4c_plan *plan = work->plan;
  int32_t root = plan->slots[value].root;
  const nd4c_slot *slot = &plan->slots[root];
  if (slot->kind != ND4C_SLOT_ARENA || slot->place != work->place || work->block_of[root] >= 0) {
    return;
  }
  plan->tensor_bytes += slot->bytes;
  int32_t in_place = root == value ? find_in_place(work, index) : -1;
  if (in_place >= 0) {
    int32_t block = work->block_of[plan->slots[plan->steps[index].inputs[in_place]].root];
    work->block_of[root] = block;
    nd4c_plan_block *shared = &work->blocks[block];
    shared->last = work->last_use[root] > shared->last ? work->last_use[root] : shared->last;
    return;
  }
  work->block_of[root] = work->block_count;
  work->blocks[work->block_count] =
      (nd4c_plan_block){.bytes = slot->bytes, .first = index, .last = work->last_use[root]};
  work->block_count++;
}

/* The buffers of a device that takes only whole ones. Scratch is not among them: calls have it separately. */
static nd4c_status plan_buffers(planning *work, nd4c_plan_place *place) {
  nd4c_plan *plan = work->plan;
  nd4c_region region = {0};
  int32_t *last = nd4c_region_take(&region, work->block_count, sizeof *last);
  place->buffer_bytes = nd4c_region_take(&plan->region, work->block_count, sizeof *place->buffer_bytes);
  if (last == NULL || place->buffer_bytes == NULL) {
    nd4c_region_free(&region);
    return nd4c_error_code();
  }
  place->buffer_count = nd4c_plan_share_buffers(work->blocks, work->block_count, place->buffer_bytes, last);
  nd4c_region_free(&region);
  for (int32_t i = 0; i < place->buffer_count; i++) {
    if (!nd4c_checked_add(place->arena_bytes, place->buffer_bytes[i], &place->arena_bytes)) {
      return nd4c_fail(ND4C_OVERFLOW, "plan: the tensors together exceed what can be addressed");
    }
  }
  plan->arena_bytes += place->arena_bytes;
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (work->block_of[i] >= 0 && plan->slots[i].place == work->place) {
      plan->slots[i].buffer = work->blocks[work->block_of[i]].buffer;
    }
  }
  return ND4C_OK;
}

static int64_t scratch_of(const nd4c_step *step) {
  if (step->control != NULL) {
    return step->control->scratch_bytes;
  }
  return step->choice == NULL ? 0 : step->choice->scratch_bytes;
}

/* -- layouts of buckets ---------------------------------------------------------------------------------------------
 */

/* Places the blocks as the previous binding of the bucket has them. False: it has others, or smaller ones. */
static bool take_layout(planning *work, int64_t *bytes) {
  nd4c_plan *plan = work->plan;
  const nd4c_plan_layout *from = plan->previous == NULL ? NULL : plan->previous->layout;
  bool fits = from != NULL && from->block_count == work->block_count && from->slot_count == plan->slot_count &&
              memcmp(from->block_of, work->block_of, (size_t)plan->slot_count * sizeof *from->block_of) == 0;
  for (int32_t i = 0; fits && i < work->block_count; i++) {
    const nd4c_plan_block *block = &work->blocks[i], *room = &from->blocks[i];
    fits = block->first == room->first && block->last == room->last && block->bytes <= room->bytes;
  }
  if (fits && work->block_count > 0) {
    memcpy(work->blocks, from->blocks, (size_t)work->block_count * sizeof *work->blocks);
  }
  *bytes = fits ? from->bytes : 0;
  plan->kept_layout = fits;
  return fits;
}

static nd4c_status keep_layout(const planning *work, int64_t bytes) {
  nd4c_plan *plan = work->plan;
  nd4c_plan_layout *layout = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, 1, sizeof *layout, &layout));
  layout->block_count = work->block_count;
  layout->slot_count = plan->slot_count;
  layout->bytes = bytes;
  layout->blocks = nd4c_region_copy(&plan->region, work->blocks, work->block_count, sizeof *work->blocks);
  layout->block_of = nd4c_region_copy(&plan->region, work->block_of, plan->slot_count, sizeof *work->block_of);
  plan->layout = layout;
  return layout->blocks != NULL && layout->block_of != NULL ? ND4C_OK : nd4c_error_code();
}

/* The arena of a binding with a bucket. Smaller sizes may need more scratch than the largest ones, so all scratch lies
 * behind the values: the arena may be made anew for it, and the values keep their offsets. */
static nd4c_status place_apart(planning *work, nd4c_plan_place *place) {
  nd4c_plan *plan = work->plan;
  int64_t scratch = 0, bytes = 0;
  if (!take_layout(work, &bytes)) {
    ND4C_TRY(nd4c_plan_place_blocks(work->blocks, work->block_count, plan->progress, &bytes));
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    const int64_t wanted = scratch_of(&plan->steps[i]);
    plan->scratch_bytes += wanted;
    plan->steps[i].scratch_offset = bytes;
    scratch = wanted > scratch ? wanted : scratch;
  }
  if (!nd4c_checked_add(bytes, scratch, &place->arena_bytes)) {
    return nd4c_fail(ND4C_OVERFLOW, "plan: the tensors together exceed what can be addressed");
  }
  if (plan->kept_layout && plan->previous->places[0].arena_bytes > place->arena_bytes) {
    place->arena_bytes = plan->previous->places[0].arena_bytes;
  }
  return keep_layout(work, bytes);
}

/* Values and scratch of one device together. */
static nd4c_status place_together(planning *work, nd4c_plan_place *place) {
  nd4c_plan *plan = work->plan;
  const int32_t scratch = work->block_count, scratch_count = plan->place_count == 1 ? plan->step_count : 0;
  for (int32_t i = 0; i < scratch_count; i++) {
    work->blocks[scratch + i] = (nd4c_plan_block){.bytes = scratch_of(&plan->steps[i]), .first = i, .last = i};
    plan->scratch_bytes += work->blocks[scratch + i].bytes;
  }
  ND4C_TRY(nd4c_plan_place_blocks(work->blocks, scratch + scratch_count, plan->progress, &place->arena_bytes));
  for (int32_t i = 0; i < scratch_count; i++) {
    plan->steps[i].scratch_offset = work->blocks[scratch + i].offset;
  }
  return ND4C_OK;
}

/* One device's arena. It includes scratch if runs use addresses; otherwise calls have scratch separately. */
static nd4c_status plan_blocks(planning *work) {
  nd4c_plan *plan = work->plan;
  nd4c_plan_place *place = &plan->places[work->place];
  work->block_count = 0;
  for (int32_t i = 0; i < plan->step_count; i++) {
    for (int32_t k = 0; k < plan->steps[i].output_count; k++) {
      add_output(work, i, plan->steps[i].outputs[k]);
    }
  }
  if (place->device->description.whole_buffers) {
    return plan_buffers(work, place);
  }
  ND4C_TRY(plan->keeps_layout ? place_apart(work, place) : place_together(work, place));
  plan->arena_bytes += place->arena_bytes;
  for (int32_t i = 0; i < plan->slot_count; i++) {
    if (work->block_of[i] >= 0 && plan->slots[i].place == work->place) {
      plan->slots[i].arena_offset = work->blocks[work->block_of[i]].offset;
    }
  }
  return ND4C_OK;
}

/* The largest value of an arena, which its node gives. */
static nd4c_status fail_arena(const nd4c_plan *plan, const nd4c_plan_place *place, nd4c_status status) {
  const int32_t number = (int32_t)(place - plan->places);
  int32_t largest = -1;
  for (int32_t i = 0; i < plan->slot_count; i++) {
    const nd4c_slot *slot = &plan->slots[i];
    if (slot->kind == ND4C_SLOT_ARENA && slot->place == number && plan->graph->values[i].producer >= 0 &&
        (largest < 0 || slot->bytes > plan->slots[largest].bytes)) {
      largest = i;
    }
  }
  if (largest >= 0) {
    char node[256];
    status = nd4c_fail_prefix(status, "the largest is that of %s, %lld bytes",
                              nd4c_plan_node_text(plan, plan->graph->values[largest].producer, node, sizeof node),
                              (long long)plan->slots[largest].bytes);
  }
  return nd4c_device_fail_prefix(status, place->device, "on", "nd4c_plan_create: memory for values");
}

/* Whether runs may take the arena from those of the plan with dims: mode direct will write its address into calls. */
static bool can_share_arena(const nd4c_plan *plan) {
  return plan->arenas != NULL && plan->place_count == 1 && plan->places[0].device == plan->arenas->device &&
         !plan->whole;
}

/* The memory of a device's arena. The previous binding of the bucket keeps its reference until this one is made. */
static nd4c_status make_arena(const nd4c_plan *plan, nd4c_plan_place *place) {
  if (can_share_arena(plan)) {
    const nd4c_status shared = nd4c_arenas_reserve(plan->arenas, place->arena_bytes);
    return shared == ND4C_OK ? shared : fail_arena(plan, place, shared);
  }
  nd4c_storage *earlier = plan->kept_layout ? plan->previous->places[0].arena : NULL;
  if (earlier != NULL && earlier->bytes >= place->arena_bytes) {
    place->arena = nd4c_storage_retain(earlier);
    return ND4C_OK;
  }
  const nd4c_status status =
      nd4c_storage_create_own(place->device, NULL, ND4C_DTYPE_NONE, place->arena_bytes, "plan arena", &place->arena);
  return status == ND4C_OK ? status : fail_arena(plan, place, status);
}

nd4c_status nd4c_plan_own_arena(nd4c_plan *plan) {
  plan->arenas = NULL;
  return plan->places[0].arena_bytes > 0 ? make_arena(plan, &plan->places[0]) : ND4C_OK;
}

static nd4c_status plan_all(planning *work) {
  nd4c_plan *plan = work->plan;
  plan->arenas = can_share_arena(plan) ? plan->arenas : NULL;
  note_lifetimes(work);
  for (work->place = 0; work->place < plan->place_count; work->place++) {
    nd4c_plan_place *place = &plan->places[work->place];
    ND4C_TRY(plan_blocks(work));
    if (place->arena_bytes > 0 && place->buffer_count == 0) {
      ND4C_TRY(make_arena(plan, place));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_plan_make_memory(nd4c_plan *plan) {
  nd4c_region region = {0};
  planning work = {.plan = plan};
  nd4c_plan_split_slots(plan);
  work.blocks = nd4c_region_take(&region, (int64_t)plan->slot_count + plan->step_count, sizeof *work.blocks);
  work.block_of = nd4c_region_take(&region, plan->slot_count, sizeof *work.block_of);
  work.last_use = nd4c_region_take(&region, plan->slot_count, sizeof *work.last_use);
  bool have = work.blocks != NULL && work.block_of != NULL && work.last_use != NULL;
  nd4c_status status = have ? plan_all(&work) : nd4c_error_code();
  nd4c_region_free(&region);
  return status;
}
