/* The kernel choices that the bindings of a plan share (common.h). A choice serves each node of the same op and
 * attributes whose operands have the same dtypes, extents and strides, and the same constants. */
#include <string.h>

#include "base/alloc.h"
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
    length += 3 + 2 * (int64_t)step->tensors[i].rank;
  }
  for (int32_t i = 0; i < node->def->info.attr_count && node->attrs != NULL; i++) {
    length += 1 + (node->attrs[i].kind == ND4C_ATTR_INTS ? node->attrs[i].count : 1);
  }
  return length > INT32_MAX ? nd4c_fail(ND4C_OVERFLOW, "plan: a node of %d operands", step->input_count)
                            : nd4c_grow(&common->signature, &common->signature_capacity, (int32_t)length,
                                        sizeof *common->signature, "a signature");
}

static int32_t write_operand(const nd4c_plan *plan, nd4c_value value, const nd4c_tensor *tensor, int64_t *to) {
  const nd4c_slot *slot = value < 0 ? NULL : &plan->slots[value];
  const nd4c_slot *root = slot == NULL ? NULL : &plan->slots[slot->root];
  const bool constant = root != NULL && root->kind == ND4C_SLOT_CONSTANT;
  int32_t length = 0;
  to[length++] = slot == NULL ? -1 : (int64_t)tensor->dtype << 32 | tensor->rank;
  to[length++] = constant ? (int64_t)(intptr_t)root->array : 0;
  to[length++] = constant ? slot->offset : 0;
  for (int32_t i = 0; slot != NULL && i < tensor->rank; i++) {
    to[length++] = tensor->shape[i];
    to[length++] = tensor->strides[i];
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

static int32_t write_signature(const nd4c_plan *plan, const nd4c_step *step, int32_t kind) {
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  int64_t *to = plan->common->signature;
  int32_t length = 0;
  to[length++] = kind;
  for (int32_t i = 0; i < step->input_count + step->output_count; i++) {
    const nd4c_value value = i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count];
    length += write_operand(plan, value, &step->tensors[i], to + length);
  }
  const uint32_t mask = is_shared(plan, step) ? plan->common->attr_masks[node->outputs[0]] : 0;
  return length + write_attrs(node, mask, to + length);
}

/* -- the table -------------------------------------------------------------------------------------------------------
 */

static nd4c_common_choice *find(const nd4c_plan_common *common, uint64_t hash, int32_t length) {
  nd4c_common_choice *at =
      common->bucket_count == 0 ? NULL : common->buckets[hash & (uint64_t)(common->bucket_count - 1)];
  while (at != NULL && (at->hash != hash || at->length != length ||
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

/* Frees the choices that no binding has any more. */
static void sweep(nd4c_plan_common *common) {
  for (int32_t i = 0; i < common->bucket_count; i++) {
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
    sweep(common);
    const int32_t twice = common->choice_count < INT32_MAX / 2 ? 2 * common->choice_count : INT32_MAX;
    common->choice_limit = common->choice_limit > twice ? common->choice_limit : twice;
  }
  return common->choice_count >= common->bucket_count ? widen(common) : ND4C_OK;
}

/* -- what steps.c asks --------------------------------------------------------------------------------------------- */

nd4c_status nd4c_common_find_choice(nd4c_plan *plan, nd4c_step *step, bool *found) {
  nd4c_plan_common *common = plan->common;
  const int32_t kind = kind_of(plan, step);
  *found = false;
  if (kind < 0) {
    return ND4C_OK;
  }
  ND4C_TRY(make_room(common, plan, step));
  const int32_t length = write_signature(plan, step, kind);
  common->signature_length = length;
  common->signature_hash = nd4c_hash_bytes(0, common->signature, (size_t)length * sizeof *common->signature);
  const nd4c_common_choice *known = find(common, common->signature_hash, length);
  if (known != NULL) {
    *found = true;
    step->choice = nd4c_choice_retain(known->choice);
    nd4c_common_place_constants(plan, known->inputs, step);
  }
  return ND4C_OK;
}

static void note_latest(const nd4c_plan *plan, const nd4c_step *step, nd4c_choice *choice) {
  nd4c_plan_common *common = plan->common;
  const nd4c_value value = plan->graph->nodes[step->node].outputs[0];
  if (choice->form_count > 0 && is_shared(plan, step)) {
    nd4c_choice_release(common->latest[value]);
    common->latest[value] = nd4c_choice_retain(choice);
  }
}

nd4c_status nd4c_common_add_choice(nd4c_plan *plan, const nd4c_step *step) {
  nd4c_plan_common *common = plan->common;
  const int32_t kind = kind_of(plan, step);
  if (kind < 0) {
    return ND4C_OK;
  }
  ND4C_TRY(make_place(common));
  const int32_t length = common->signature_length;
  const size_t signature = (size_t)length * sizeof(int64_t), inputs = (size_t)step->input_count * sizeof(nd4c_tensor);
  nd4c_common_choice *kept = nd4c_recycle_take_raw(sizeof *kept + signature + inputs);
  if (kept == NULL) {
    return nd4c_fail_memory("a kernel choice of a plan", sizeof *kept + signature + inputs);
  }
  *kept = (nd4c_common_choice){.hash = common->signature_hash,
                               .choice = nd4c_choice_retain(step->choice),
                               .length = length,
                               .input_count = step->input_count,
                               .signature = (int64_t *)(kept + 1),
                               .inputs = (nd4c_tensor *)((char *)(kept + 1) + signature)};
  memcpy(kept->signature, common->signature, signature);
  memcpy(kept->inputs, step->tensors, inputs);
  link_choice(common, kept);
  common->choice_count++;
  note_latest(plan, step, step->choice);
  return ND4C_OK;
}

const nd4c_choice *nd4c_common_latest(const nd4c_plan *plan, const nd4c_step *step) {
  return !is_shared(plan, step) ? NULL : plan->common->latest[plan->graph->nodes[step->node].outputs[0]];
}
