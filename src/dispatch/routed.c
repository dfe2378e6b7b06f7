/* Implements routed.h: votes, tries devices in order, and remembers decisions. call.c enters here if the context has
 * routing. Also nd4c_routing_set_op, which programs call. */
#include "dispatch/routed.h"

#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/status.h"
#include "base/text.h"
#include "device/storage/storage.h"
#include "dispatch/call_cache.h"
#include "dispatch/decisions.h"
#include "dispatch/engines.h"
#include "dispatch/pending.h"

/* A vote takes as long as twenty small calls, and rarely changes their device. */
enum { USES = 256, SMALL_USES = 4096, REASON_SIZE = 512, OUTPUTS = 8 };

/* -- decisions that are remembered -------------------------------------------------------------------------------- */

/* Hashes the places of the inputs: the device of the newest value, and all devices where it is current. Strictness is
 * part of the key, because a strict context fails where others fall back. */
static inline uint64_t mix_places(uint64_t key, const nd4c_context *context, const nd4c_eager_call *call) {
  key ^= context->strict ? UINT64_C(0xd6e8feb86659fd93) : 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    if (call->inputs[i] != NULL) {
      nd4c_storage *storage = call->inputs[i]->storage;
      const nd4c_device *device = atomic_load_explicit(&storage->device, memory_order_relaxed);
      bool alone = atomic_load_explicit(&storage->address, memory_order_relaxed) != NULL;
      uint64_t places = ND4C_LIKELY(alone) ? 0 : nd4c_storage_places(storage);
      key = (key ^ (uint64_t)device->number ^ places << 8 ^ places >> 56) * UINT64_C(0x9fb21c651e98df25);
      key ^= key >> 32;
    }
  }
  return key ^ key >> 32;
}

static bool are_alone_on(const nd4c_device *device, const nd4c_eager_call *call) {
  bool alone = true;
  for (int32_t i = 0; i < call->input_count; i++) {
    alone = alone && (call->inputs[i] == NULL || nd4c_storage_ready_address(call->inputs[i]->storage, device) != NULL);
  }
  return alone;
}

/* Stores the decision in the call's cache entry if the fast path (call.c) can use it there, else in the table. */
static void remember(const nd4c_context *context, const nd4c_eager_call *call, uint64_t key, nd4c_device *device,
                     int32_t uses) {
  uint32_t routing = context->routing->number;
  if (key != 0 && !(nd4c_device_is_immediate(device) && are_alone_on(device, call) &&
                    nd4c_call_cache_decide(call->key, device, routing, uses))) {
    nd4c_decisions_add(key, routing, device, uses);
  }
}

/* -- one device ------------------------------------------------------------------------------------------------ */

/* A given output that a failing device could spoil: part of a storage, or an array that is still to be read. */
static bool is_at_risk(const nd4c_eager_call *call, const nd4c_array *output) {
  if (!output->contiguous || output->offset != 0 ||
      nd4c_dtype_bytes(output->dtype, output->size) != output->storage->bytes) {
    return true;
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    if (call->inputs[i] != NULL && nd4c_array_overlaps(call->inputs[i], output)) {
      return true;
    }
  }
  return false;
}

static bool has_output_at_risk(const nd4c_eager_call *call, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (call->outputs[i] != NULL && nd4c_array_check(call->outputs[i], "output") == ND4C_OK &&
        is_at_risk(call, call->outputs[i])) {
      return true;
    }
  }
  return false;
}

/* Failures after which another device may succeed. */
static bool is_failure(nd4c_status status) {
  return status == ND4C_DEVICE || status == ND4C_DEVICE_LOST || status == ND4C_MEMORY || status == ND4C_MEMORY_CAP;
}

static nd4c_status hand_over_on_host(nd4c_context *context, const nd4c_array *from, nd4c_array **to) {
  nd4c_device *host = NULL;
  nd4c_context *on_host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_routing_context(context, host, &on_host));
  return nd4c_call_inside(on_host, ND4C_OP_copy, from, to);
}

