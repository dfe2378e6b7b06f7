/* Forms: the contents of a storage, or of a view of it, packed for an engine's kernels in a layout of theirs, on one
 * device. A form belongs to the storage and is shared by all that want the same: the steps of a plan, plans of other
 * shapes. It counts as memory of the device.
 *
 * While a choice uses a form it stays. Afterwards it is kept for the next plan until the storage is written or ends,
 * the device needs memory, or its memory is trimmed to nothing. What was written through an address, nd4c does not see:
 * a form carries a fingerprint of the contents, and another choice uses it only where they still have it. */
#ifndef ND4C_DEVICE_FORMS_H
#define ND4C_DEVICE_FORMS_H

#include "array/array.h"
#include "array/layout.h"
#include "device/memory/memory.h"
#include "nd4c/plugin/call.h"

typedef struct nd4c_form nd4c_form;

/* What is wanted. Borrowed. */
typedef struct nd4c_form_request {
  nd4c_storage *storage;
  int64_t offset;            /* of the input's element 0, in elements from the storage's first byte */
  const nd4c_tensor *tensor; /* the input: dtype, shape, strides */
  nd4c_device *device;
  const char *engine;
  const nd4c_layout *layout;
} nd4c_form_request;

/* The form that the storage has, one reference for the caller; NULL: none, or the contents have changed since. */
nd4c_form *nd4c_form_find(const nd4c_form_request *request);

/* A form with memory and no contents, one reference for the caller; no other thread sees it. MEMORY, MEMORY_CAP. */
nd4c_status nd4c_form_make(const nd4c_form_request *request, nd4c_form **form);
/* Gives a form that was filled to the storage. Where another thread gave it an equal one meanwhile, that one is
 * returned, and this one freed. */
nd4c_form *nd4c_form_publish(const nd4c_form_request *request, nd4c_form *form);

void nd4c_form_release(nd4c_form *form);

/* A form without memory, a mark: it only tells whether an array still has the contents that it had when the mark was
 * made. For what is computed from them elsewhere. The array outlives it; nd4c_form_release ends it. NULL without
 * memory. */
nd4c_form *nd4c_mark_make(const nd4c_array *array);
/* `array`: the one of which the mark was made. Reads its contents, on the host. False where that is not known. */
bool nd4c_mark_holds(const nd4c_form *mark, const nd4c_array *array);

const nd4c_layout *nd4c_form_layout(const nd4c_form *form);
/* Fills layout, data, buffer and offset of a tensor with the form, which lives longer. */
void nd4c_form_describe(const nd4c_form *form, nd4c_tensor *tensor);

/* The storage is about to be written, or ends: none of its forms is found any more. Any lock of storages may be held.
 */
struct nd4c_storage_body;
void nd4c_forms_detach(struct nd4c_storage_body *body);

/* The storage may from now on be written through an address: forms without a fingerprint are kept for their users
 * alone. */
void nd4c_forms_doubt(struct nd4c_storage_body *body);

/* Frees forms of the device that no choice uses, the one used least lately first, until so many bytes are free; returns
 * how many are. */
int64_t nd4c_forms_give_way(const nd4c_device *device, int64_t bytes);

/* Forms packed since the process began, on all devices: for tests. */
int64_t nd4c_forms_packed(void);
/* In a child of fork: no thread of the parent holds the lock. */
void nd4c_forms_forget_lock(void);

#endif
