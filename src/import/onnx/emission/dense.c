/* Implements dense.h. A copy of mapped weights is deferred: if kernels read it packed, it never takes memory. */
#include "import/onnx/emission/dense.h"

#include "array/array.h"
#include "array/pack.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/storage/deferred.h"
#include "nd4c/op_schema.h"

typedef struct nd4c_onnx_dense_copy {
  struct nd4c_onnx_dense_copy *next;
  nd4c_array *view, *copy; /* one reference each */
} nd4c_onnx_dense_copy;

/* -- deferred copies ----------------------------------------------------------------------------------------------- */

static nd4c_status write_copy(void *user, void *to) {
  const nd4c_array *view = user;
  const int64_t element = nd4c_dtype_size(view->dtype);
  const void *bytes = NULL;
  void *made = NULL;
  ND4C_TRY(nd4c_deferred_read(view->storage, &bytes, &made));
  nd4c_pack(view->rank, view->shape, view->strides, element, (const char *)bytes + view->offset * element, to);
  nd4c_deallocate(made);
  return ND4C_OK;
}

static void release_view(void *user) {
  nd4c_array_release(user);
}

static bool can_defer(const nd4c_array *view) {
  return nd4c_dtype_size(view->dtype) > 0 && nd4c_deferred_can_read(view->storage) &&
         nd4c_dtype_bytes(view->dtype, view->size) >= ND4C_DEFERRED_LEAST;
}

static nd4c_status make_deferred(nd4c_array *view, nd4c_array **copy) {
  const nd4c_deferral deferral = {.fill = write_copy, .release = release_view, .user = nd4c_array_retain(view)};
  nd4c_status status = nd4c_deferred_array(view->dtype, view->rank, view->shape, &deferral, copy);
  if (status != ND4C_OK) {
    nd4c_array_release(view);
  }
  return status;
}

/* -- the list ------------------------------------------------------------------------------------------------------ */

/* A handle of its own: the caller's may be shared with the program. */
static nd4c_status make_copy(nd4c_context *context, const nd4c_array *given, nd4c_onnx_dense_copy *made) {
  ND4C_TRY(nd4c_array_view(given, given->rank, given->shape, given->strides, given->offset, &made->view));
  if (can_defer(made->view)) {
    return make_deferred(made->view, &made->copy);
  }
  return nd4c_op_call(context, ND4C_OP_copy, &given, 1, NULL, 0, &made->copy, 1);
}

static void free_copy(nd4c_onnx_dense_copy *copy) {
  nd4c_array_release(copy->view);
  nd4c_array_release(copy->copy);
  nd4c_deallocate(copy);
}

nd4c_status nd4c_onnx_dense_get(nd4c_onnx_dense *dense, nd4c_context *context, const nd4c_array *view,
                                nd4c_array **copy) {
  nd4c_onnx_dense_copy *found = dense->first;
  while (found != NULL && !nd4c_array_is_same_view(found->view, view)) {
    found = found->next;
  }
  if (found == NULL) {
    ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *found, "a constant's copy", &found));
    nd4c_status status = make_copy(context, view, found);
    if (status != ND4C_OK) {
      free_copy(found);
      return status;
    }
    found->next = dense->first;
    dense->first = found;
  }
  *copy = nd4c_array_retain(found->copy);
  return ND4C_OK;
}

void nd4c_onnx_dense_free(nd4c_onnx_dense *dense) {
  while (dense->first != NULL) {
    nd4c_onnx_dense_copy *copy = dense->first;
    dense->first = copy->next;
    free_copy(copy);
  }
}