/* Copies a result to the array that was given for it; on the host, if the copy fails on `route`. */
static nd4c_status hand_over(nd4c_context *context, nd4c_context *route, const nd4c_array *from, nd4c_array **to) {
  if (context->routing->wait) {
    return hand_over_on_host(context, from, to); /* a copy that fails in flight would destroy the contents of `to` */
  }
  bool had_value = !nd4c_storage_is_poisoned((*to)->storage);
  nd4c_status status = nd4c_call_inside(route, ND4C_OP_copy, from, to);
  if (is_failure(status) || status == ND4C_UNSUPPORTED) {
    if (had_value && status != ND4C_UNSUPPORTED) {
      nd4c_storage_spare((*to)->storage, route->device);
    }
    status = hand_over_on_host(context, from, to);
  }
  return status;
}

/* Whether a result has no value because an input has none: then no other device can compute it either. */
static bool has_lost_input(const nd4c_eager_call *call) {
  bool lost = false;
  for (int32_t i = 0; i < call->input_count && !lost; i++) {
    lost = call->inputs[i] != NULL && nd4c_storage_wait(call->inputs[i]->storage) != ND4C_OK;
  }
  return lost;
}

/* nd4c_call_on; if the routing waits, also waits for the work, so that a failure in flight is the call's and leaves no
 * result. */
static nd4c_status call_to_the_end(const nd4c_routing *routing, nd4c_context *route, const nd4c_op_def *def,
                                   const nd4c_eager_call *call) {
  int32_t count = def->info.output_count;
  if (ND4C_LIKELY(!routing->wait) || nd4c_device_is_immediate(route->device) || count > OUTPUTS) {
    return nd4c_call_on(route, call);
  }
  nd4c_array *given[OUTPUTS];
  memcpy(given, call->outputs, (size_t)count * sizeof(nd4c_array *));
  nd4c_status status = nd4c_call_on(route, call), first = status;
  char text[REASON_SIZE] = "";
  for (int32_t i = 0; i < count && first == ND4C_OK; i++) {
    first = nd4c_storage_wait(call->outputs[i]->storage);
    if (first != ND4C_OK) {
      (void)snprintf(text, sizeof text, "%s", nd4c_error_message());
    }
  }
  if (status != ND4C_OK || first == ND4C_OK) {
    return status;
  }
  for (int32_t i = 0; i < count; i++) {
    if (given[i] == NULL) {
      nd4c_array_release(call->outputs[i]);
      call->outputs[i] = NULL;
    }
  }
  /* The copy of an input to the device may have failed, although the input itself is intact. */
  first = first == ND4C_POISONED && !has_lost_input(call) ? ND4C_DEVICE : first;
  return nd4c_fail(first, "%s", text);
}

/* Computes into fresh arrays first, so that the given outputs are unchanged if the device fails. */
static nd4c_status run_aside(nd4c_context *context, nd4c_context *route, const nd4c_op_def *def,
                             const nd4c_eager_call *call) {
  int32_t count = def->info.output_count;
  nd4c_array *fresh[OUTPUTS] = {NULL};
  nd4c_eager_call aside = *call;
  aside.outputs = fresh;
  aside.key = 0;
  nd4c_status status = call_to_the_end(context->routing, route, def, &aside);
  status = status == ND4C_OK ? nd4c_pending_check_given(def, call->outputs, fresh) : status;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    const nd4c_array *from = fresh[i];
    if (call->outputs[i] != NULL) {
      status = hand_over(context, route, from, &call->outputs[i]);
    }
  }
  nd4c_pending_hand_out(call->outputs, fresh, count, status);
  return status;
}

static nd4c_status run_on(nd4c_context *context, nd4c_device *device, const nd4c_op_def *def,
                          const nd4c_eager_call *call) {
  nd4c_context *route = NULL;
  ND4C_TRY(nd4c_routing_context(context, device, &route));
  if (ND4C_UNLIKELY(!nd4c_device_is_immediate(device) && has_output_at_risk(call, def->info.output_count))) {
    return run_aside(context, route, def, call);
  }
  return call_to_the_end(context->routing, route, def, call);
}

/* -- the chain ------------------------------------------------------------------------------------------------- */

static const char *input_name(const nd4c_op_info *op, int32_t index) {
  return op->input_count == 0 ? "?" : op->inputs[index < op->input_count ? index : op->input_count - 1].name;
}

