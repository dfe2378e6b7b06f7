/* Implements forms.h. dispatch/constants.c finds and makes forms for calls and plans, graph/ir/derived.c makes marks;
 * storages detach their forms here before they are written or freed. */
#include "device/storage/forms.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/memory/reclaim.h"
#include "device/storage/packed.h"
#include "device/storage/storage_body.h"

struct nd4c_form {
  int32_t users;
  bool doubtful; /* has no fingerprint, and the storage may have been written through an address */
  bool printed;  /* `fingerprint` is the hash of the packed contents */
  uint64_t fingerprint[2];
  nd4c_storage_body *body;  /* NULL: detached */
  nd4c_form *next;          /* of the same storage */
  nd4c_form *older, *newer; /* among those without users */
  nd4c_device *device;
  nd4c_packed *packed; /* one reference; NULL: a mark */
  uint64_t hash;       /* of the layout */
  const char *engine;
  nd4c_dtype dtype;
  int32_t rank;
  int64_t offset;
  int64_t shape[ND4C_MAX_RANK], strides[ND4C_MAX_RANK];
};

/* Guards every form's users, links and body, and every storage's list. Taken last: no lock is taken and no memory
 * allocated or freed under it. */
static nd4c_lock forms_lock = ND4C_LOCK_INIT;
static nd4c_form *idle_oldest, *idle_newest; /* those without users */
static _Atomic int64_t packed_count;

void nd4c_forms_forget_lock(void) {
  nd4c_lock_init(&forms_lock);
  nd4c_packed_forget_lock();
}

int64_t nd4c_forms_packed(void) {
  return atomic_load_explicit(&packed_count, memory_order_relaxed);
}

/* -- lists; all under the lock ------------------------------------------------------------------------------------ */

static void idle_push(nd4c_form *form) {
  form->newer = NULL;
  form->older = idle_newest;
  *(idle_newest != NULL ? &idle_newest->newer : &idle_oldest) = form;
  idle_newest = form;
}

static void idle_remove(nd4c_form *form) {
  *(form->older != NULL ? &form->older->newer : &idle_oldest) = form->newer;
  *(form->newer != NULL ? &form->newer->older : &idle_newest) = form->older;
}

static void link_to_storage(nd4c_form *form, nd4c_storage_body *body) {
  form->body = body;
  form->next = atomic_load_explicit(&body->forms, memory_order_relaxed);
  atomic_store_explicit(&body->forms, form, memory_order_release);
}

/* The storage may be freed as soon as its list is empty, so this is the last access to it. */
static void unlink_from_storage(nd4c_form *form) {
  nd4c_storage_body *body = form->body;
  if (body == NULL) {
    return;
  }
  form->body = NULL;
  nd4c_form *first = atomic_load_explicit(&body->forms, memory_order_relaxed);
  if (first == form) {
    atomic_store_explicit(&body->forms, form->next, memory_order_release);
    return;
  }
  while (first->next != form) {
    first = first->next;
  }
  first->next = form->next;
}

/* Marks have no device and match no request. */
static inline bool is_mark(const nd4c_form *form) {
  return form->device == NULL;
}

/* Returns the bytes that became free. */
static int64_t free_form(nd4c_form *form) {
  const int64_t bytes = form->packed != NULL ? nd4c_packed_release(form->packed) : 0;
  nd4c_deallocate(form);
  return bytes;
}

static int64_t free_list(nd4c_form *gone) {
  int64_t bytes = 0;
  while (gone != NULL) {
    nd4c_form *next = gone->next;
    bytes += free_form(gone);
    gone = next;
  }
  return bytes;
}

/* -- fingerprints ------------------------------------------------------------------------------------------------- */

/* Complete contents in host memory; NULL: there are none. The storage is locked. */
static const unsigned char *find_on_host(const nd4c_storage_body *body) {
  const nd4c_replica *replica = &body->first;
  while (replica != NULL &&
         (replica->state == 'I' || replica->written != NULL || !nd4c_device_is_immediate(replica->device))) {
    replica = replica->next;
  }
  return replica != NULL ? replica->block.address : NULL;
}

/* Hash of the bytes between the first and the last element; false if the host has no replica to read. */
static bool fingerprint_of(const nd4c_form_request *request, uint64_t *print) {
  nd4c_storage_body *body = (nd4c_storage_body *)request->storage;
  const int64_t element = nd4c_dtype_size(request->tensor->dtype);
  int64_t low = 0, high = 0;
  if (element == 0 ||
      !nd4c_layout_bounds(request->tensor->rank, request->tensor->shape, request->tensor->strides, &low, &high)) {
    return false;
  }
  const unsigned char *address = atomic_load_explicit(&request->storage->address, memory_order_acquire);
  const bool direct = address != NULL;
  if (!direct) {
    nd4c_storage_lock(body); /* held until the bytes have been read, because the replica may be dropped */
    address = find_on_host(body);
  }
  if (address != NULL) {
    nd4c_fingerprint_take(address + (request->offset + low) * element, (high - low + 1) * element, print);
  }
  if (!direct) {
    nd4c_storage_unlock(body);
  }
  return address != NULL;
}

