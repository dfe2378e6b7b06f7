/* Plans over several devices: where each node runs, and which values cross from one device to another. Stages of
 * nd4c_plan_create (plan.c); steps.c asks for the place of each node. */
#include <string.h>

#include "base/status.h"
#include "device/context/routing.h"
#include "graph/plan.h"
#include "graph/plan/placement.h"

nd4c_status nd4c_placement_check(const nd4c_placement *placement) {
  if (placement->struct_size < ND4C_SIZE_OF(nd4c_placement)) {
    return nd4c_fail(ND4C_ARGUMENT, "placement.struct_size is %u: set it to sizeof(nd4c_placement)",
                     placement->struct_size);
  }
  if (placement->device_of != NULL) {
    return ND4C_OK;
  }
  if (placement->device_count <= 0) {
    return nd4c_fail(ND4C_ARGUMENT, "placement: %d devices and no callback, expected at least one device",
                     placement->device_count);
  }
  if (placement->devices == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "placement.devices is NULL");
  }
  return ND4C_OK;
}

nd4c_device *nd4c_placement_single(const nd4c_placement *placement) {
  nd4c_device *single = placement->device_of == NULL ? placement->devices[0] : NULL;
  for (int32_t i = 1; single != NULL && i < placement->device_count; i++) {
    single = placement->devices[i] == single ? single : NULL;
  }
  return single;
}

/* -- nodes ------------------------------------------------------------------------------------------------------- */

/* Position of the device's place, which is added if there is none yet. */
static nd4c_status find_place(nd4c_plan *plan, nd4c_device *device, int32_t *place) {
  for (*place = 0; *place < plan->place_count; ++*place) {
    if (plan->places[*place].device == device) {
      return ND4C_OK;
    }
  }
  if (plan->place_count == ND4C_PLAN_PLACES) {
    return nd4c_fail(ND4C_ARGUMENT, "placement: more than %d devices", ND4C_PLAN_PLACES);
  }
  ND4C_TRY(nd4c_device_check(device, "placement"));
  /* A context that belongs to the plan's: it has the same settings, and waiting for the plan's context waits for it,
   * too. */
  nd4c_context *route = NULL;
  ND4C_TRY(nd4c_routing_context(plan->context, device, &route));
  plan->places[plan->place_count++] = (nd4c_plan_place){.device = device, .context = nd4c_context_retain(route)};
  return ND4C_OK;
}

static nd4c_device *device_of(const nd4c_plan *plan, int32_t index) {
  const nd4c_placement *placement = plan->placement;
  if (placement->device_of == NULL) {
    return placement->devices[index % placement->device_count];
  }
  const nd4c_graph_node *node = &plan->graph->nodes[index];
  const nd4c_plan_node info = {.struct_size = ND4C_SIZE_OF(nd4c_plan_node),
                               .index = index,
                               .node_count = plan->graph->node_count,
                               .op = &node->def->info,
                               .label = node->label};
  return placement->device_of(placement->user, &info);
}

nd4c_status nd4c_plan_make_places(nd4c_plan *plan) {
  plan->places[0] = (nd4c_plan_place){.device = plan->device, .context = nd4c_context_retain(plan->context)};
  plan->place_count = 1;
  if (plan->placement == NULL) {
    return ND4C_OK;
  }
  int32_t count = plan->graph->node_count;
  int32_t *place_of = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, count, sizeof *place_of, &place_of));
  for (int32_t i = 0; i < count; i++) {
    nd4c_device *device = device_of(plan, i);
    ND4C_TRY(find_place(plan, device != NULL ? device : plan->device, &place_of[i]));
  }
  plan->place_of = place_of;
  plan->placed_count = count;
  return ND4C_OK;
}

void nd4c_plan_add_helper(nd4c_plan *plan) {
  plan->places[plan->place_count++] =
      (nd4c_plan_place){.device = plan->helper->device, .context = nd4c_context_retain(plan->helper)};
}