static nd4c_status fail_transfer(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_eager_call *call) {
  nd4c_text text = {0};
  for (int32_t i = 0; i < call->input_count; i++) {
    if (call->inputs[i] != NULL) {
      const nd4c_device *device = atomic_load(&call->inputs[i]->storage->device);
      nd4c_text_print(&text, "%s'%s' is on %s", text.length > 0 ? ", " : "", input_name(op, i), device->name);
    }
  }
  nd4c_status status =
      nd4c_fail(ND4C_ARGUMENT,
                "%s: no device on which it may run has all inputs (%s), and automatic transfer is off: "
                "move them with nd4c_array_to_device, or allow it (%s)",
                op->name, text.bytes != NULL ? text.bytes : "",
                routing->by_property ? "nd4c.routing.transfer" : "nd4c_routing_options.no_transfer");
  nd4c_text_free(&text);
  return status;
}

/* Keeps only the devices that need no copies. */
static void drop_remote(nd4c_ballot *ballot) {
  int32_t kept = 0;
  for (int32_t i = 0; i < ballot->count; i++) {
    if (ballot->votes[i].has_all) {
      ballot->votes[kept++] = ballot->votes[i];
    }
  }
  ballot->count = kept;
}

/* The outcomes on devices before the last one. */
typedef struct chain {
  nd4c_text trail; /* a line each */
  int32_t failed;
  nd4c_status first;    /* of the first device that failed or declined */
  nd4c_device *earlier; /* the device that failed before the vote, not asked again; NULL: none */
  char earlier_reason[REASON_SIZE];
} chain;

static void note(chain *c, const nd4c_device *device, nd4c_status status) {
  nd4c_text_print(&c->trail, "\n  %s: %s", device->name, nd4c_error_message());
  c->first = c->first == ND4C_OK ? status : c->first;
  c->failed += is_failure(status);
}

/* Whether the device was asked for: in the op's or category's own list, or by its type. */
static bool is_preferred(const nd4c_routing *routing, const nd4c_ballot *ballot, const nd4c_device *device) {
  nd4c_routing_policy by_type =
      device->description.type == ND4C_DEVICE_CPU ? ND4C_ROUTING_PREFER_CPU : ND4C_ROUTING_PREFER_GPU;
  return ballot->own_list || routing->policy == by_type;
}

/* Reports devices that failed, and preferred devices that declined. */
static void report(const nd4c_op_info *op, const nd4c_device *device, const nd4c_device *applied, const char *reason) {
  nd4c_report_difference(op->name, device->name, applied->name, reason);
}

/* The position of a device that was asked for and lost the vote only for lack of room; 0: there is none. */
static int32_t find_crowded_out(const nd4c_routing *routing, const nd4c_ballot *ballot) {
  for (int32_t i = 1; i < ballot->count; i++) {
    const nd4c_vote *vote = &ballot->votes[i];
    if (!vote->fits && is_preferred(routing, ballot, vote->device) && vote->wanted > ballot->votes[0].wanted) {
      return i;
    }
  }
  return 0;
}

/* In a strict context the device itself reports that it has no room. */
static void ask_crowded_out_first(const nd4c_routing *routing, nd4c_ballot *ballot) {
  int32_t at = find_crowded_out(routing, ballot);
  nd4c_vote vote = ballot->votes[at];
  memmove(&ballot->votes[1], &ballot->votes[0], (size_t)at * sizeof vote);
  ballot->votes[0] = vote;
}

static void report_crowded_out(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_ballot *ballot,
                               const nd4c_device *used) {
  const nd4c_vote *vote = &ballot->votes[find_crowded_out(routing, ballot)];
  if (vote != &ballot->votes[0] && used != vote->device) {
    char reason[REASON_SIZE];
    (void)snprintf(reason, sizeof reason, "no room there: %lld bytes are free, the inputs alone take %lld",
                   (long long)vote->free_bytes, (long long)ballot->input_bytes);
    report(op, vote->device, used, reason);
  }
}

