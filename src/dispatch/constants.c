/* Implements constants.h. choice.c enters here for each kernel and compiler that it asks; graph/plan/segment.c copies
 * the constants of a segment. */
#include "dispatch/constants.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/memory/memory.h"
#include "device/storage/deferred.h"
#include "device/storage/storage.h"
#include "submit/submit.h"

/* -- as they are --------------------------------------------------------------------------------------------------- */

static void set_place(const nd4c_constant_input *constant, const nd4c_replica_view *view, nd4c_tensor *tensor) {
  const nd4c_array *array = constant->array;
  const int64_t begin = array->offset + constant->offset;
  tensor->offset = begin + nd4c_dtype_elements(array->dtype, view->offset);
  tensor->buffer = view->buffer;
  tensor->data = view->address == NULL ? NULL : (char *)view->address + nd4c_dtype_bytes(array->dtype, begin);
}

nd4c_status nd4c_constant_bind(const nd4c_context *context, const nd4c_constant_input *constant, nd4c_tensor *tensor) {
  nd4c_storage *storage = constant->array->storage;
  nd4c_replica_view view;
  ND4C_TRY(nd4c_storage_own(storage));
  ND4C_TRY(nd4c_storage_acquire(storage, context->device, context->stream, ND4C_ACCESS_READ, context->transfer, &view));
  nd4c_storage_pin(storage, context->device);
  nd4c_fence_release(view.written); /* the stream waits for it */
  set_place(constant, &view, tensor);
  tensor->flags |= ND4C_TENSOR_CONSTANT | ND4C_TENSOR_READ_ONLY;
  return ND4C_OK;
}

void nd4c_constants_reset(const nd4c_constants *constants, int32_t input_count) {
  for (int32_t i = 0; i < input_count; i++) {
    nd4c_tensor *tensor = &constants->inputs[i];
    if (constants->items[i].array != NULL) {
      tensor->layout = ND4C_LAYOUT_STRIDED;
      tensor->arrangement = NULL;
      tensor->data = NULL;
      tensor->buffer = NULL;
      tensor->offset = 0;
    }
  }
}

void nd4c_constants_show(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants) {
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_constant_input *item = &constants->items[i];
    if (item->array != NULL) {
      (void)nd4c_encoded_show(item->array->storage, item->array->offset + item->offset, context->device,
                              &constants->inputs[i]);
    }
  }
}

/* Gives a constant the place that it has in the call of `like`: it stays on the device once it is there. */
static bool take_place(const nd4c_constants *constants, int32_t input) {
  const nd4c_tensor *from = constants->placed != NULL ? &constants->placed[input] : NULL;
  nd4c_tensor *to = &constants->inputs[input];
  if (from == NULL || from->layout != ND4C_LAYOUT_STRIDED || (from->data == NULL && from->buffer == NULL)) {
    return false;
  }
  to->data = from->data;
  to->buffer = from->buffer;
  to->offset = from->offset;
  to->flags |= ND4C_TENSOR_CONSTANT | ND4C_TENSOR_READ_ONLY;
  return true;
}