/* A constant that is a view is copied to a separate array. */
static nd4c_status copy_constant(nd4c_graph_value *value) {
  nd4c_array *copy = NULL;
  nd4c_array *given = value->constant;
  ND4C_TRY(nd4c_array_to_device(given, atomic_load(&given->storage->device), &copy));
  value->constant = copy;
  nd4c_array_release(given);
  return ND4C_OK;
}

/* For a device that takes only whole buffers, all values are in C order and begin at offset 0. */
nd4c_status nd4c_plan_make_whole(nd4c_plan *plan) {
  plan->whole = plan->helper != NULL && plan->helper->device->description.whole_buffers;
  for (int32_t i = 0; i < plan->place_count; i++) {
    plan->whole = plan->whole || plan->places[i].device->description.whole_buffers;
  }
  for (int32_t i = 0; i < plan->graph->value_count && plan->whole; i++) {
    nd4c_graph_value *value = &plan->graph->values[i];
    value->order = NULL;
    if (value->constant != NULL && value->dtype != ND4C_UTF8 && !nd4c_array_is_whole(value->constant)) {
      ND4C_TRY(copy_constant(value));
    }
  }
  return ND4C_OK;
}

int32_t nd4c_plan_place_of(const nd4c_plan *plan, int32_t index) {
  if (plan->place_of == NULL) {
    return 0;
  }
  if (index >= plan->placed_count) { /* a copy to an output, added later: runs where its input is produced */
    const nd4c_slot *root = &plan->slots[plan->slots[plan->graph->nodes[index].inputs[0]].root];
    int32_t producer = plan->graph->values[root - plan->slots].producer;
    return producer < 0 || producer >= plan->placed_count ? 0 : plan->place_of[producer];
  }
  return plan->place_of[index];
}

/* -- what crosses ------------------------------------------------------------------------------------------------ */

static nd4c_slot *root_of(const nd4c_plan *plan, nd4c_value value) {
  return &plan->slots[plan->slots[value].root];
}

static bool reads(const nd4c_plan *plan, const nd4c_step *step, const nd4c_slot *root) {
  bool found = false;
  for (int32_t i = 0; i < step->input_count && !found; i++) {
    const nd4c_value value = step->inputs[i];
    found = value >= 0 && root_of(plan, value) == root;
  }
  return found;
}

/* True if a step of another device than the slot's own reads the root's memory. `place`: of this device; -1: of any. */
static bool is_read_elsewhere(const nd4c_plan *plan, const nd4c_slot *root, int32_t home, int32_t place) {
  bool found = false;
  for (int32_t i = 0; i < plan->step_count && !found; i++) {
    const nd4c_step *step = &plan->steps[i];
    found = step->place != home && (place < 0 || step->place == place) && reads(plan, step, root);
  }
  return found;
}

void nd4c_plan_split_slots(nd4c_plan *plan) {
  if (plan->place_count == 1) {
    return;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    for (int32_t k = 0; k < plan->steps[i].output_count; k++) {
      root_of(plan, plan->steps[i].outputs[k])->place = plan->steps[i].place;
    }
  }
  for (int32_t i = 0; i < plan->slot_count; i++) {
    nd4c_slot *slot = &plan->slots[i];
    if (slot->kind == ND4C_SLOT_ARENA && slot->bytes > 0 && is_read_elsewhere(plan, slot, slot->place, -1)) {
      slot->kind = ND4C_SLOT_OWN;
    }
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    for (int32_t k = 0; k < plan->steps[i].output_count; k++) {
      nd4c_value value = plan->steps[i].outputs[k];
      nd4c_slot *root = root_of(plan, value);
      root->in_parts = root->in_parts || (root->kind == ND4C_SLOT_OWN && plan->slots[value].root != value);
    }
  }
}

/* Position of the device that has the root's value before the first copy; -1: none of the plan's. */
static int32_t home_of(const nd4c_plan *plan, const nd4c_slot *root) {
  if (root->kind != ND4C_SLOT_CONSTANT) {
    return root->kind == ND4C_SLOT_INPUT ? 0 : root->place;
  }
  const nd4c_device *device = atomic_load(&root->array->storage->device);
  for (int32_t i = 0; i < plan->place_count; i++) {
    if (plan->places[i].device == device) {
      return i;
    }
  }
  return -1;
}

