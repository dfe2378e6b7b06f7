/* Arrays as nested lists of Python numbers: x.tolist(). fast.c calls it with the elements of a contiguous array. */
#include <string.h>

#include "native.h"

typedef PyObject *(*make_number)(const void *element);

/* X(dtype, C type, value of an element v as a Python object) */
#define ELEMENTS(X)                                       \
  X(BOOL, bool, PyBool_FromLong(v))                       \
  X(INT8, int8_t, PyLong_FromLong(v))                     \
  X(INT16, int16_t, PyLong_FromLong(v))                   \
  X(INT32, int32_t, PyLong_FromLong(v))                   \
  X(INT64, int64_t, PyLong_FromLongLong(v))               \
  X(UINT8, uint8_t, PyLong_FromLong(v))                   \
  X(UINT16, uint16_t, PyLong_FromLong(v))                 \
  X(UINT32, uint32_t, PyLong_FromLongLong(v))             \
  X(UINT64, uint64_t, PyLong_FromUnsignedLongLong(v))     \
  X(FLOAT32, float, PyFloat_FromDouble((double)v))        \
  X(FLOAT64, double, PyFloat_FromDouble(v))

#define DEFINE(NAME, type, made)                       \
  static PyObject *make_##NAME(const void *element) {  \
    type v;                                            \
    memcpy(&v, element, sizeof v);                     \
    return made;                                       \
  }
ELEMENTS(DEFINE)

static PyObject *make_complex64(const void *element) {
  float parts[2];
  memcpy(parts, element, sizeof parts);
  return PyComplex_FromDoubles((double)parts[0], (double)parts[1]);
}

static PyObject *make_complex128(const void *element) {
  double parts[2];
  memcpy(parts, element, sizeof parts);
  return PyComplex_FromDoubles(parts[0], parts[1]);
}

static make_number maker_of(nd4c_dtype dtype) {
#define ROW(NAME, type, made) [ND4C_##NAME] = make_##NAME,
  static const make_number makers[ND4C_COMPLEX128 + 1] = {
      ELEMENTS(ROW)[ND4C_COMPLEX64] = make_complex64, [ND4C_COMPLEX128] = make_complex128};
  return dtype <= ND4C_COMPLEX128 ? makers[dtype] : NULL;
}

/* What the lists of one array share: `next` is the first element that no list has taken. */
typedef struct listing {
  make_number make;
  const char *next;
  int64_t bytes;
  const int64_t *shape;
  int32_t rank;
} listing;

static PyObject *list_of(listing *l, int32_t axis) {
  PyObject *list = PyList_New((Py_ssize_t)l->shape[axis]);
  const bool innermost = axis + 1 == l->rank;
  for (int64_t i = 0; list != NULL && i < l->shape[axis]; i++) {
    PyObject *item = innermost ? l->make(l->next) : list_of(l, axis + 1);
    l->next += innermost ? l->bytes : 0;
    if (item == NULL) {
      Py_CLEAR(list);
    } else {
      PyList_SetItem(list, (Py_ssize_t)i, item);
    }
  }
  return list;
}

PyObject *native_nested_lists(const nd4c_array *array, const void *data) {
  const nd4c_dtype dtype = lib.array_dtype(array);
  listing l = {.make = maker_of(dtype), .next = data, .shape = lib.array_shape(array), .rank = lib.array_rank(array)};
  if (l.make == NULL) {
    return NULL;
  }
  l.bytes = (int64_t)lib.dtype_size(dtype);
  return list_of(&l, 0);
}
