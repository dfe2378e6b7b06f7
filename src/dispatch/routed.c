#include "dispatch/routed.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/config.h"
#include "base/status.h"
#include "base/text.h"
#include "device/storage.h"
#include "device/thread.h"
#include "dispatch/engines.h"

enum { DECISIONS = 256, USES = 256, REASON_SIZE = 512, OUTPUTS = 8 };

/* -- decisions that are remembered ----------------------------------------------------------------------------------
 */

/* Each thread has its own: a hit takes no lock. */
typedef struct decision {
  uint64_t key;
  uint32_t epoch, routing; /* of the configuration; number of the routing object */
  int32_t uses;            /* left until the next vote */
  nd4c_device *device;
} decision;

/* Where the inputs are, as far as one look tells: the device of the newest value, and whether others share it. */
static inline uint64_t mix_places(uint64_t key, const nd4c_eager_call *call) {
  for (int32_t i = 0; i < call->input_count; ++i) {
    if (call->inputs[i] != NULL) {
      nd4c_storage *storage = call->inputs[i]->storage;
      const nd4c_device *device = atomic_load_explicit(&storage->device, memory_order_relaxed);
      bool alone = atomic_load_explicit(&storage->address, memory_order_relaxed) != NULL;
      key = (key ^ (uint64_t)(2 * device->number + alone)) * UINT64_C(0x9fb21c651e98df25);
    }
  }
  return key ^ key >> 32;
}

static decision *find_decision(uint64_t key) {
  nd4c_thread *thread = nd4c_thread_get();
  if (ND4C_UNLIKELY(thread == NULL)) {
    return NULL;
  }
  if (ND4C_UNLIKELY(thread->decisions == NULL)) {
    thread->decisions = nd4c_allocate_zeroed(DECISIONS, sizeof(decision));
  }
  return thread->decisions == NULL ? NULL : (decision *)thread->decisions + (key >> 7 & (DECISIONS - 1));
}

static inline bool is_valid(const decision *known, uint64_t key, const nd4c_routing *routing) {
  return known != NULL && known->key == key && known->uses > 0 && known->routing == routing->number &&
         known->epoch == atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed);
}

static void remember(uint64_t key, const nd4c_routing *routing, nd4c_device *device) {
  decision *slot = key != 0 ? find_decision(key) : NULL;
  if (slot != NULL) {
    *slot = (decision){.key = key,
                       .epoch = atomic_load(&nd4c_config_epoch),
                       .routing = routing->number,
                       .uses = USES,
                       .device = device};
  }
}

/* -- one device ------------------------------------------------------------------------------------------------ */

static bool is_host_like(const nd4c_device *device) {
  return device->description.host_addressable && !device->description.asynchronous;
}

/* A given output that a failing device could spoil: part of a storage, or what is still to be read. */
static bool is_at_risk(const nd4c_eager_call *call, const nd4c_array *output) {
  if (!output->contiguous || output->offset != 0 ||
      nd4c_dtype_bytes(output->dtype, output->size) != output->storage->bytes) {
    return true;
  }
  for (int32_t i = 0; i < call->input_count; ++i) {
    if (call->inputs[i] != NULL && nd4c_array_overlaps(call->inputs[i], output)) {
      return true;
    }
  }
  return false;
}

static bool has_output_at_risk(const nd4c_eager_call *call, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (call->outputs[i] != NULL && nd4c_array_check(call->outputs[i], "output") == ND4C_OK &&
        is_at_risk(call, call->outputs[i])) {
      return true;
    }
  }
  return false;
}

/* Copies a result into the array that was given for it; what `route` fails at, the host does. */
static nd4c_status hand_over(nd4c_context *context, nd4c_context *route, const nd4c_array *from, nd4c_array **to) {
  nd4c_status status = nd4c_op_call_positional(route, ND4C_OP_copy, &from, 1, NULL, to);
  if (status != ND4C_OK) {
    nd4c_device *host = NULL;
    nd4c_context *on_host = NULL;
    nd4c_storage_spare((*to)->storage, route->device);
    ND4C_TRY(nd4c_device_host(&host));
    ND4C_TRY(nd4c_routing_context(context, host, &on_host));
    status = nd4c_op_call_positional(on_host, ND4C_OP_copy, &from, 1, NULL, to);
  }
  return status;
}