/* True if an earlier constant is in the same storage: one copy serves both. */
static bool is_repeated(const nd4c_plan *plan, int32_t slot) {
  const nd4c_slot *root = &plan->slots[slot];
  for (int32_t i = 0; i < slot && root->kind == ND4C_SLOT_CONSTANT; i++) {
    const nd4c_slot *other = &plan->slots[i];
    if (other->kind == ND4C_SLOT_CONSTANT && other->array->storage == root->array->storage) {
      return true;
    }
  }
  return false;
}

static int64_t bytes_of(const nd4c_slot *root) {
  return root->kind == ND4C_SLOT_CONSTANT ? root->array->storage->bytes : root->bytes;
}

typedef void (*copy_visitor)(void *user, const nd4c_plan *plan, int32_t slot, int32_t from, int32_t to);

static void visit_copies(const nd4c_plan *plan, copy_visitor visit, void *user) {
  for (int32_t i = 0; i < plan->slot_count; i++) {
    const nd4c_slot *root = &plan->slots[i];
    if (root->kind == ND4C_SLOT_UNUSED || root->kind == ND4C_SLOT_VIEW || bytes_of(root) == 0 || is_repeated(plan, i)) {
      continue;
    }
    int32_t home = home_of(plan, root);
    for (int32_t place = 0; place < plan->place_count; place++) {
      if (place != home && is_read_elsewhere(plan, root, home, place)) {
        visit(user, plan, i, home, place);
      }
    }
  }
}

static void count_copy(void *user, const nd4c_plan *plan, int32_t slot, int32_t from, int32_t to) {
  nd4c_plan_copies *copies = user;
  const nd4c_slot *root = &plan->slots[slot];
  (void)from;
  (void)to;
  bool input = root->kind == ND4C_SLOT_INPUT, constant = root->kind == ND4C_SLOT_CONSTANT;
  *(input ? &copies->inputs : constant ? &copies->constants : &copies->values) += 1;
  *(input ? &copies->input_bytes : constant ? &copies->constant_bytes : &copies->value_bytes) += bytes_of(root);
}

nd4c_status nd4c_plan_get_copies(const nd4c_plan *plan, nd4c_plan_copies *copies) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (copies == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_get_copies: copies is NULL");
  }
  if (copies->struct_size < ND4C_SIZE_OF(nd4c_plan_copies)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_plan_copies)", copies->struct_size);
  }
  *copies = (nd4c_plan_copies){.struct_size = copies->struct_size};
  visit_copies(plan, count_copy, copies);
  return ND4C_OK;
}

static void print_copy(void *user, const nd4c_plan *plan, int32_t slot, int32_t from, int32_t to) {
  const nd4c_slot *root = &plan->slots[slot];
  int32_t producer = plan->graph->values[slot].producer;
  char node[256] = "";
  const char *what = root->kind == ND4C_SLOT_INPUT      ? "an input"
                     : root->kind == ND4C_SLOT_CONSTANT ? "a constant, once"
                     : producer < 0                     ? "a value"
                                                        : nd4c_plan_node_text(plan, producer, node, sizeof node);
  nd4c_text_print(user, "  %s -> %s: %lld bytes, %s\n", from < 0 ? "elsewhere" : plan->places[from].device->name,
                  plan->places[to].device->name, (long long)bytes_of(root), what);
}

void nd4c_plan_print_copies(const nd4c_plan *plan, nd4c_text *text) {
  nd4c_plan_copies copies = {.struct_size = ND4C_SIZE_OF(nd4c_plan_copies)};
  visit_copies(plan, count_copy, &copies);
  nd4c_text_print(
      text,
      "copies between devices: %lld of inputs (%lld bytes), %lld of values (%lld bytes) in each run, %lld of "
      "constants (%lld bytes) once\n",
      (long long)copies.inputs, (long long)copies.input_bytes, (long long)copies.values, (long long)copies.value_bytes,
      (long long)copies.constants, (long long)copies.constant_bytes);
  visit_copies(plan, print_copy, text);
}