/* -- finding ------------------------------------------------------------------------------------------------------ */

static bool matches(const nd4c_form *form, const nd4c_form_request *request, uint64_t hash) {
  const nd4c_tensor *tensor = request->tensor;
  const size_t bytes = (size_t)form->rank * sizeof(int64_t);
  return form->hash == hash && form->device == request->device && form->dtype == tensor->dtype &&
         form->rank == tensor->rank && form->offset == request->offset &&
         memcmp(form->shape, tensor->shape, bytes) == 0 && memcmp(form->strides, tensor->strides, bytes) == 0 &&
         nd4c_layout_shares(form->engine, nd4c_packed_layout(form->packed), request->engine, request->layout);
}

/* A matching form, with another user. `hash`: the layout's. Under the lock. */
static nd4c_form *take_match(const nd4c_form_request *request, uint64_t hash) {
  nd4c_form *form = atomic_load_explicit(&((nd4c_storage_body *)request->storage)->forms, memory_order_relaxed);
  while (form != NULL && !matches(form, request, hash)) {
    form = form->next;
  }
  if (form != NULL && form->users++ == 0) {
    idle_remove(form);
  }
  return form;
}

static void detach_one(nd4c_form *form) {
  nd4c_lock_acquire(&forms_lock);
  unlink_from_storage(form);
  nd4c_lock_release(&forms_lock);
}

/* Whether the contents may differ from the packed ones. Also checked for forms in use by another choice, because the
 * next plan must compute with what was written since. */
static bool has_changed(const nd4c_form *form, const nd4c_form_request *request) {
  uint64_t print[2];
  return form->printed && (!fingerprint_of(request, print) || memcmp(print, form->fingerprint, sizeof print) != 0);
}

nd4c_form *nd4c_form_find(const nd4c_form_request *request) {
  const uint64_t hash = nd4c_layout_hash(request->layout);
  nd4c_lock_acquire(&forms_lock);
  nd4c_form *form = take_match(request, hash);
  nd4c_lock_release(&forms_lock);
  if (form == NULL || !has_changed(form, request)) {
    return form;
  }
  detach_one(form);
  nd4c_form_release(form);
  return NULL;
}

nd4c_form *nd4c_form_keep(const nd4c_form_request *request, nd4c_form *form) {
  const bool serves = matches(form, request, form->hash);
  nd4c_lock_acquire(&forms_lock);
  const bool kept = serves && form->body == (nd4c_storage_body *)request->storage;
  form->users += kept; /* the caller is another user, so it is not idle */
  nd4c_lock_release(&forms_lock);
  return kept ? form : NULL;
}

/* -- making ------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_form_make(const nd4c_form_request *request, nd4c_form **out) {
  nd4c_form *form = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *form, "a packed constant's record", &form));
  nd4c_status status = nd4c_packed_make(request->device, request->engine, request->layout, &form->packed);
  if (status != ND4C_OK) {
    nd4c_deallocate(form);
    return status;
  }
  const size_t bytes = (size_t)request->tensor->rank * sizeof(int64_t);
  form->users = 1;
  form->device = request->device;
  form->hash = nd4c_layout_hash(request->layout);
  form->engine = request->engine;
  form->dtype = request->tensor->dtype;
  form->rank = request->tensor->rank;
  form->offset = request->offset;
  memcpy(form->shape, request->tensor->shape, bytes);
  memcpy(form->strides, request->tensor->strides, bytes);
  *out = form;
  return ND4C_OK;
}

nd4c_form *nd4c_form_publish(const nd4c_form_request *request, nd4c_form *form) {
  nd4c_storage_body *body = (nd4c_storage_body *)request->storage;
  form->printed = fingerprint_of(request, form->fingerprint);
  form->packed = nd4c_packed_share(form->packed);
  nd4c_storage_attach(body);
  nd4c_lock_acquire(&forms_lock);
  nd4c_form *other = take_match(request, form->hash);
  if (other == NULL) {
    link_to_storage(form, body);
  }
  nd4c_lock_release(&forms_lock);
  atomic_fetch_add_explicit(&packed_count, 1, memory_order_relaxed);
  if (other == NULL) {
    return form;
  }
  (void)free_form(form);
  return other;
}

/* -- marks -------------------------------------------------------------------------------------------------------- */

static nd4c_form_request request_of(const nd4c_array *array, nd4c_tensor *tensor) {
  *tensor = (nd4c_tensor){.dtype = array->dtype,
                          .rank = array->rank,
                          .shape = array->shape,
                          .strides = array->strides,
                          .size = array->size};
  return (nd4c_form_request){.storage = array->storage, .offset = array->offset, .tensor = tensor};
}

