/* Eager calls: one lookup if the signature is cached; otherwise inference, choice and execution. nd4c_op_call and,
 * through typed.c, the functions of ops.h enter here. */
#include <string.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/compiler.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/memory/memory.h"
#include "device/storage/storage.h"
#include "device/stream/cancellation.h"
#include "device/trace/tracer.h"
#include "dispatch/call_cache.h"
#include "dispatch/execute.h"
#include "dispatch/host_ops.h"
#include "dispatch/pending.h"
#include "dispatch/routed.h"
#include "dispatch/strings.h"
#include "dispatch/views.h"
#include "dispatch/whole.h"
#include "ops/op.h"

/* -- a known signature ---------------------------------------------------------------------------------------- */

/* Whether the op computes in place where the output is the very same view as this input. */
static inline bool may_alias(const nd4c_op_def *def, int32_t input) {
  return def->alias == ND4C_ALIAS_SAME || (def->alias == ND4C_ALIAS_FIRST && input == 0);
}

/* True if the output may be written while the inputs are read: disjoint, or the very same view where the op computes in
 * place. */
static inline bool output_is_clear(const nd4c_cached_call *entry) {
  int32_t n = entry->input_count;
  const char *out = entry->tensors[n].data;
  for (int32_t i = 0; i < n; i++) {
    const char *in = entry->tensors[i].data;
    bool apart = in + entry->high[i] <= out + entry->low[n] || out + entry->high[n] <= in + entry->low[i];
    bool same = in == out && entry->signatures[i] == entry->signatures[n] && may_alias(entry->def, i);
    if (!apart && !same && in != NULL) {
      return false;
    }
  }
  return true;
}

static nd4c_status make_output(const nd4c_cached_call *entry, nd4c_array **out) {
  const nd4c_tensor *tensor = &entry->tensors[entry->input_count];
  nd4c_storage *storage = NULL;
  nd4c_status status =
      nd4c_storage_create(entry->device, NULL, tensor->dtype, entry->output_bytes, entry->def->info.name, &storage);
  if (ND4C_UNLIKELY(status != ND4C_OK)) {
    return nd4c_fail_prefix(status, "%s: output", entry->def->info.name);
  }
  status = nd4c_array_make_again(tensor->dtype, tensor->rank, tensor->shape, tensor->strides, tensor->size,
                                 (tensor->flags & ND4C_TENSOR_CONTIGUOUS) != 0, entry->signatures[entry->input_count],
                                 storage, out);
  if (ND4C_UNLIKELY(status != ND4C_OK)) {
    nd4c_storage_release(storage);
  }
  return status;
}

static nd4c_status run_with_scratch(nd4c_cached_call *entry, int64_t bytes) {
  nd4c_block block = {0};
  const nd4c_memory_request request = {.bytes = bytes, .origin = entry->def->info.name, .usage = ND4C_BUFFER_SCRATCH};
  ND4C_TRY(nd4c_memory_allocate(entry->device, &request, &block));
  entry->call.scratch = block.address;
  nd4c_status status = nd4c_driver_kernel_run(entry->choice->kernel, &entry->call);
  entry->call.scratch = NULL;
  nd4c_memory_free(entry->device, &block);
  return status;
}

/* Writes the addresses of the inputs; false if one needs a coherence step. */
static inline bool patch_inputs(nd4c_cached_call *entry, const nd4c_array *const *inputs) {
  for (int32_t i = 0; i < entry->input_count; i++) {
    if (inputs[i] != NULL) {
      char *address = nd4c_storage_ready_address(inputs[i]->storage, entry->device);
      if (ND4C_UNLIKELY(address == NULL)) {
        return false;
      }
      entry->tensors[i].data = address + inputs[i]->offset * entry->element_bytes[i];
    }
  }
  return true;
}

/* Runs a cached call on storages that are ready on a synchronous device. *done false: the slow path must do
 * everything. */