/* Into fresh arrays first: should the device fail, what was given is as it was. */
static nd4c_status run_aside(nd4c_context *context, nd4c_context *route, const nd4c_eager_call *call, int32_t count) {
  nd4c_array *fresh[OUTPUTS] = {NULL};
  nd4c_eager_call aside = *call;
  aside.outputs = fresh;
  aside.key = 0;
  nd4c_status status = nd4c_call_on(route, &aside);
  for (int32_t i = 0; i < count && status == ND4C_OK; ++i) {
    const nd4c_array *from = fresh[i];
    if (call->outputs[i] != NULL) {
      status = hand_over(context, route, from, &call->outputs[i]);
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    if (status == ND4C_OK && call->outputs[i] == NULL) {
      call->outputs[i] = fresh[i];
    } else {
      nd4c_array_release(fresh[i]);
    }
  }
  return status;
}

static nd4c_status run_on(nd4c_context *context, nd4c_device *device, const nd4c_eager_call *call, int32_t outputs) {
  nd4c_context *route = NULL;
  ND4C_TRY(nd4c_routing_context(context, device, &route));
  if (ND4C_UNLIKELY(!is_host_like(device) && has_output_at_risk(call, outputs))) {
    return run_aside(context, route, call, outputs);
  }
  return nd4c_call_on(route, call);
}

/* -- the chain ------------------------------------------------------------------------------------------------- */

/* What another device may do better. */
static bool is_failure(nd4c_status status) {
  return status == ND4C_DEVICE || status == ND4C_DEVICE_LOST || status == ND4C_MEMORY || status == ND4C_MEMORY_CAP;
}

static const char *input_name(const nd4c_op_info *op, int32_t index) {
  return op->input_count == 0 ? "?" : op->inputs[index < op->input_count ? index : op->input_count - 1].name;
}

static nd4c_status fail_transfer(const nd4c_op_info *op, const nd4c_eager_call *call) {
  nd4c_text text = {0};
  for (int32_t i = 0; i < call->input_count; ++i) {
    if (call->inputs[i] != NULL) {
      const nd4c_device *device = atomic_load(&call->inputs[i]->storage->device);
      nd4c_text_print(&text, "%s'%s' is on %s", text.length > 0 ? ", " : "", input_name(op, i), device->name);
    }
  }
  nd4c_status status = nd4c_fail(ND4C_ARGUMENT,
                                 "%s: no device that it may run on has all inputs (%s), and automatic transfer is off: "
                                 "move them with nd4c_array_to_device, or allow it (nd4c.routing.transfer)",
                                 op->name, text.bytes != NULL ? text.bytes : "");
  nd4c_text_free(&text);
  return status;
}

/* Keeps the devices where nothing needs to be copied. */
static void drop_remote(nd4c_ballot *ballot) {
  int32_t kept = 0;
  for (int32_t i = 0; i < ballot->count; ++i) {
    if (ballot->votes[i].has_all) {
      ballot->votes[kept++] = ballot->votes[i];
    }
  }
  ballot->count = kept;
}

/* How those before the last one fared. */
typedef struct chain {
  nd4c_text trail; /* a line each */
  int32_t failed;
  nd4c_status first; /* of what failed or declined first */
} chain;

static void note(chain *c, const nd4c_vote *vote, nd4c_status status) {
  nd4c_text_print(&c->trail, "\n  %s: %s", vote->device->name, nd4c_error_message());
  c->first = c->first == ND4C_OK ? status : c->first;
  c->failed += is_failure(status);
}

/* Who failed, or was preferred by name and declined, is told. */
static void report(const nd4c_op_info *op, const nd4c_device *device, const nd4c_device *applied, const char *reason) {
  nd4c_report_difference(op->name, device->name, applied->name, reason);
}

static nd4c_status run_chain(nd4c_context *context, const nd4c_op_info *op, const nd4c_eager_call *call,
                             const nd4c_ballot *ballot, chain *c, nd4c_device **used) {
  char reasons[ND4C_ROUTING_DEVICES][REASON_SIZE];
  bool told[ND4C_ROUTING_DEVICES] = {false};
  for (int32_t i = 0; i < ballot->count; ++i) {
    const nd4c_vote *vote = &ballot->votes[i];
    nd4c_status status = run_on(context, vote->device, call, op->output_count);
    if (status == ND4C_OK) {
      for (int32_t k = 0; k < i; ++k) {
        if (told[k]) {
          report(op, ballot->votes[k].device, vote->device, reasons[k]);
        }
      }
      *used = vote->device;
      return ND4C_OK;
    }
    bool failed = is_failure(status);
    if ((!failed && status != ND4C_UNSUPPORTED) || (failed && context->strict) || ballot->count == 1) {
      return status; /* the call's own fault, or nobody else may be asked */
    }
    (void)snprintf(reasons[i], sizeof reasons[i], "%s", nd4c_error_message());
    told[i] = failed || ballot->own_list;
    note(c, vote, status);
  }
  return nd4c_fail(c->first, "%s: none of the devices that it is routed to computes this call:%s", op->name,
                   c->trail.bytes != NULL ? c->trail.bytes : "");
}

static nd4c_status call_voted(nd4c_context *context, const nd4c_op_info *op, const nd4c_eager_call *call,
                              uint64_t key) {
  const nd4c_routing *routing = context->routing;
  nd4c_ballot ballot;
  nd4c_routing_vote(routing, op, call->inputs, call->input_count, 0, &ballot);
  if (!routing->transfer) {
    drop_remote(&ballot);
    if (ballot.count == 0) {
      return fail_transfer(op, call);
    }
  }
  chain c = {.first = ND4C_OK};
  nd4c_device *used = NULL;
  nd4c_status status = run_chain(context, op, call, &ballot, &c, &used);
  if (status == ND4C_OK && c.failed == 0 && routing->transfer) {
    remember(key, routing, used);
  }
  nd4c_text_free(&c.trail);
  return status;
}

/* -- entry ----------------------------------------------------------------------------------------------------- */

/* False: the plain way is to refuse it. */
static bool is_sound(const nd4c_op_def *def, const nd4c_eager_call *call) {
  if (def == NULL || call->outputs == NULL || call->input_count < 0 ||
      (call->inputs == NULL && call->input_count > 0) || def->info.output_count > OUTPUTS) {
    return false;
  }
  for (int32_t i = 0; i < call->input_count; ++i) {
    if (call->inputs[i] != NULL && call->inputs[i]->magic != ND4C_ARRAY_MAGIC) {
      return false;
    }
  }
  return true;
}

/* The device of calls that nothing is voted for: views stay where they are, strings live on the host; NULL: others. */
static nd4c_device *find_fixed(const nd4c_op_def *def, const nd4c_eager_call *call) {
  for (int32_t i = 0; i < call->input_count; ++i) {
    if (call->inputs[i] != NULL && call->inputs[i]->dtype == ND4C_UTF8) {
      nd4c_device *host = NULL;
      return nd4c_device_host(&host) == ND4C_OK ? host : NULL;
    }
  }
  bool view = def->view != NULL && call->input_count > 0 && call->inputs[0] != NULL && call->outputs[0] == NULL;
  return view ? atomic_load(&call->inputs[0]->storage->device) : NULL;
}

nd4c_status nd4c_call_routed(nd4c_context *context, const nd4c_eager_call *call) {
  if (ND4C_LIKELY(context->only_route != NULL)) {
    return nd4c_call_on(context->only_route, call);
  }
  const nd4c_op_def *def = nd4c_op_get_def(call->op);
  if (!is_sound(def, call)) {
    return nd4c_call_on(context, call);
  }
  nd4c_device *fixed = find_fixed(def, call);
  if (fixed != NULL) {
    return run_on(context, fixed, call, def->info.output_count);
  }
  const nd4c_routing *routing = context->routing;
  uint64_t key = call->key != 0 && routing->transfer ? mix_places(call->key, call) : 0;
  decision *known = key != 0 ? find_decision(key) : NULL;
  if (ND4C_LIKELY(is_valid(known, key, routing))) {
    known->uses -= 1;
    nd4c_status status = run_on(context, known->device, call, def->info.output_count);
    if (ND4C_LIKELY(status == ND4C_OK) || (!is_failure(status) && status != ND4C_UNSUPPORTED)) {
      return status;
    }
  }
  return call_voted(context, &def->info, call, key);
}

/* -- in words -------------------------------------------------------------------------------------------------- */

void nd4c_routing_print_ballot(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_ballot *ballot,
                               nd4c_text *text) {
  nd4c_text_print(text, "%s is routed, policy %s%s%s%s:\n", op->name, nd4c_routing_policy_name(routing->policy),
                  ballot->own_list ? ", a list of its own or of its category" : "",
                  ballot->small ? ", small: it follows the data" : "", routing->transfer ? "" : ", no transfer");
  for (int32_t i = 0; i < ballot->count; ++i) {
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
