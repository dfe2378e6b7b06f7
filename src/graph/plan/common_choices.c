/* The kernel choices that the bindings of a plan share (common.h). A choice serves each node of the same op and
 * attributes whose operands have the same dtypes, extents and strides, and the same constants. Its state serves nodes
 * with other constants, too, if its kernel has read none: a network of equal layers prepares one of them. */
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/recycle.h"
#include "base/status.h"
#include "graph/ir/attrs.h"
#include "graph/plan/common.h"

enum { LEAST = 256, COPY = INT32_MAX }; /* COPY: the kind of copies that a binding adds for views and outputs */

/* -- signatures ------------------------------------------------------------------------------------------------------
 */

/* Whether the binding's node is one of the plan's. slots.c turns nodes into copies, which have other attributes. */
static bool is_shared(const nd4c_plan *plan, const nd4c_step *step) {
  const nd4c_graph *graph = plan->common->graph;
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  const nd4c_value output = node->outputs[0];
  return output < graph->value_count && graph->nodes[graph->values[output].producer].def == node->def;
}

static int32_t kind_of(const nd4c_plan *plan, const nd4c_step *step) {
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  if (is_shared(plan, step)) {
    return plan->common->kinds[node->outputs[0]];
  }
  return node->def->info.op == ND4C_OP_copy ? (int32_t)COPY : -1;
}

/* Room for the signature of a step. */
static nd4c_status make_room(nd4c_plan_common *common, const nd4c_plan *plan, const nd4c_step *step) {
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  int64_t length = 2;
  for (int32_t i = 0; i < step->input_count + step->output_count; i++) {
    length += 4 + 2 * (int64_t)step->tensors[i].rank;
  }
  for (int32_t i = 0; i < node->def->info.attr_count && node->attrs != NULL; i++) {
    length += 1 + (node->attrs[i].kind == ND4C_ATTR_INTS ? node->attrs[i].count : 1);
  }
  return length > INT32_MAX ? nd4c_fail(ND4C_OVERFLOW, "plan: a node of %d operands", step->input_count)
                            : nd4c_grow(&common->signature, &common->signature_capacity, (int32_t)length,
                                        sizeof *common->signature, "a signature");
}

/* The slot that has the operand's memory if it is a constant; NULL: it is not. */
static const nd4c_slot *constant_of(const nd4c_plan *plan, nd4c_value value) {
  const nd4c_slot *root = value < 0 ? NULL : &plan->slots[plan->slots[value].root];
  return root != NULL && root->kind == ND4C_SLOT_CONSTANT ? root : NULL;
}

static int32_t write_operand(const nd4c_plan *plan, nd4c_value value, const nd4c_tensor *tensor, int64_t *to) {
  int32_t length = 0;
  to[length++] = value < 0 ? -1 : (int64_t)tensor->dtype << 32 | tensor->rank;
  const nd4c_slot *root = constant_of(plan, value);
  to[length++] = root != NULL;
  for (int32_t i = 0; value >= 0 && i < tensor->rank; i++) {
    to[length++] = tensor->shape[i];
    to[length++] = tensor->strides[i];
  }
  return length;
}

static int32_t write_constants(const nd4c_plan *plan, const nd4c_step *step, int64_t *to) {
  int32_t length = 0;
  for (int32_t i = 0; i < step->input_count; i++) {
    const nd4c_slot *root = constant_of(plan, step->inputs[i]);
    if (root != NULL) {
      to[length++] = (int64_t)(intptr_t)root->array;
      to[length++] = plan->slots[step->inputs[i]].offset;
    }
  }
  return length;
}

/* The numbers of attributes that depend on dims. */
static int32_t write_attrs(const nd4c_graph_node *node, uint32_t mask, int64_t *to) {
  int32_t length = 0;
  for (int32_t i = 0; mask != 0 && i < node->def->info.attr_count; i++) {
    const nd4c_attr_value *value = &node->attrs[i];
    if ((mask >> i & 1) == 0) {
      continue;
    }
    const int64_t *numbers = value->kind == ND4C_ATTR_INTS ? value->as.ints : &value->as.i;
    const int32_t count = value->kind == ND4C_ATTR_INTS ? value->count : 1;
    to[length++] = count;
    for (int32_t k = 0; k < count; k++) {
      to[length++] = numbers[k];
    }
  }
  return length;
}

static void write_signature(const nd4c_plan *plan, const nd4c_step *step, int32_t kind) {
  nd4c_plan_common *common = plan->common;
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  int64_t *to = common->signature;
  int32_t length = 0;
  to[length++] = kind;
  for (int32_t i = 0; i < step->input_count + step->output_count; i++) {
    const nd4c_value value = i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count];
    length += write_operand(plan, value, &step->tensors[i], to + length);
  }
  const uint32_t mask = is_shared(plan, step) ? common->attr_masks[node->outputs[0]] : 0;
  length += write_attrs(node, mask, to + length);
  const int32_t constants = write_constants(plan, step, to + length);
  common->class_length = length;
  common->signature_length = length + constants;
  common->class_hash = nd4c_hash_bytes(0, to, (size_t)length * sizeof *to);
  common->signature_hash = constants == 0
                               ? common->class_hash
                               : nd4c_hash_bytes(common->class_hash, to + length, (size_t)constants * sizeof *to);
}