static nd4c_status call_cached(nd4c_cached_call *entry, const nd4c_context *context, const nd4c_array *const *inputs,
                               nd4c_array **outputs, bool *done) {
  *done = false;
  int32_t n = entry->input_count;
  if (entry->choice->kernel == NULL || entry->shape_from_data || nd4c_tracer_is_on() ||
      ND4C_UNLIKELY(nd4c_cancellation_current() != NULL) || !patch_inputs(entry, inputs)) {
    return ND4C_OK;
  }
  nd4c_array *output = outputs[0];
  if (output == NULL) {
    ND4C_TRY(make_output(entry, &output));
  }
  char *address = nd4c_storage_ready_address(output->storage, entry->device);
  entry->tensors[n].data = address + output->offset * entry->element_bytes[n];
  if (outputs[0] != NULL &&
      (address == NULL || (output->storage->flags & ND4C_STORAGE_READ_ONLY) != 0 || !output_is_clear(entry))) {
    return ND4C_OK;
  }
  *done = true;
  int64_t scratch = entry->choice->scratch_bytes;
  nd4c_status status = ND4C_LIKELY(scratch == 0) ? nd4c_driver_kernel_run(entry->choice->kernel, &entry->call)
                                                 : run_with_scratch(entry, scratch);
  if (ND4C_UNLIKELY(status != ND4C_OK)) {
    status = nd4c_execute_fail(entry->choice, context, entry->def, &output, status);
    if (outputs[0] == NULL) {
      nd4c_array_release(output);
    }
    return status;
  }
  outputs[0] = output;
  return ND4C_OK;
}

/* -- a new signature ------------------------------------------------------------------------------------------ */

static nd4c_status check_given_output(const nd4c_pending *p, int32_t at) {
  const nd4c_inferred *inferred = &p->inferred[at];
  return nd4c_pending_check_output(p->def, p->outputs, at, inferred->dtype, inferred->rank, inferred->shape);
}

/* True if writing the output would disturb an input that is still to be read. */
static bool disturbs_inputs(const nd4c_pending *p, const nd4c_array *output) {
  for (int32_t i = 0; i < p->input_count; i++) {
    const nd4c_array *input = p->inputs[i];
    if (input != NULL && nd4c_array_overlaps(input, output) &&
        !(may_alias(p->def, i) && nd4c_array_is_same_view(input, output))) {
      return true;
    }
  }
  return false;
}

static nd4c_status make_target(const nd4c_pending *p, int32_t at, nd4c_array **target) {
  const nd4c_inferred *inferred = &p->inferred[at];
  int64_t strides[ND4C_MAX_RANK], size = 0;
  ND4C_TRY(nd4c_shape_size(inferred->dtype, inferred->rank, inferred->shape, &size));
  nd4c_pending_order(p, inferred, strides);
  nd4c_storage *storage = NULL;
  nd4c_status status = nd4c_storage_create(p->context->device, p->context->stream, inferred->dtype,
                                           nd4c_dtype_bytes(inferred->dtype, size), p->def->info.name, &storage);
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s: output", p->def->info.name);
  }
  return nd4c_array_make_of(inferred->dtype, inferred->rank, inferred->shape, strides, 0, storage, target);
}

/* The arrays that the kernel writes: the caller's where that is safe, else fresh ones. */
static nd4c_status make_targets(nd4c_pending *p) {
  int32_t count = p->def->info.output_count;
  for (int32_t i = 0; i < p->input_count; i++) {
    if (p->inputs[i] != NULL) {
      nd4c_storage_use(p->inputs[i]->storage, p->context->device); /* so that making room for the results does not take
                                                                      it */
    }
  }
  for (int32_t i = 0; i < count; i++) {
    if (p->outputs[i] != NULL && !p->inferred[i].shape_depends_on_data) {
      ND4C_TRY(check_given_output(p, i));
    }
  }
  for (int32_t i = 0; i < count; i++) {
    bool direct = p->outputs[i] != NULL && !p->inferred[i].shape_depends_on_data && !p->def->refuses_late;
    if (direct && !disturbs_inputs(p, p->outputs[i])) {
      p->targets[i] = nd4c_array_retain(p->outputs[i]);
    } else {
      ND4C_TRY(make_target(p, i, &p->targets[i]));
    }
  }
  return ND4C_OK;
}

static nd4c_status choose(nd4c_pending *p, nd4c_choice **choice) {
  int32_t count = p->def->info.output_count;
  for (int32_t i = 0; i < count; i++) {
    nd4c_tensor_describe(p->targets[i], &p->tensors[p->input_count + i]);
  }
  nd4c_pending_show_encoded(p);
  nd4c_call call = nd4c_pending_call(p);
  nd4c_status status = nd4c_choice_make(p->context, &call, NULL, NULL, choice);
  if (status == ND4C_UNSUPPORTED && p->context->device->description.type != ND4C_DEVICE_CPU && !p->context->routed &&
      p->context->routing == NULL) {
    p->wants_order = !p->context->strict && nd4c_whole_would_help(p->context, &call);
    return nd4c_fail(status,
                     "%s\nWhat to do: another device may compute it: enter a context there, or let routing find one "
                     "(nd4c.routing=vote, ND4C_ROUTING)",
                     nd4c_error_message());
  }
  return status;
}