static nd4c_status run_chain(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call,
                             const nd4c_ballot *ballot, chain *c, nd4c_device **used) {
  char reasons[ND4C_ROUTING_DEVICES][REASON_SIZE];
  bool told[ND4C_ROUTING_DEVICES] = {false};
  const nd4c_op_info *op = &def->info;
  for (int32_t i = 0; i < ballot->count; i++) {
    const nd4c_vote *vote = &ballot->votes[i];
    nd4c_status status = run_on(context, vote->device, def, call);
    if (status == ND4C_OK) {
      if (c->earlier != NULL) {
        report(op, c->earlier, vote->device, c->earlier_reason);
      }
      for (int32_t k = 0; k < i; k++) {
        if (told[k]) {
          report(op, ballot->votes[k].device, vote->device, reasons[k]);
        }
      }
      *used = vote->device;
      return ND4C_OK;
    }
    bool failed = is_failure(status);
    bool alone = ballot->count == 1 && c->earlier == NULL;
    told[i] = failed || is_preferred(context->routing, ballot, vote->device);
    if ((!failed && status != ND4C_UNSUPPORTED) || (told[i] && context->strict) || alone) {
      return status; /* the call itself is wrong, or no other device may be asked */
    }
    (void)snprintf(reasons[i], sizeof reasons[i], "%s", nd4c_error_message());
    note(c, vote->device, status);
  }
  return nd4c_fail(c->first, "%s: none of the devices that it is routed to computes this call:%s", op->name,
                   c->trail.bytes != NULL ? c->trail.bytes : "");
}

/* Without `device`, where the call failed before. */
static void drop_device(nd4c_ballot *ballot, const nd4c_device *device) {
  int32_t kept = 0;
  for (int32_t i = 0; i < ballot->count; i++) {
    if (ballot->votes[i].device != device) {
      ballot->votes[kept++] = ballot->votes[i];
    }
  }
  ballot->count = kept;
}

/* failed: a device on which the call has just failed, with `failure` and its text; NULL: none. */
static nd4c_status call_voted(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call, uint64_t key,
                              nd4c_device *failed, nd4c_status failure) {
  const nd4c_routing *routing = context->routing;
  chain c = {.first = ND4C_OK, .earlier = failed};
  if (failed != NULL) {
    (void)snprintf(c.earlier_reason, sizeof c.earlier_reason, "%s", nd4c_error_message());
    note(&c, failed, failure);
  }
  nd4c_ballot ballot;
  nd4c_routing_vote(routing, &def->info, call->inputs, call->input_count, 0, &ballot);
  drop_device(&ballot, failed);
  if (!routing->transfer) {
    drop_remote(&ballot);
  }
  nd4c_device *used = NULL;
  nd4c_status status = ND4C_OK;
  if (context->strict) {
    ask_crowded_out_first(routing, &ballot);
  }
  if (ballot.count > 0) {
    status = run_chain(context, def, call, &ballot, &c, &used);
  } else {
    status = failed != NULL ? nd4c_fail(failure, "%s", c.earlier_reason) : fail_transfer(routing, &def->info, call);
  }
  if (status == ND4C_OK) {
    report_crowded_out(routing, &def->info, &ballot, used);
  }
  bool voted_freely = c.failed == 0 && find_crowded_out(routing, &ballot) == 0; /* otherwise the next attempt may
                                                                                   succeed */
  if (status == ND4C_OK && voted_freely && routing->transfer) {
    bool small = ballot.input_bytes > 0 && ballot.input_bytes <= routing->small_bytes;
    remember(context, call, key, used, small ? SMALL_USES : USES);
  }
  nd4c_text_free(&c.trail);
  return status;
}

/* After `device` has failed without a vote: votes among the others, if one of them may succeed. */
static nd4c_status go_on(nd4c_context *context, const nd4c_op_def *def, const nd4c_eager_call *call, uint64_t key,
                         nd4c_device *device, nd4c_status status) {
  if (ND4C_LIKELY(status == ND4C_OK)) {
    return ND4C_OK;
  }
  if (status == ND4C_UNSUPPORTED) {
    return call_voted(context, def, call, key, NULL, ND4C_OK);
  }
  return is_failure(status) && !context->strict ? call_voted(context, def, call, key, device, status) : status;
}

/* -- entry ----------------------------------------------------------------------------------------------------- */