/* -- the table -------------------------------------------------------------------------------------------------------
 */

/* `length`: of the part of the signature that is the key. Of choices with a kernel that a binding has kept, it finds
 * those of `kernel` alone: where nothing is kept, a search may find a better one. */
static nd4c_common_choice *find(const nd4c_plan_common *common, uint64_t hash, int32_t length,
                                const nd4c_kernel *kernel) {
  nd4c_common_choice *at =
      common->bucket_count == 0 ? NULL : common->buckets[hash & (uint64_t)(common->bucket_count - 1)];
  while (at != NULL && (at->hash != hash || at->key_length != length || (at->kept && at->choice->kernel != kernel) ||
                        memcmp(at->signature, common->signature, (size_t)length * sizeof *at->signature) != 0)) {
    at = at->next;
  }
  return at;
}

void nd4c_common_choice_free(nd4c_common_choice *choice) {
  nd4c_choice_release(choice->choice);
  nd4c_recycle_give(choice, sizeof *choice + (size_t)choice->length * sizeof *choice->signature +
                                (size_t)choice->input_count * sizeof *choice->inputs);
}

void nd4c_common_sweep(nd4c_plan_common *common) {
  for (int32_t i = 0; common != NULL && i < common->bucket_count; i++) {
    nd4c_common_choice **link = &common->buckets[i];
    while (*link != NULL) {
      nd4c_common_choice *at = *link;
      if (atomic_load_explicit(&at->choice->references, memory_order_acquire) > 1) {
        link = &at->next;
        continue;
      }
      *link = at->next;
      nd4c_common_choice_free(at);
      common->choice_count--;
    }
  }
}

static void link_choice(nd4c_plan_common *common, nd4c_common_choice *choice) {
  nd4c_common_choice **bucket = &common->buckets[choice->hash & (uint64_t)(common->bucket_count - 1)];
  choice->next = *bucket;
  *bucket = choice;
}

static nd4c_status widen(nd4c_plan_common *common) {
  const int32_t old_count = common->bucket_count, count = old_count == 0 ? LEAST : 2 * old_count;
  nd4c_common_choice **old = common->buckets, **wider = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count, sizeof *wider, "choices of a plan", &wider));
  common->buckets = wider;
  common->bucket_count = count;
  for (int32_t i = 0; i < old_count; i++) {
    while (old[i] != NULL) {
      nd4c_common_choice *moved = old[i];
      old[i] = moved->next;
      link_choice(common, moved);
    }
  }
  nd4c_deallocate(old);
  return ND4C_OK;
}

/* Room for another choice: those that are not in use go once they are as many as the others. */
static nd4c_status make_place(nd4c_plan_common *common) {
  const int32_t nodes = common->graph->node_count;
  if (common->choice_limit == 0) {
    common->choice_limit = 8 * (nodes < LEAST ? LEAST : nodes);
  }
  if (common->choice_count >= common->choice_limit) {
    nd4c_common_sweep(common);
    const int32_t twice = common->choice_count < INT32_MAX / 2 ? 2 * common->choice_count : INT32_MAX;
    common->choice_limit = common->choice_limit > twice ? common->choice_limit : twice;
  }
  return common->choice_count >= common->bucket_count ? widen(common) : ND4C_OK;
}

/* -- what steps.c asks --------------------------------------------------------------------------------------------- */

nd4c_constants nd4c_common_constants(const nd4c_plan *plan, const nd4c_step *step, const nd4c_constant_input *items) {
  nd4c_constants constants = {.inputs = step->tensors, .items = items};
  if (plan->common == NULL || !is_shared(plan, step)) {
    return constants;
  }
  const nd4c_common_latest *latest = &plan->common->latest[plan->graph->nodes[step->node].outputs[0]];
  bool same = latest->choice != NULL;
  for (int32_t i = 0; i < step->input_count && same; i++) {
    same = items[i].array == latest->items[i].array && items[i].offset == latest->items[i].offset;
  }
  constants.like = same ? latest->choice : NULL;
  constants.placed = same ? latest->inputs : NULL;
  return constants;
}

/* Keeps what later choices of the node can use of this one. */
static nd4c_status note_latest(const nd4c_plan *plan, const nd4c_step *step) {
  nd4c_plan_common *common = plan->common;
  if (common->signature_length == common->class_length || !is_shared(plan, step)) {
    return ND4C_OK; /* it has no constants */
  }
  nd4c_common_latest *latest = &common->latest[plan->graph->nodes[step->node].outputs[0]];
  if (latest->inputs == NULL) {
    ND4C_TRY(nd4c_region_make(&common->region, step->input_count, sizeof *latest->items, &latest->items));
    ND4C_TRY(nd4c_region_make(&common->region, step->input_count, sizeof *latest->inputs, &latest->inputs));
  }
  nd4c_plan_find_constants(plan, step, latest->items);
  memcpy(latest->inputs, step->tensors, (size_t)step->input_count * sizeof *latest->inputs);
  nd4c_choice_release(latest->choice);
  latest->choice = nd4c_choice_retain(step->choice);
  return ND4C_OK;
}