/* Gives targets to the caller: a fresh one directly, one that replaces a given output by a copy. */
static nd4c_status deliver(nd4c_pending *p) {
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    if (p->outputs[i] != NULL && p->outputs[i] != p->targets[i]) {
      ND4C_TRY(nd4c_call_inside(p->context, ND4C_OP_copy, p->targets[i], &p->outputs[i]));
    }
  }
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    if (p->outputs[i] == NULL) {
      p->outputs[i] = p->targets[i];
      p->targets[i] = NULL;
    }
  }
  return ND4C_OK;
}

/* -- results whose shape depends on data ------------------------------------------------------------------------ */

static bool has_true_shapes(const nd4c_pending *p) {
  bool has = false;
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    has = has || p->inferred[i].shape_depends_on_data;
  }
  return has;
}

/* The written part of a target as an array: a view if it is most of the allocation, else a copy. */
static nd4c_status shrink_target(nd4c_pending *p, int32_t at) {
  nd4c_array *whole = p->targets[at], *part = NULL;
  const nd4c_inferred *inferred = &p->inferred[at];
  nd4c_storage *storage = nd4c_storage_retain(whole->storage);
  ND4C_TRY(nd4c_array_make_of(inferred->dtype, inferred->rank, inferred->shape, NULL, 0, storage, &part));
  if (part->size < whole->size / 2) {
    nd4c_array *copy = NULL;
    nd4c_status status = nd4c_call_inside(p->context, ND4C_OP_copy, part, &copy);
    nd4c_array_release(part);
    ND4C_TRY(status);
    part = copy;
  }
  nd4c_array_release(whole);
  p->targets[at] = part;
  return ND4C_OK;
}

/* Checks that the kernel's true shapes lie within the inferred ones. Shapes that do not depend on data stay as
 * inferred, whatever the kernel wrote. */
static nd4c_status check_true_shape(nd4c_pending *p, int32_t at) {
  nd4c_inferred *told = &p->inferred[at];
  const int64_t *largest = p->targets[at]->shape;
  if (!told->shape_depends_on_data) {
    memcpy(told->shape, largest, (size_t)told->rank * sizeof *largest);
    return ND4C_OK;
  }
  bool fits = true;
  for (int32_t axis = 0; axis < told->rank; axis++) {
    fits = fits && told->shape[axis] >= 0 && told->shape[axis] <= largest[axis];
  }
  char shape[128], limit[128];
  return fits ? ND4C_OK
              : nd4c_fail(ND4C_DEVICE, "run reported the shape %s of output %d, expected extents of 0 to those of %s",
                          nd4c_shape_text(told->rank, told->shape, shape, sizeof shape), at,
                          nd4c_shape_text(told->rank, largest, limit, sizeof limit));
}

static nd4c_status check_true_shapes(nd4c_pending *p, const nd4c_choice *choice) {
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    const nd4c_status status = check_true_shape(p, i);
    if (status != ND4C_OK) {
      return nd4c_execute_fail(choice, p->context, p->def, p->targets, status);
    }
  }
  return ND4C_OK;
}

static nd4c_status compute_true_shapes(nd4c_pending *p, nd4c_choice *choice) {
  int64_t *shapes[ND4C_PENDING_OUTPUTS] = {NULL};
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    shapes[i] = p->inferred[i].shape; /* the kernel has the largest shape from the target */
  }
  ND4C_TRY(nd4c_execute(choice, p->context, p->def, p->attrs, p->inputs, p->input_count, p->targets, NULL, shapes));
  ND4C_TRY(check_true_shapes(p, choice));
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    if (p->inferred[i].shape_depends_on_data) {
      ND4C_TRY(shrink_target(p, i));
    }
    if (p->outputs[i] != NULL) {
      ND4C_TRY(check_given_output(p, i));
    }
  }
  return deliver(p);
}

