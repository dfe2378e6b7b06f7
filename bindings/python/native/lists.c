/* Arrays as nested lists of Python numbers: x.tolist(). fast.c calls it with the elements of a contiguous array. */
#include <string.h>

#include "native.h"

/* A list object as every CPython from 3.9 on lays it out. The stable ABI promises no such layout: slots_of() compares
 * one list with it before lists are filled directly, which takes a third less time than PyList_SetItem does. */
typedef struct list_object {
  PyVarObject base;
  PyObject **slots;
} list_object;

/* Whether lists are laid out so; asked once. The GIL is held. */
static bool has_slots(void) {
  static int known = -1;
  if (known < 0) {
    PyObject *probe = PyList_New(2);
    known = 0;
    if (probe != NULL) {
      Py_INCREF(Py_None);
      Py_INCREF(Py_True);
      PyList_SetItem(probe, 0, Py_None);
      PyList_SetItem(probe, 1, Py_True);
      PyObject *bytes = PyObject_GetAttrString((PyObject *)&PyList_Type, "__basicsize__");
      known = bytes != NULL && PyLong_AsSize_t(bytes) == sizeof(list_object) + sizeof(Py_ssize_t);
      Py_XDECREF(bytes);
      PyObject **slots = known != 0 ? ((list_object *)probe)->slots : NULL;
      known = slots != NULL && slots[0] == Py_None && slots[1] == Py_True;
      Py_DECREF(probe);
    }
    PyErr_Clear();
  }
  return known > 0;
}

static PyObject **slots_of(PyObject *list) {
  return list != NULL && has_slots() ? ((list_object *)list)->slots : NULL;
}

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
    PyObject *list = PyList_New(count), **slots = slots_of(list);       \
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {            \
      type v[numbers];                                                  \
      memcpy(v, elements + i * (Py_ssize_t)sizeof v, sizeof v);         \
      PyObject *item = made;                                            \
      if (item == NULL) {                                               \
        Py_CLEAR(list);                                                 \
      } else if (slots != NULL) {                                       \
        slots[i] = item;                                                \
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