/* Gives the step the choice or, if its constants are others, one that shares its state. */
static nd4c_status take(nd4c_plan *plan, nd4c_step *step, const nd4c_common_choice *known, const nd4c_kernel *kernel) {
  const nd4c_plan_common *common = plan->common;
  const size_t constants = (size_t)(common->signature_length - common->class_length) * sizeof *common->signature;
  if (constants == 0 ||
      memcmp(known->signature + common->class_length, common->signature + common->class_length, constants) == 0) {
    step->choice = nd4c_choice_retain(known->choice);
    nd4c_common_place_constants(plan, known->inputs, step);
    return ND4C_OK;
  }
  if (kernel != NULL && known->choice->kernel != kernel) {
    return ND4C_OK;
  }
  const nd4c_constant_input *items = nd4c_plan_constants_of(plan, step);
  if (items == NULL) {
    return nd4c_error_code();
  }
  const nd4c_constants own = nd4c_common_constants(plan, step, items);
  ND4C_TRY(nd4c_choice_make_alike(plan->context, &step->call, &own, known->choice, &step->choice));
  if (step->choice == NULL) {
    nd4c_constants_reset(&own, step->input_count);
    return ND4C_OK;
  }
  nd4c_plan_note_bound(plan, step, items);
  const nd4c_status status = note_latest(plan, step);
  if (status != ND4C_OK) {
    nd4c_choice_release(step->choice);
    step->choice = NULL;
  }
  return status;
}

nd4c_status nd4c_common_find_choice(nd4c_plan *plan, nd4c_step *step, const nd4c_kernel *kernel, bool *found) {
  nd4c_plan_common *common = plan->common;
  const int32_t kind = kind_of(plan, step);
  *found = false;
  if (kind < 0) {
    return ND4C_OK;
  }
  ND4C_TRY(make_room(common, plan, step));
  write_signature(plan, step, kind);
  const nd4c_common_choice *known = find(common, common->class_hash, common->class_length, kernel);
  ND4C_TRY(known != NULL ? take(plan, step, known, kernel) : ND4C_OK);
  if (step->choice == NULL && common->signature_length > common->class_length) {
    known = find(common, common->signature_hash, common->signature_length, kernel);
    ND4C_TRY(known != NULL ? take(plan, step, known, kernel) : ND4C_OK);
  }
  *found = step->choice != NULL;
  return ND4C_OK;
}

/* Signatures do not tell the formats of encoded constants, and some kernel may read one format but not another. */
static bool has_encoded_constant(const nd4c_plan *plan, const nd4c_step *step) {
  bool encoded = false;
  for (int32_t i = 0; i < step->input_count && !encoded; i++) {
    const nd4c_slot *root = constant_of(plan, step->inputs[i]);
    encoded = root != NULL && nd4c_encoded_layout(root->array->storage) != NULL;
  }
  return encoded;
}

nd4c_status nd4c_common_add_choice(nd4c_plan *plan, const nd4c_step *step, bool kept) {
  nd4c_plan_common *common = plan->common;
  const int32_t kind = kind_of(plan, step);
  if (kind < 0) {
    return ND4C_OK;
  }
  ND4C_TRY(make_place(common));
  ND4C_TRY(note_latest(plan, step));
  const int32_t length = common->signature_length;
  const size_t signature = (size_t)length * sizeof(int64_t), inputs = (size_t)step->input_count * sizeof(nd4c_tensor);
  nd4c_common_choice *added = nd4c_recycle_take_raw(sizeof *added + signature + inputs);
  if (added == NULL) {
    return nd4c_fail_memory("a kernel choice of a plan", sizeof *added + signature + inputs);
  }
  /* A class has one model: the first one whose kernel could take all constants so far. */
  const bool model = nd4c_choice_is_model(step->choice) && !has_encoded_constant(plan, step) &&
                     find(common, common->class_hash, common->class_length, kept ? step->choice->kernel : NULL) == NULL;
  *added = (nd4c_common_choice){.hash = model ? common->class_hash : common->signature_hash,
                                .choice = nd4c_choice_retain(step->choice),
                                .length = length,
                                .key_length = model ? common->class_length : length,
                                .kept = kept,
                                .input_count = step->input_count,
                                .signature = (int64_t *)(added + 1),
                                .inputs = (nd4c_tensor *)((char *)(added + 1) + signature)};
  memcpy(added->signature, common->signature, signature);
  memcpy(added->inputs, step->tensors, inputs);
  link_choice(common, added);
  common->choice_count++;
  common->choice_bytes += (int64_t)(sizeof *added + sizeof *added->choice + signature + inputs);
  return ND4C_OK;
}