/* Computes into fresh arrays, which are then returned or copied. */
static nd4c_status compute_on_host(nd4c_pending *p, nd4c_host_op_function function) {
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    if (p->outputs[i] != NULL && p->inferred[i].dtype == ND4C_UTF8) {
      return nd4c_fail(ND4C_UNSUPPORTED, "%s: strings cannot be written into an array that is given: expected NULL",
                       p->def->info.name);
    }
    if (p->outputs[i] != NULL && !p->inferred[i].shape_depends_on_data) {
      ND4C_TRY(check_given_output(p, i));
    }
  }
  ND4C_TRY(function(p));
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    if (p->outputs[i] != NULL && p->inferred[i].shape_depends_on_data) {
      ND4C_TRY(check_given_output(p, i));
    }
  }
  return deliver(p);
}

/* Takes over the choice. */
static void remember(const nd4c_pending *p, uint64_t key, bool fresh, bool shape_from_data, nd4c_choice *choice) {
  nd4c_call_cache_add(key, p->context, p->def, p->inputs, p->input_count, p->attrs, p->targets[0], fresh,
                      shape_from_data, choice);
}

static nd4c_status compute(nd4c_pending *p, uint64_t key) {
  nd4c_host_op_function function = nd4c_host_op_find(p);
  if (function != NULL) {
    return compute_on_host(p, function);
  }
  if (p->inferred[0].dtype == ND4C_UTF8) {
    return nd4c_strings_compute(p);
  }
  ND4C_TRY(make_targets(p));
  nd4c_choice *choice = NULL;
  bool fresh = p->outputs[0] == NULL, in_place = fresh || p->outputs[0] == p->targets[0];
  if (p->known != NULL && in_place) {
    choice = nd4c_choice_retain(p->known);
  } else {
    ND4C_TRY(choose(p, &choice));
  }
  /* The cache does not distinguish a view with an offset from a whole buffer. */
  bool remembered = in_place && key != 0 && p->known == NULL && !p->context->device->description.whole_buffers;
  if (ND4C_UNLIKELY(has_true_shapes(p))) {
    if (remembered) { /* now, while the target has the largest shape */
      remember(p, key, fresh, true, nd4c_choice_retain(choice));
    }
    nd4c_status status = compute_true_shapes(p, choice);
    nd4c_choice_release(choice);
    return status;
  }
  nd4c_status status =
      nd4c_execute(choice, p->context, p->def, p->attrs, p->inputs, p->input_count, p->targets, NULL, NULL);
  if (status != ND4C_OK) {
    nd4c_choice_release(choice);
    return status;
  }
  if (remembered) {
    remember(p, key, fresh, false, choice);
  } else {
    nd4c_choice_release(choice);
  }
  return deliver(p);
}

/* Result of an op that can be a view: the view, or a copy of its elements to the given output. */
static nd4c_status deliver_view(nd4c_pending *p, nd4c_array *view) {
  if (p->outputs[0] == NULL) {
    p->outputs[0] = view;
    return ND4C_OK;
  }
  nd4c_status status = nd4c_call_inside(p->context, ND4C_OP_copy, view, p->outputs);
  nd4c_array_release(view);
  return status;
}

/* Copies the input to C order, of which every reshape is a view. */
static nd4c_status copy_then_view(const nd4c_pending *p, const nd4c_inference *inference, nd4c_array **view) {
  nd4c_array *copy = NULL;
  const nd4c_inferred *inferred = &inference->outputs[0];
  ND4C_TRY(nd4c_call_inside(p->context, ND4C_OP_copy, p->inputs[0], &copy));
  nd4c_storage *storage = nd4c_storage_retain(copy->storage);
  nd4c_status status = nd4c_array_make_of(inferred->dtype, inferred->rank, inferred->shape, NULL, 0, storage, view);
  nd4c_array_release(copy);
  return status;
}

static nd4c_status call_view(nd4c_pending *p, const nd4c_inference *inference) {
  nd4c_array *view = NULL;
  if (p->outputs[0] != NULL) {
    ND4C_TRY(check_given_output(p, 0));
  }
  ND4C_TRY(nd4c_view_make(p->def, inference, p->inputs[0], &view));
  if (view == NULL) {
    ND4C_TRY(copy_then_view(p, inference, &view));
  }
  return deliver_view(p, view);
}

static nd4c_status call_slowly(nd4c_pending *p, uint64_t key) {
  nd4c_inference inference;
  ND4C_TRY(nd4c_pending_infer(p, &inference));
  nd4c_status status = p->def->view != NULL ? call_view(p, &inference) : compute(p, key);
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    nd4c_array_release(p->targets[i]);
  }
  nd4c_work_end(&p->work);
  return status;
}

/* -- entries -------------------------------------------------------------------------------------------------- */

