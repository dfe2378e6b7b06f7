/* Forms: the contents of a storage, or of a view of it, packed on one device in the layout of an engine's kernels. A
 * form belongs to the storage and is shared by all choices that need the same one: steps of a plan, plans of other
 * shapes. dispatch/constants.c finds and makes them. A form counts as memory of the device.
 *
 * A form stays while a choice uses it. Afterwards it is kept for the next plan until the storage is written or freed,
 * the device needs memory, or its memory is trimmed to 0. nd4c does not see writes through an address: a form therefore
 * has a fingerprint of the contents, and another choice uses it only if they still match. */
#ifndef ND4C_DEVICE_STORAGE_FORMS_H
#define ND4C_DEVICE_STORAGE_FORMS_H

#include "array/array.h"
#include "array/layout.h"
#include "device/memory/memory.h"
#include "nd4c/plugin/call.h"

typedef struct nd4c_form nd4c_form;

/* A request for a form. Borrowed. */
typedef struct nd4c_form_request {
  nd4c_storage *storage;
  int64_t offset;            /* of the input's element 0, in elements from the storage's first byte */
  const nd4c_tensor *tensor; /* the input: dtype, shape, strides */
  nd4c_device *device;
  const char *engine;
  const nd4c_layout *layout;
} nd4c_form_request;

/* The storage's form, one reference for the caller; NULL: there is none, or the contents have changed since. */
nd4c_form *nd4c_form_find(const nd4c_form_request *request);

/* One more reference to a form that the caller holds, for the same input of the same array: if it has the layout that
 * is wanted, and nd4c has not written the array since. The contents are not read. NULL: it does not serve. */
nd4c_form *nd4c_form_keep(const nd4c_form_request *request, nd4c_form *form);

/* A new form with undefined contents, one reference for the caller; other threads cannot find it yet. MEMORY,
 * MEMORY_CAP. */
nd4c_status nd4c_form_make(const nd4c_form_request *request, nd4c_form **out);
/* Adds a filled form to the storage. If another thread has added an equal one meanwhile, returns that one and frees
 * this one. */
nd4c_form *nd4c_form_publish(const nd4c_form_request *request, nd4c_form *form);

void nd4c_form_release(nd4c_form *form);

/* A mark, a form without memory: it only tells whether an array still has the contents that it had when the mark was
 * made. For values computed from the contents (graph/ir/derived.h). The array outlives it; free it with
 * nd4c_form_release. NULL if memory is exhausted. */
nd4c_form *nd4c_mark_make(const nd4c_array *array);
/* Whether the contents of `array`, for which the mark was made, are unchanged. Reads them on the host. False if that is
 * unknown. */
bool nd4c_mark_holds(const nd4c_form *mark, const nd4c_array *array);

const nd4c_layout *nd4c_form_layout(const nd4c_form *form);
/* Fills layout, data, buffer and offset of a tensor with the form, which must outlive it. */
void nd4c_form_describe(const nd4c_form *form, nd4c_tensor *tensor);

/* Before the storage is written or freed: detaches its forms, so that none is found any more. The caller may hold a
 * storage's lock. */
struct nd4c_storage_body;
void nd4c_forms_detach(struct nd4c_storage_body *body);

/* From now on the storage may be written through an address: forms without a fingerprint are kept only for their
 * users. */
void nd4c_forms_doubt(struct nd4c_storage_body *body);

/* Frees unused forms of the device, the least recently used first, until that many bytes are free; returns the
 * bytes. */
int64_t nd4c_forms_give_way(const nd4c_device *device, int64_t bytes);

/* Forms packed since the process began, on all devices: for tests. */
int64_t nd4c_forms_packed(void);
/* In a child of fork: resets the lock, which a thread of the parent may have held. */
void nd4c_forms_forget_lock(void);

#endif
