/* Arrays as nested lists of Python numbers: x.tolist(). fast.c calls it with the elements of a contiguous array. */
#include <string.h>

#include "native.h"

/* A list of `count` elements that follow each other. */
typedef PyObject *(*list_row)(const char *elements, Py_ssize_t count);

/* X(dtype, C type, numbers an element, element v as a Python object) */
#define ELEMENTS(X)                                                         \
  X(BOOL, bool, 1, PyBool_FromLong(v[0]))                                   \
  X(INT8, int8_t, 1, PyLong_FromLong(v[0]))                                 \
  X(INT16, int16_t, 1, PyLong_FromLong(v[0]))                               \
  X(INT32, int32_t, 1, PyLong_FromLong(v[0]))                               \
  X(INT64, int64_t, 1, PyLong_FromLongLong(v[0]))                           \
  X(UINT8, uint8_t, 1, PyLong_FromLong(v[0]))                               \
  X(UINT16, uint16_t, 1, PyLong_FromLong(v[0]))                             \
  X(UINT32, uint32_t, 1, PyLong_FromLongLong(v[0]))                         \
  X(UINT64, uint64_t, 1, PyLong_FromUnsignedLongLong(v[0]))                 \
  X(FLOAT32, float, 1, PyFloat_FromDouble((double)v[0]))                    \
  X(FLOAT64, double, 1, PyFloat_FromDouble(v[0]))                           \
  X(COMPLEX64, float, 2, PyComplex_FromDoubles((double)v[0], (double)v[1])) \
  X(COMPLEX128, double, 2, PyComplex_FromDoubles(v[0], v[1]))

#define DEFINE(NAME, type, numbers, made)                               \
  static PyObject *row_##NAME(const char *elements, Py_ssize_t count) { \
    PyObject *list = PyList_New(count);                                 \
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {            \
      type v[numbers];                                                  \
      memcpy(v, elements + i * (Py_ssize_t)sizeof v, sizeof v);         \
      PyObject *item = made;                                            \
      if (item == NULL) {                                               \
        Py_CLEAR(list);                                                 \
      } else {                                                          \
        PyList_SetItem(list, i, item);                                  \
      }                                                                 \
    }                                                                   \
    return list;                                                        \
  }
ELEMENTS(DEFINE)

static list_row row_of(nd4c_dtype dtype) {
#define ROW(NAME, type, numbers, made) [ND4C_##NAME] = row_##NAME,
  static const list_row rows[ND4C_COMPLEX128 + 1] = {ELEMENTS(ROW)};
  return dtype <= ND4C_COMPLEX128 ? rows[dtype] : NULL;
}

/* What the lists of one array share: `next` is the first element that no list has taken. */
typedef struct listing {
  list_row row;
  const char *next;
  int64_t bytes;
  const int64_t *shape;
  int32_t rank;
} listing;

static PyObject *list_of(listing *l, int32_t axis) {
  const Py_ssize_t count = (Py_ssize_t)l->shape[axis];
  if (axis + 1 == l->rank) {
    const char *elements = l->next;
    l->next += count * l->bytes;
    return l->row(elements, count);
  }
  PyObject *list = PyList_New(count);
  for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
    PyObject *item = list_of(l, axis + 1);
    if (item == NULL) {
      Py_CLEAR(list);
    } else {
      PyList_SetItem(list, i, item);
    }
  }
  return list;
}

PyObject *native_nested_lists(const nd4c_array *array, const void *data) {
  const nd4c_dtype dtype = lib.array_dtype(array);
  listing l = {.row = row_of(dtype), .next = data, .shape = lib.array_shape(array), .rank = lib.array_rank(array)};
  if (l.row == NULL) {
    return NULL;
  }
  l.bytes = (int64_t)lib.dtype_size(dtype);
  return list_of(&l, 0);
}