static nd4c_eager_call unhashed_call(const nd4c_op_def *def, const nd4c_array *const *inputs, int32_t input_count,
                                     const nd4c_attr_value *attrs, nd4c_array **outputs) {
  const int32_t attr_count = attrs != NULL ? def->info.attr_count : 0;
  return (nd4c_eager_call){def->info.op, attr_count, input_count, inputs, attrs, outputs, 0};
}

static ND4C_NOINLINE nd4c_status call_new(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                          int32_t input_count, const nd4c_attr_value *attrs, nd4c_array **outputs,
                                          uint64_t key, nd4c_choice *known) {
  const nd4c_op_def *def = nd4c_op_get_def(op);
  ND4C_TRY(nd4c_pending_check(op, def, inputs, input_count, outputs));
  nd4c_status asked = nd4c_cancellation_poll(); /* before views and host ops, which submit nothing */
  if (ND4C_UNLIKELY(asked != ND4C_OK)) {
    return nd4c_fail_prefix(asked, "%s", def->info.name);
  }
  if (ND4C_UNLIKELY(context->device->description.whole_buffers) && def->view == NULL) {
    const nd4c_eager_call call = unhashed_call(def, inputs, input_count, attrs, outputs);
    if (!nd4c_whole_takes(context->device, def, &call)) {
      return nd4c_whole_call(context, def, &call);
    }
  }
  nd4c_tensor inline_tensors[ND4C_PENDING_INPUTS + ND4C_PENDING_OUTPUTS];
  nd4c_pending p = {.context = context,
                    .def = def,
                    .inputs = inputs,
                    .input_count = input_count,
                    .attrs = attrs,
                    .known = known,
                    .outputs = outputs,
                    .tensors = inline_tensors};
  if (input_count <= ND4C_PENDING_INPUTS) {
    const nd4c_status status = call_slowly(&p, key);
    if (ND4C_UNLIKELY(p.wants_order)) {
      const nd4c_eager_call call = unhashed_call(def, inputs, input_count, attrs, outputs);
      return nd4c_whole_call(context, def, &call);
    }
    return status;
  }
  size_t bytes = (size_t)(input_count + ND4C_PENDING_OUTPUTS) * sizeof *p.tensors;
  p.tensors = nd4c_recycle_take(bytes);
  if (p.tensors == NULL) {
    return nd4c_fail_memory("a call's operands", bytes);
  }
  nd4c_status status = call_slowly(&p, key);
  nd4c_recycle_give(p.tensors, bytes);
  return status;
}

/* Whether the arguments are valid enough to hash; the slow path refuses invalid ones. */
static inline bool is_hashable(const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs) {
  if (input_count <= 0 || input_count > ND4C_CACHED_INPUTS || inputs == NULL || outputs == NULL) {
    return false;
  }
  for (int32_t i = 0; i < input_count; i++) {
    if (inputs[i] != NULL && inputs[i]->magic != ND4C_ARRAY_MAGIC) {
      return false;
    }
  }
  return outputs[0] == NULL || outputs[0]->magic == ND4C_ARRAY_MAGIC;
}

/* On the context's own device. */
static inline nd4c_status call_here(nd4c_context *context, nd4c_op op, int32_t attr_count,
                                    const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                                    nd4c_array **outputs, uint64_t key) {
  nd4c_choice *known = NULL;
  if (ND4C_LIKELY(key != 0)) {
    nd4c_cached_call *entry =
        nd4c_call_cache_find(key, context, op, inputs, input_count, attrs, attr_count, outputs[0]);
    if (ND4C_LIKELY(entry != NULL)) {
      bool done = false;
      nd4c_status status = call_cached(entry, context, inputs, outputs, &done);
      if (done || status != ND4C_OK) {
        return status;
      }
      known = nd4c_choice_retain(entry->choice); /* allocating results may run the program's code, which may evict the
                                                    entry */
    }
  }
  nd4c_status status = call_new(context, op, inputs, input_count, attrs, outputs, key, known);
  nd4c_choice_release(known);
  return status;
}

nd4c_status nd4c_call_on(nd4c_context *context, const nd4c_eager_call *call) {
  /* A separate entry for each device, so that calls on several devices do not evict each other. */
  uint64_t here = nd4c_device_is_immediate(context->device)
                      ? 0
                      : ((uint64_t)context->device->number + 1) * UINT64_C(0x9fb21c651e98df25);
  return call_here(context, call->op, call->attr_count, call->inputs, call->input_count, call->attrs, call->outputs,
                   call->key == 0 ? 0 : call->key ^ here);
}