/* Copies those that are not on the device yet. */
static nd4c_status bind_rest(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants) {
  for (int32_t i = 0; i < call->input_count; i++) {
    if (constants->items[i].array != NULL && constants->inputs[i].layout == ND4C_LAYOUT_STRIDED &&
        !take_place(constants, i)) {
      ND4C_TRY(nd4c_constant_bind(context, &constants->items[i], &constants->inputs[i]));
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_constants_bind(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants) {
  nd4c_constants_reset(constants, call->input_count);
  return bind_rest(context, call, constants);
}

/* -- packed -------------------------------------------------------------------------------------------------------- */

/* One input that a kernel wants packed. */
typedef struct packing {
  const nd4c_context *context;
  const nd4c_call *call;
  const nd4c_kernel *kernel;
  const nd4c_constant_input *constant;
  nd4c_form *known; /* of this input, in an earlier choice; NULL: none */
  int32_t input;
  nd4c_layout layout;
} packing;

static bool has_its_elements(const packing *p) {
  const nd4c_tensor *tensor = &p->call->inputs[p->input];
  int64_t size = 1;
  for (int32_t i = 0; i < p->layout.rank; i++) {
    size *= p->layout.shape[i]; /* checked before, except for OPAQUE */
    if (size > tensor->size) {
      break;
    }
  }
  return size == tensor->size;
}

/* Checks the layout that the plug-in wrote against the input. */
static nd4c_status check_layout(const packing *p) {
  const bool takes_tag = p->layout.tag != ND4C_LAYOUT_QUANTISED;
  char what[160];
  if (takes_tag && nd4c_layout_check(&p->layout, "") == ND4C_OK && has_its_elements(p)) {
    return ND4C_OK; /* each choice comes here, so nothing is formatted */
  }
  (void)snprintf(what, sizeof what, "%.60s: wants_layout of input %d", p->kernel->name, p->input);
  ND4C_TRY(nd4c_layout_check(&p->layout, what));
  return takes_tag ? nd4c_fail(ND4C_ABI, "%s: its shape has other than the input's %lld elements", what,
                               (long long)p->call->inputs[p->input].size)
                   : nd4c_fail(ND4C_ABI, "%s: QUANTISED, expected BLOCKED or OPAQUE", what);
}

/* Runs the kernel's pack on the inputs in `tensors`, a copy of the call's. */
static nd4c_status call_pack(const packing *p, nd4c_tensor *tensors, const nd4c_form *form) {
  nd4c_call call = *p->call;
  call.inputs = tensors;
  call.data = p->kernel->data;
  call.stream = p->context->stream;
  nd4c_tensor to = tensors[p->input];
  nd4c_form_describe(form, &to);
  const int64_t begin = nd4c_os_nanoseconds();
  nd4c_error_expect();
  nd4c_status status = nd4c_driver_answer(p->kernel->pack(&call, p->input, &p->layout, &to), "pack");
  nd4c_choice_add_preparation(nd4c_os_nanoseconds() - begin);
  if (status != ND4C_OK) {
    nd4c_submission_settle(p->context, status);
  }
  return status;
}

/* Packs the storage's contents, and waits for the end of that. */
static nd4c_status pack_replica(const packing *p, nd4c_submission *submission, nd4c_tensor *tensors,
                                const nd4c_form *form) {
  nd4c_storage *storage = p->constant->array->storage;
  nd4c_replica_view view;
  nd4c_shared_fence *fence = NULL;
  ND4C_TRY(nd4c_submission_acquire(submission, storage, ND4C_ACCESS_READ, p->context->transfer, &view));
  set_place(p->constant, &view, &tensors[p->input]);
  ND4C_TRY(call_pack(p, tensors, form));
  ND4C_TRY(nd4c_submission_record(submission, NULL, &fence));
  nd4c_submission_commit(submission, fence);
  nd4c_status status = fence != NULL ? nd4c_fence_wait(fence) : ND4C_OK;
  nd4c_fence_release(fence);
  return status;
}

/* A deferred constant is written to memory that is free again when it is packed. */
static bool needs_room(const packing *p) {
  return nd4c_deferred_is_pending(p->constant->array->storage) && nd4c_device_is_immediate(p->context->device);
}

static nd4c_status make_room(const packing *p, nd4c_block *room) {
  const nd4c_memory_request request = {
      .bytes = p->constant->array->storage->bytes, .origin = "constant before packing", .usage = ND4C_BUFFER_ARRAY};
  return needs_room(p) ? nd4c_memory_allocate(p->context->device, &request, room) : ND4C_OK;
}

static void free_room(const packing *p, nd4c_block *room) {
  if (room->address != NULL) {
    nd4c_memory_free(p->context->device, room);
  }
}

static nd4c_status pack_deferred(const packing *p, nd4c_tensor *tensors, const nd4c_block *room,
                                 const nd4c_form *form) {
  const nd4c_replica_view view = {.address = room->address, .buffer = room->buffer};
  ND4C_TRY(nd4c_deferred_write(p->constant->array->storage, room->address));
  set_place(p->constant, &view, &tensors[p->input]);
  return call_pack(p, tensors, form);
}

static nd4c_status run_pack(const packing *p, nd4c_tensor *tensors, const nd4c_block *room, const nd4c_form *form) {
  if (room->address != NULL) {
    return pack_deferred(p, tensors, room, form);
  }
  nd4c_submission submission;
  ND4C_TRY(nd4c_submission_start(&submission, p->context, "pack", 1));
  nd4c_status status = pack_replica(p, &submission, tensors, form);
  nd4c_submission_end(&submission);
  return status;
}

static nd4c_status fill_form(const packing *p, const nd4c_block *room, const nd4c_form *form) {
  const size_t bytes = (size_t)p->call->input_count * sizeof(nd4c_tensor);
  nd4c_tensor *tensors = nd4c_recycle_take_raw(bytes);
  if (tensors == NULL) {
    return nd4c_fail_memory("a call's operands", bytes);
  }
  memcpy(tensors, p->call->inputs, bytes);
  nd4c_status status = run_pack(p, tensors, room, form);
  nd4c_recycle_give(tensors, bytes);
  return status;
}

/* The room comes first: it is the one that the previous constant of this size had, whose pages are there. The form's
 * pages are new, and the threads that pack have the system clear them side by side. */
static nd4c_status make_form(const packing *p, const nd4c_form_request *request, nd4c_form **out) {
  nd4c_block room = {0};
  nd4c_form *form = NULL;
  ND4C_TRY(make_room(p, &room));
  nd4c_status status = nd4c_form_make(request, &form);
  if (status == ND4C_OK) {
    status = fill_form(p, &room, form);
  }
  free_room(p, &room);
  if (status != ND4C_OK && form != NULL) {
    nd4c_form_release(form);
  }
  *out = status == ND4C_OK ? nd4c_form_publish(request, form) : NULL;
  return status;
}

/* The storage's form, packed now if it has none. */
static nd4c_status get_form(const packing *p, nd4c_form **out) {
  const nd4c_array *array = p->constant->array;
  const nd4c_form_request request = {.storage = array->storage,
                                     .offset = array->offset + p->constant->offset,
                                     .tensor = &p->call->inputs[p->input],
                                     .device = p->context->device,
                                     .engine = p->kernel->engine,
                                     .layout = &p->layout};
  *out = p->known != NULL ? nd4c_form_keep(&request, p->known) : NULL;
  if (*out != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(check_layout(p)); /* before any code relies on its numbers */
  *out = nd4c_form_find(&request);
  if (*out != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_storage_own(array->storage)); /* it outlives the workspace that it may be in */
  return make_form(p, &request, out);
}

static bool is_memory(nd4c_status status) {
  return status == ND4C_MEMORY || status == ND4C_MEMORY_CAP;
}

/* Which constants the kernel wants packed: at most as many as a choice holds. Inputs have no data during this. */
static int32_t ask_wishes(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                          const nd4c_kernel *kernel, packing *wishes) {
  int32_t count = 0;
  nd4c_call asked = *call;
  asked.data = kernel->data;
  for (int32_t i = 0; i < call->input_count && count < ND4C_CHOICE_FORMS; i++) {
    packing *p = &wishes[count];
    if (constants->items[i].array == NULL || constants->inputs[i].size == 0 ||
        constants->inputs[i].layout != ND4C_LAYOUT_STRIDED) {
      continue;
    }
    *p = (packing){.context = context,
                   .call = call,
                   .kernel = kernel,
                   .constant = &constants->items[i],
                   .known = constants->like != NULL ? nd4c_choice_form(constants->like, i) : NULL,
                   .input = i,
                   .layout = {.struct_size = ND4C_SIZE_OF(nd4c_layout)}};
    const int64_t begin = nd4c_os_nanoseconds();
    count += kernel->wants_layout(&asked, i, &p->layout);
    nd4c_choice_add_preparation(nd4c_os_nanoseconds() - begin);
  }
  return count;
}

static nd4c_status place_wishes(const packing *wishes, int32_t count, const nd4c_constants *constants,
                                nd4c_choice *choice) {
  for (int32_t i = 0; i < count; i++) {
    const packing *p = &wishes[i];
    nd4c_form *form = NULL;
    nd4c_status status = get_form(p, &form);
    if (status != ND4C_OK && !is_memory(status)) {
      return status;
    }
    if (form != NULL) {
      choice->form_inputs[choice->form_count] = p->input;
      choice->forms[choice->form_count++] = form;
    }
  }
  for (int32_t i = 0; i < choice->form_count; i++) { /* pack sees all other inputs unpacked */
    nd4c_form_describe(choice->forms[i], &constants->inputs[choice->form_inputs[i]]);
  }
  return ND4C_OK;
}

nd4c_status nd4c_constants_place(const nd4c_context *context, const nd4c_call *call, const nd4c_constants *constants,
                                 const nd4c_kernel *kernel, nd4c_choice *choice, bool *declined) {
  *declined = false;
  if (ND4C_HAS_FIELD(kernel, pack) && kernel->wants_layout != NULL && kernel->pack != NULL) {
    packing wishes[ND4C_CHOICE_FORMS];
    const int32_t count = ask_wishes(context, call, constants, kernel, wishes);
    *declined = place_wishes(wishes, count, constants, choice) != ND4C_OK;
  }
  return *declined ? ND4C_OK : bind_rest(context, call, constants);
}

nd4c_status nd4c_constants_place_alike(const nd4c_context *context, const nd4c_call *call,
                                       const nd4c_constants *constants, const nd4c_choice *model, nd4c_choice *choice,
                                       bool *declined) {
  packing wishes[ND4C_CHOICE_FORMS];
  for (int32_t i = 0; i < model->form_count; i++) {
    const int32_t input = model->form_inputs[i];
    wishes[i] = (packing){.context = context,
                          .call = call,
                          .kernel = model->kernel,
                          .constant = &constants->items[input],
                          .known = constants->like != NULL ? nd4c_choice_form(constants->like, input) : NULL,
                          .input = input,
                          .layout = *nd4c_form_layout(model->forms[i])};
  }
  /* Without memory for one of them the kernel would prepare another state. */
  *declined =
      place_wishes(wishes, model->form_count, constants, choice) != ND4C_OK || choice->form_count < model->form_count;
  return *declined ? ND4C_OK : bind_rest(context, call, constants);
}

void nd4c_choice_drop_forms(nd4c_choice *choice) {
  while (choice->form_count > 0) {
    nd4c_form_release(choice->forms[--choice->form_count]);
  }
}
