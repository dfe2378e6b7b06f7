/* Arrays as Python buffers: memoryview(x), numpy.frombuffer(x), without a copy. Python calls these through the buffer
 * slots of the type Array (array.c). */
#include <limits.h>
#include <stdlib.h>

#include "native.h"

/* Codes of the module struct, with complex numbers as NumPy writes them; NULL where there is none. NumPy's int64 is C's
 * long where that has 64 bits; "q" would be another dtype of the same kind, which prints its name. */
static const char *format_of(nd4c_dtype dtype) {
  static const char *const formats[] = {[ND4C_BOOL] = "?",
                                        [ND4C_INT8] = "b",
                                        [ND4C_INT16] = "h",
                                        [ND4C_INT32] = "i",
                                        [ND4C_INT64] = LONG_MAX > INT32_MAX ? "l" : "q",
                                        [ND4C_UINT8] = "B",
                                        [ND4C_UINT16] = "H",
                                        [ND4C_UINT32] = "I",
                                        [ND4C_UINT64] = LONG_MAX > INT32_MAX ? "L" : "Q",
                                        [ND4C_FLOAT16] = "e",
                                        [ND4C_FLOAT32] = "f",
                                        [ND4C_FLOAT64] = "d",
                                        [ND4C_COMPLEX64] = "Zf",
                                        [ND4C_COMPLEX128] = "Zd"};
  return dtype < (nd4c_dtype)(sizeof formats / sizeof *formats) ? formats[dtype] : NULL;
}

static int refuse(python_buffer *view, const char *text) {
  view->obj = NULL;
  PyErr_SetString(PyExc_BufferError, text);
  return -1;
}

static bool is_fortran(const nd4c_array *array) {
  const int64_t *shape = lib.array_shape(array), *strides = lib.array_strides(array);
  int64_t expected = 1;
  for (int32_t i = 0; i < lib.array_rank(array); i++) {
    if (shape[i] != 1 && strides[i] != expected) {
      return false;
    }
    expected *= shape[i];
  }
  return true;
}

/* Whether the consumer accepts the order of the elements. */
static bool is_order_fine(const nd4c_array *array, int flags) {
  bool c_order = lib.array_is_contiguous(array), fortran = is_fortran(array);
  if ((flags & PYTHON_BUFFER_C_CONTIGUOUS) == PYTHON_BUFFER_C_CONTIGUOUS) {
    return c_order;
  }
  if ((flags & PYTHON_BUFFER_F_CONTIGUOUS) == PYTHON_BUFFER_F_CONTIGUOUS) {
    return fortran;
  }
  if ((flags & PYTHON_BUFFER_ANY_CONTIGUOUS) == PYTHON_BUFFER_ANY_CONTIGUOUS) {
    return c_order || fortran;
  }
  return (flags & PYTHON_BUFFER_STRIDES) == PYTHON_BUFFER_STRIDES || c_order;
}

/* Extents, then strides in bytes. The view points to them until the consumer releases it. */
static bool fill_layout(const nd4c_array *array, python_buffer *view, int flags) {
  int32_t rank = lib.array_rank(array);
  Py_ssize_t *numbers = malloc((size_t)(2 * rank + 1) * sizeof *numbers);
  if (numbers == NULL) {
    return false;
  }
  for (int32_t i = 0; i < rank; i++) {
    numbers[i] = (Py_ssize_t)lib.array_shape(array)[i];
    numbers[rank + i] = (Py_ssize_t)lib.array_strides(array)[i] * view->itemsize;
  }
  view->internal = numbers;
  view->shape = (flags & PYTHON_BUFFER_ND) != 0 ? numbers : NULL;
  view->strides = (flags & PYTHON_BUFFER_STRIDES) == PYTHON_BUFFER_STRIDES ? numbers + rank : NULL;
  return true;
}

/* Memory that DLPack has exported keeps its address: migration and the end of a workspace leave it in place. */
static nd4c_status find_bytes(nd4c_array *array, void **bytes) {
  nd4c_dl_managed *managed = NULL;
  nd4c_status status = lib.array_to_dlpack(array, &managed);
  if (status == ND4C_OK) {
    *bytes = managed->tensor.data;
    managed->deleter(managed);
  }
  return status;
}

int native_buffer_get(PyObject *self, python_buffer *view, int flags) {
  nd4c_array *array = handle_of(self);
  nd4c_dtype dtype = lib.array_dtype(array);
  const char *format = format_of(dtype);
  bool read_only = lib.array_is_read_only(array);
  if (format == NULL) {
    return refuse(view, "arrays of this dtype have no buffer: Python has no code for their elements");
  }
  if (read_only && (flags & PYTHON_BUFFER_WRITABLE) != 0) {
    return refuse(view, "the array is read-only");
  }
  if (!is_order_fine(array, flags)) {
    return refuse(view, "the array's elements are not in the requested order");
  }
  nd4c_status status = find_bytes(array, &view->buf);
  if (status != ND4C_OK) {
    view->obj = NULL;
    native_fail(status);
    return -1;
  }
  view->itemsize = (Py_ssize_t)lib.dtype_size(dtype);
  view->len = (Py_ssize_t)lib.array_size(array) * view->itemsize;
  view->readonly = read_only;
  view->ndim = lib.array_rank(array);
  view->format = (flags & PYTHON_BUFFER_FORMAT) != 0 ? (char *)(uintptr_t)format : NULL;
  view->suboffsets = NULL;
  if (!fill_layout(array, view, flags)) {
    view->obj = NULL;
    PyErr_NoMemory();
    return -1;
  }
  Py_INCREF(self);
  view->obj = self;
  return 0;
}

void native_buffer_release(PyObject *self, python_buffer *view) {
  (void)self;
  free(view->internal);
}