/* A routed call whose decision is in its entry, as fast as one without routing; *status is set if it returns true. */
static inline bool call_decided(nd4c_context *context, nd4c_cached_call *entry, const nd4c_array *const *inputs,
                                nd4c_array **outputs, nd4c_status *status) {
  nd4c_context *route = context;
  if (ND4C_UNLIKELY(entry->device != context->device) &&
      nd4c_routing_context(context, entry->device, &route) != ND4C_OK) {
    return false;
  }
  bool done = false;
  entry->uses--;
  *status = call_cached(entry, route, inputs, outputs, &done);
  if (ND4C_UNLIKELY(*status != ND4C_OK)) {
    entry->uses = 0;
  }
  return done || *status != ND4C_OK;
}

static ND4C_NOINLINE nd4c_status call_routed(nd4c_context *context, nd4c_op op, int32_t attr_count,
                                             const nd4c_array *const *inputs, int32_t input_count,
                                             const nd4c_attr_value *attrs, nd4c_array **outputs, uint64_t key) {
  nd4c_status status = ND4C_OK;
  const nd4c_eager_call call = {op, attr_count, input_count, inputs, attrs, outputs, key};
  nd4c_cached_call *entry = ND4C_LIKELY(key != 0)
                                ? nd4c_call_cache_find_decided(key, context, context->routing->number, op, inputs,
                                                               input_count, attrs, attr_count, outputs[0])
                                : NULL;
  if (ND4C_LIKELY(entry != NULL) && ND4C_LIKELY(call_decided(context, entry, inputs, outputs, &status))) {
    return ND4C_LIKELY(status == ND4C_OK) ? status : nd4c_call_routed_after(context, &call, entry->device, status);
  }
  return nd4c_call_routed(context, &call);
}

static inline nd4c_status call_resolved(nd4c_context *context, nd4c_op op, int32_t attr_count,
                                        const nd4c_array *const *inputs, int32_t input_count,
                                        const nd4c_attr_value *attrs, nd4c_array **outputs) {
  uint64_t key = ND4C_LIKELY(is_hashable(inputs, input_count, outputs))
                     ? nd4c_call_key(op, inputs, input_count, attrs, attr_count, outputs[0])
                     : 0;
  if (context->routing != NULL) {
    if (context->only_route == NULL) {
      return call_routed(context, op, attr_count, inputs, input_count, attrs, outputs, key);
    }
    context = context->only_route;
  }
  return call_here(context, op, attr_count, inputs, input_count, attrs, outputs, key);
}

nd4c_status nd4c_call_inside(nd4c_context *context, nd4c_op op, const nd4c_array *input, nd4c_array **output) {
  return call_resolved(context, op, 0, &input, 1, NULL, output);
}

static inline nd4c_status call_positional(nd4c_context *context, nd4c_op op, int32_t attr_count,
                                          const nd4c_array *const *inputs, int32_t input_count,
                                          const nd4c_attr_value *attrs, nd4c_array **outputs) {
  ND4C_TRY(nd4c_context_resolve(context, &context));
  return call_resolved(context, op, attr_count, inputs, input_count, attrs, outputs);
}

nd4c_status nd4c_op_call_positional(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs,
                                    int32_t input_count, const nd4c_attr_value *attrs, nd4c_array **outputs) {
  int32_t attr_count = 0;
  if (attrs != NULL) {
    const nd4c_op_def *def = nd4c_op_get_def(op);
    attr_count = def != NULL ? def->info.attr_count : 0;
  }
  return call_positional(context, op, attr_count, inputs, input_count, attrs, outputs);
}

nd4c_status nd4c_op_call(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs, int32_t input_count,
                         const nd4c_attr *attrs, int32_t attr_count, nd4c_array **outputs, int32_t output_count) {
  const nd4c_op_def *def = nd4c_op_get_def(op);
  ND4C_TRY(nd4c_pending_check(op, def, inputs, input_count, outputs));
  if (output_count != def->info.output_count) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d outputs asked for, it has %d", def->info.name, output_count,
                     def->info.output_count);
  }
  nd4c_attr_value *values = NULL;
  ND4C_TRY(nd4c_pending_attrs(def, attrs, attr_count, &values));
  nd4c_status status = call_positional(context, op, def->info.attr_count, inputs, input_count, values, outputs);
  nd4c_pending_attrs_free(def, values);
  return status;
}
