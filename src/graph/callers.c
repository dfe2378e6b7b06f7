/* Implements callers.h, except for what runs a plan (run.c). A further caller is a copy of the plan's record: choices,
 * slots and the graph are the plan's; steps, operands, patches, arena and staging are its own. */
#include "graph/callers.h"

#include "base/alloc.h"
#include "base/status.h"
#include "graph/modes/mode.h"

/* So many callers without a run are kept; others are freed with their arenas. */
enum { IDLE_MOST = 16 };

nd4c_status nd4c_callers_init(nd4c_plan *plan) {
  nd4c_plan_callers *callers = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, 1, sizeof *callers, &callers));
  nd4c_lock_init(&callers->lock);
  nd4c_condition_init(&callers->given);
  plan->callers = callers;
  return ND4C_OK;
}

/* -- further callers ----------------------------------------------------------------------------------------------- */

/* An executable may have several runs in flight, so all callers share it. */
static nd4c_status describe_segment(const nd4c_step *from, nd4c_plan *caller, nd4c_step *to) {
  const int32_t count = from->input_count + from->output_count;
  to->node = from->node;
  to->segment = from->segment;
  to->input_count = from->input_count;
  to->output_count = from->output_count;
  to->inputs = from->inputs;
  to->outputs = from->outputs;
  ND4C_TRY(nd4c_region_make(&caller->region, count, sizeof *to->tensors, &to->tensors));
  nd4c_plan_describe_operands(caller, to);
  to->call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                         .input_count = from->input_count,
                         .output_count = from->output_count,
                         .inputs = to->tensors,
                         .outputs = to->tensors + from->input_count};
  return ND4C_OK;
}

/* Other threads may be running the plan, so only what no run changes is read here. */
static nd4c_status copy_step(const nd4c_plan *plan, int32_t index, nd4c_plan *caller) {
  const nd4c_step *from = &plan->steps[index];
  nd4c_step *to = &caller->steps[index];
  ND4C_TRY(from->segment != NULL ? describe_segment(from, caller, to)
                                 : nd4c_plan_describe_step(caller, from->node, to));
  for (int32_t i = 0; i < from->input_count; i++) {
    const nd4c_slot *slot = from->inputs[i] < 0 ? NULL : &plan->slots[from->inputs[i]];
    if (slot != NULL && plan->slots[slot->root].kind == ND4C_SLOT_CONSTANT) {
      to->tensors[i] = from->tensors[i]; /* bound, maybe to a packed form */
    }
  }
  to->call.flags = from->call.flags;
  to->call.stream = from->call.stream;
  to->call.device = from->call.device;
  to->call.width = from->call.width;
  to->choice = from->choice;
  to->control = from->control;
  to->scratch_offset = from->scratch_offset;
  return ND4C_OK;
}

static nd4c_status make_arena(const nd4c_plan_place *from, nd4c_plan_place *place) {
  *place = (nd4c_plan_place){.device = from->device, .arena_bytes = from->arena_bytes};
  if (from->arena == NULL) {
    return ND4C_OK;
  }
  nd4c_status status =
      nd4c_storage_create_own(place->device, NULL, ND4C_DTYPE_NONE, place->arena_bytes, "plan arena", &place->arena);
  return status == ND4C_OK ? status : nd4c_device_fail_prefix(status, place->device, "on", "plan: memory for a caller");
}

static void free_caller(nd4c_plan *caller) {
  (void)nd4c_plan_move(caller, NULL); /* cannot fail: only synchronous devices have further callers */
  nd4c_plan_release_arguments(caller);
  if (caller->places[0].arena != NULL) {
    nd4c_storage_release(caller->places[0].arena);
  }
  nd4c_region_free(&caller->region);
  nd4c_deallocate(caller);
}

static nd4c_status fill_caller(const nd4c_plan *plan, nd4c_plan *caller) {
  ND4C_TRY(make_arena(&plan->places[0], &caller->places[0]));
  ND4C_TRY(nd4c_region_make(&caller->region, plan->step_count, sizeof *caller->steps, &caller->steps));
  for (int32_t i = 0; i < plan->step_count; i++) {
    ND4C_TRY(copy_step(plan, i, caller));
  }
  caller->step_count = plan->step_count;
  ND4C_TRY(nd4c_plan_make_arguments(caller));
  return caller->mode->prepare(caller);
}

static nd4c_status make_caller(nd4c_plan *plan, nd4c_plan **out) {
  nd4c_plan *caller = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *caller, "a caller of a plan", &caller));
  caller->magic = ND4C_PLAN_ALIVE;
  caller->parent = plan;
  caller->arenas = plan->arenas;
  caller->moved = true;
  caller->device = plan->device;
  caller->place_count = 1;
  caller->graph = plan->graph;
  caller->slots = plan->slots;
  caller->slot_count = plan->slot_count;
  caller->mode = plan->mode;
  caller->input_last = plan->input_last;
  caller->output_first = plan->output_first;
  caller->progress = plan->progress;
  nd4c_status status = fill_caller(plan, caller);
  if (status != ND4C_OK) {
    free_caller(caller);
    return status;
  }
  *out = caller;
  return ND4C_OK;
}

/* Mode direct has one place, and calls that no other thread sees. */
static bool has_further_callers(const nd4c_plan *plan) {
  return nd4c_plan_is_direct(plan) && !plan->whole;
}

/* -- taking and giving --------------------------------------------------------------------------------------------- */

nd4c_status nd4c_callers_take(nd4c_plan *plan, nd4c_plan **caller) {
  nd4c_plan_callers *callers = plan->callers;
  const bool further = has_further_callers(plan);
  nd4c_lock_acquire(&callers->lock);
  while (callers->plan_taken && !further) {
    nd4c_condition_wait(&callers->given, &callers->lock);
  }
  nd4c_plan *found = callers->plan_taken ? callers->idle : plan;
  if (found == plan) {
    callers->plan_taken = true;
  } else if (found != NULL) {
    callers->idle = found->next_caller;
    callers->idle_count--;
  }
  nd4c_lock_release(&callers->lock);
  *caller = found;
  return found != NULL ? ND4C_OK : make_caller(plan, caller);
}

void nd4c_callers_give(nd4c_plan *plan, nd4c_plan *caller) {
  nd4c_plan_callers *callers = plan->callers;
  bool kept = true;
  nd4c_lock_acquire(&callers->lock);
  if (caller == plan) {
    callers->plan_taken = false;
    nd4c_condition_wake_one(&callers->given);
  } else {
    kept = callers->idle_count < IDLE_MOST;
    if (kept) {
      caller->next_caller = callers->idle;
      callers->idle = caller;
      callers->idle_count++;
    }
  }
  nd4c_lock_release(&callers->lock);
  if (!kept) {
    free_caller(caller);
  }
}

void nd4c_callers_free(nd4c_plan *plan) {
  nd4c_plan_callers *callers = plan->callers;
  if (callers == NULL) {
    return;
  }
  while (callers->idle != NULL) {
    nd4c_plan *caller = callers->idle;
    callers->idle = caller->next_caller;
    free_caller(caller);
  }
  nd4c_condition_destroy(&callers->given);
  nd4c_lock_destroy(&callers->lock);
  plan->callers = NULL;
}