nd4c_form *nd4c_mark_make(const nd4c_array *array) {
  nd4c_tensor tensor;
  const nd4c_form_request request = request_of(array, &tensor);
  nd4c_storage_body *body = (nd4c_storage_body *)array->storage;
  nd4c_form *mark = nd4c_allocate_zeroed(1, sizeof *mark);
  if (mark == NULL) {
    return NULL;
  }
  mark->users = 1;
  mark->printed = fingerprint_of(&request, mark->fingerprint);
  nd4c_storage_attach(body);
  nd4c_lock_acquire(&forms_lock);
  link_to_storage(mark, body);
  nd4c_lock_release(&forms_lock);
  return mark;
}

bool nd4c_mark_holds(const nd4c_form *mark, const nd4c_array *array) {
  nd4c_tensor tensor;
  const nd4c_form_request request = request_of(array, &tensor);
  nd4c_lock_acquire(&forms_lock);
  const bool written = mark->body == NULL || mark->doubtful;
  nd4c_lock_release(&forms_lock);
  return !written && !has_changed(mark, &request);
}

const nd4c_layout *nd4c_form_layout(const nd4c_form *form) {
  return nd4c_packed_layout(form->packed);
}

void nd4c_form_describe(const nd4c_form *form, nd4c_tensor *tensor) {
  const nd4c_block *block = nd4c_packed_block(form->packed);
  tensor->arrangement = nd4c_packed_layout(form->packed);
  tensor->layout = tensor->arrangement->tag;
  tensor->data = block->address;
  tensor->buffer = block->buffer;
  tensor->offset = 0;
}

/* -- letting go --------------------------------------------------------------------------------------------------- */

void nd4c_form_release(nd4c_form *form) {
  if (form == NULL) {
    return;
  }
  nd4c_lock_acquire(&forms_lock);
  form->users--;
  const bool gone = form->users == 0 && (form->body == NULL || form->doubtful || is_mark(form));
  if (gone) {
    unlink_from_storage(form);
  } else if (form->users == 0) {
    idle_push(form);
  }
  nd4c_lock_release(&forms_lock);
  if (gone) {
    (void)free_form(form);
  }
}

/* Removes a form without users from all lists and prepends it to *gone. Under the lock. */
static void take_out(nd4c_form *form, nd4c_form **gone) {
  idle_remove(form);
  unlink_from_storage(form);
  form->next = *gone;
  *gone = form;
}

void nd4c_forms_detach(nd4c_storage_body *body) {
  nd4c_form *gone = NULL, *form = NULL;
  if (atomic_load_explicit(&body->forms, memory_order_acquire) == NULL) {
    return;
  }
  nd4c_lock_acquire(&forms_lock);
  while ((form = atomic_load_explicit(&body->forms, memory_order_relaxed)) != NULL) {
    if (form->users == 0) {
      take_out(form, &gone);
    } else {
      unlink_from_storage(form);
    }
  }
  nd4c_lock_release(&forms_lock);
  (void)free_list(gone);
}

void nd4c_forms_doubt(nd4c_storage_body *body) {
  nd4c_form *gone = NULL, *next = NULL;
  if (atomic_load_explicit(&body->forms, memory_order_acquire) == NULL) {
    return;
  }
  nd4c_lock_acquire(&forms_lock);
  for (nd4c_form *form = atomic_load_explicit(&body->forms, memory_order_relaxed); form != NULL; form = next) {
    next = form->next;
    form->doubtful = form->doubtful || !form->printed;
    if (form->doubtful && form->users == 0) {
      take_out(form, &gone);
    }
  }
  nd4c_lock_release(&forms_lock);
  (void)free_list(gone);
}

int64_t nd4c_forms_give_way(const nd4c_device *device, int64_t bytes) {
  int64_t freed = 0, taken = 1;
  while (freed < bytes && taken > 0) { /* what other forms share does not become free */
    nd4c_form *gone = NULL, *next = NULL;
    taken = 0;
    nd4c_lock_acquire(&forms_lock);
    for (nd4c_form *form = idle_oldest; form != NULL && taken < bytes - freed; form = next) {
      next = form->newer;
      if (form->device == device) {
        taken += nd4c_packed_layout(form->packed)->bytes;
        take_out(form, &gone);
      }
    }
    nd4c_lock_release(&forms_lock);
    freed += free_list(gone);
  }
  return freed;
}

static bool give_way(const nd4c_device *device, int64_t bytes) {
  return nd4c_forms_give_way(device, bytes) > 0;
}

static const nd4c_reclaimer unused_forms = {.order = ND4C_RECLAIM_FORMS, .give_way = give_way};
ND4C_HOOK(reclaimers, nd4c_reclaimer, unused_forms);