/* False: the call is invalid; the path without routing refuses it. */
static bool is_sound(const nd4c_op_def *def, const nd4c_eager_call *call) {
  if (def == NULL || call->outputs == NULL || call->input_count < 0 ||
      (call->inputs == NULL && call->input_count > 0) || def->info.output_count > OUTPUTS) {
    return false;
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    if (call->inputs[i] != NULL && call->inputs[i]->magic != ND4C_ARRAY_MAGIC) {
      return false;
    }
  }
  return true;
}

/* The device of calls without a vote: strings are computed on the host, views stay on their device; NULL: other
 * calls. */
static nd4c_device *find_fixed(const nd4c_op_def *def, const nd4c_eager_call *call, bool *view) {
  for (int32_t i = 0; i < call->input_count; i++) {
    if (call->inputs[i] != NULL && call->inputs[i]->dtype == ND4C_UTF8) {
      nd4c_device *host = NULL;
      return nd4c_device_host(&host) == ND4C_OK ? host : NULL;
    }
  }
  *view = def->view != NULL && call->input_count > 0 && call->inputs[0] != NULL && call->outputs[0] == NULL;
  return *view ? atomic_load(&call->inputs[0]->storage->device) : NULL;
}

nd4c_status nd4c_call_routed(nd4c_context *context, const nd4c_eager_call *call) {
  const nd4c_op_def *def = nd4c_op_get_def(call->op);
  if (!is_sound(def, call)) {
    return nd4c_call_on(context, call);
  }
  bool view = false;
  nd4c_device *fixed = find_fixed(def, call, &view);
  if (fixed != NULL) {
    nd4c_status status = run_on(context, fixed, def, call);
    return view ? go_on(context, def, call, 0, fixed, status) : status; /* one that had to copy */
  }
  const nd4c_routing *routing = context->routing;
  uint64_t key = call->key != 0 && routing->transfer ? mix_places(call->key, context, call) : 0;
  nd4c_decision *known = key != 0 ? nd4c_decisions_find(key, routing->number) : NULL;
  if (ND4C_LIKELY(known != NULL)) {
    nd4c_device *device = known->device;
    known->uses--;
    nd4c_status status = run_on(context, device, def, call);
    if (ND4C_UNLIKELY(is_failure(status) || status == ND4C_UNSUPPORTED)) {
      nd4c_decisions_forget(key, routing->number);
    }
    return go_on(context, def, call, key, device, status);
  }
  return call_voted(context, def, call, key, NULL, ND4C_OK);
}

nd4c_status nd4c_call_routed_after(nd4c_context *context, const nd4c_eager_call *call, nd4c_device *device,
                                   nd4c_status status) {
  return go_on(context, nd4c_op_get_def(call->op), call, mix_places(call->key, context, call), device, status);
}

/* -- in words -------------------------------------------------------------------------------------------------- */

void nd4c_routing_print_ballot(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_ballot *ballot,
                               nd4c_text *text) {
  nd4c_text_print(text, "%s is routed, policy %s%s%s%s%s:\n", op->name, nd4c_routing_policy_name(routing->policy),
                  ballot->own_list ? ", a list of its own or of its category" : "",
                  ballot->small ? ", small: it follows the data" : "", routing->transfer ? "" : ", no transfer",
                  routing->wait ? ", to the end" : "");
  for (int32_t i = 0; i < ballot->count; i++) {
    const nd4c_vote *vote = &ballot->votes[i];
    nd4c_text_print(text, "  %s: score %.2f (position %d, %lld of %lld bytes of inputs here, ", vote->device->name,
                    vote->score, vote->rank + 1, (long long)vote->local_bytes, (long long)ballot->input_bytes);
    if (vote->free_bytes < 0) {
      nd4c_text_print(text, "free memory unknown)");
    } else {
      nd4c_text_print(text, "%lld bytes free%s)", (long long)vote->free_bytes, vote->fits ? "" : ": no room");
    }
    nd4c_text_print(text, "%s\n", !routing->transfer && !vote->has_all ? ", not asked: inputs are elsewhere" : "");
  }
}

nd4c_status nd4c_routing_set_op(nd4c_routing *routing, nd4c_op op, nd4c_device *const *devices, int32_t count) {
  if (routing != NULL && nd4c_op_get(op) == NULL) {
    return nd4c_fail(ND4C_NAME, "nd4c_routing_set_op: op %u is not known", op);
  }
  return nd4c_routing_list_op(routing, op, devices, count);
}
