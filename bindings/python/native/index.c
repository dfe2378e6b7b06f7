/* x[key] and x[key] = value: keys into items, then one call. Python calls these through the slots of the type Array
 * (array.c). */
#include <string.h>

#include "native.h"

enum { MOST_ITEMS = 64 };

/* A key as items, with references that keep the arrays among them alive. */
typedef struct key_items {
  nd4c_index items[MOST_ITEMS];
  PyObject *kept[MOST_ITEMS];
  int count, kept_count;
} key_items;

static void drop_items(key_items *k) {
  for (int i = 0; i < k->kept_count; i++) {
    Py_DECREF(k->kept[i]);
  }
}

/* -- items -------------------------------------------------------------------------------------------------------- */

static bool integer_item(PyObject *number, nd4c_index *item) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0) {
    PyErr_Format(PyExc_IndexError, "index %R does not fit 64 bits", number);
    return false;
  }
  item->kind = ND4C_INDEX_INTEGER;
  item->start = value;
  return value != -1 || PyErr_Occurred() == NULL;
}

/* PySlice_Unpack gives Py_SSIZE_T_MAX or _MIN for a bound that is None or out of range. Python treats these alike. nd4c
 * reads a bound of INT64_MIN as None, which is right only for the stop of a backwards slice. */
static bool slice_item(PyObject *slice, nd4c_index *item) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(slice, &start, &stop, &step) < 0) {
    return false;
  }
  item->kind = ND4C_INDEX_SLICE;
  item->start = start == INT64_MIN ? INT64_MIN + 1 : start;
  item->stop = stop == INT64_MIN && step > 0 ? INT64_MIN + 1 : stop;
  item->step = step;
  return true;
}

static void array_item(PyObject *array, nd4c_index *item) {
  item->kind = lib.array_dtype(handle_of(array)) == ND4C_BOOL ? ND4C_INDEX_MASK : ND4C_INDEX_ARRAY;
  item->array = handle_of(array);
}

/* An object that asarray made, if it is an array: of a value of a graph it makes none. */
static PyObject *array_or_refusal(PyObject *made) {
  if (made != NULL && !is_array(made)) {
    Py_DECREF(made);
    PyErr_SetString(PyExc_TypeError,
                    "a value of a graph cannot be written into an array, which is there already when "
                    "the plan runs; compute a new value, as nd4c.where and nd4c.concat do");
    return NULL;
  }
  return made;
}

/* Whether a key is a value of a graph, or a tuple with one. */
static bool has_symbol(PyObject *key) {
  PyTypeObject *symbol = (PyTypeObject *)registry.symbol;
  bool found = Py_TYPE(key) == symbol;
  const Py_ssize_t count = symbol != NULL && PyTuple_CheckExact(key) ? PyTuple_Size(key) : 0;
  for (Py_ssize_t i = 0; i < count && !found; i++) {
    found = Py_TYPE(PyTuple_GetItem(key, i)) == symbol;
  }
  return found;
}

/* An empty list has no dtype of its own: as an index it is one of integers. */
static PyObject *list_array(PyObject *key) {
  const int64_t none = 0;
  nd4c_array *array = NULL;
  PyObject *shared = native_from_numpy(key);
  if (shared != NULL || PyErr_Occurred() != NULL) {
    return shared;
  }
  if (!PyList_Check(key) || PyList_Size(key) > 0) {
    return PyObject_CallFunctionObjArgs(registry.asarray, key, NULL);
  }
  nd4c_status status = lib.array_empty(ND4C_INT64, 1, &none, NULL, &array);
  return native_array_result(status, array);
}

/* Lists, booleans and arrays of other libraries become arrays; the rest is a number, or nothing. */
static bool foreign_item(PyObject *key, key_items *k, nd4c_index *item) {
  if (PyBool_Check(key) || PyList_Check(key) || PyObject_HasAttrString(key, "dtype")) {
    PyObject *array = array_or_refusal(list_array(key));
    if (array == NULL) {
      return false;
    }
    k->kept[k->kept_count++] = array;
    array_item(array, item);
    return true;
  }
  PyObject *number = PyNumber_Index(key);
  if (number == NULL) {
    if (PyErr_ExceptionMatches(PyExc_TypeError)) {
      PyErr_Clear();
      PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(key), "__name__");
      PyErr_Format(PyExc_IndexError,
                   "only integers, slices (':'), ellipsis ('...'), None, and arrays of integers or booleans are valid "
                   "indices, not %S",
                   name);
      Py_XDECREF(name);
    }
    return false;
  }
  bool done = integer_item(number, item);
  Py_DECREF(number);
  return done;
}

static inline bool take_item(PyObject *key, key_items *k) {
  nd4c_index *item = &k->items[k->count++];
  if (PyLong_CheckExact(key)) {
    return integer_item(key, item);
  }
  if (PySlice_Check(key)) {
    return slice_item(key, item);
  }
  if (is_array(key)) {
    array_item(key, item);
    return true;
  }
  if (key == Py_Ellipsis || key == Py_None) {
    item->kind = key == Py_None ? ND4C_INDEX_NEW_AXIS : ND4C_INDEX_ELLIPSIS;
    return true;
  }
  return foreign_item(key, k, item);
}

static bool take_items(PyObject *key, key_items *k) {
  k->count = k->kept_count = 0;
  if (!PyTuple_Check(key)) {
    return take_item(key, k);
  }
  Py_ssize_t count = PyTuple_Size(key);
  if (count > MOST_ITEMS) {
    PyErr_Format(PyExc_IndexError, "too many indices: %zd", count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!take_item(PyTuple_GetItem(key, i), k)) {
      return false;
    }
  }
  return true;
}

/* -- access ------------------------------------------------------------------------------------------------------- */

/* Whether the call moves enough elements to release the GIL. */
static bool is_long_way(const key_items *k, const nd4c_array *array) {
  bool moves = false;
  for (int i = 0; i < k->count; i++) {
    moves = moves || k->items[i].kind >= ND4C_INDEX_MASK;
  }
  return moves && is_long(array);
}

enum { FEW = NATIVE_SHORT, LARGEST = 16 };

/* x[mask] of few elements on the host: copied here, because choosing a kernel would take longer than the copy. NULL
 * without an exception: the library takes the call. */
static PyObject *few_of_mask(const nd4c_array *x, const nd4c_array *mask) {
  const int64_t size = lib.array_size(x);
  const nd4c_dtype dtype = lib.array_dtype(x);
  const size_t bytes = dtype <= ND4C_COMPLEX128 ? (size_t)lib.dtype_size(dtype) : 0;
  const void *from = NULL, *chosen = NULL;
  if (size > FEW || bytes == 0 || lib.array_rank(x) != 1 || lib.array_rank(mask) != 1 || lib.array_size(mask) != size ||
      !native_is_host(lib.context_device(lib.context_current())) || (from = native_plain_data(x)) == NULL ||
      (chosen = native_plain_data(mask)) == NULL) {
    return NULL;
  }
  char copied[FEW * LARGEST];
  char *to = copied;
  for (int64_t i = 0; i < size; i++) {
    memcpy(to, (const char *)from + (size_t)i * bytes, bytes);
    to += ((const bool *)chosen)[i] ? bytes : 0;
  }
  const int64_t count = (to - copied) / (int64_t)bytes;
  nd4c_array *out = NULL;
  nd4c_status status = lib.array_from_data(dtype, 1, &count, copied, lib.array_device(x), &out);
  return native_array_result(status, out);
}

/* Whether the key is one integer an axis. */
static bool is_one_element(PyObject *self, const key_items *k) {
  bool integers = k->count == lib.array_rank(handle_of(self));
  for (int i = 0; i < k->count; i++) {
    integers = integers && k->items[i].kind == ND4C_INDEX_INTEGER;
  }
  return integers;
}

/* One element as an array of its own, as NumPy's scalars are: x[0], x[1] = x[1], x[0] exchanges two. Takes over the
 * view. */
static PyObject *one_element(nd4c_array *view) {
  const nd4c_dtype dtype = lib.array_dtype(view);
  const void *data = NULL;
  nd4c_array *out = NULL;
  nd4c_status status;
  if (dtype <= ND4C_COMPLEX128 && (data = native_plain_data(view)) != NULL) {
    status = lib.array_from_data(dtype, 0, NULL, data, lib.array_device(view), &out);
  } else {
    const nd4c_array *input = view;
    status = lib.op_call_positional(NULL, ND4C_OP_copy, &input, 1, NULL, &out);
  }
  PyObject *result = native_array_result(status, out);
  lib.array_release(view);
  return result;
}

/* The same from memory of the host, without a view on the way; NULL without an exception: it is elsewhere, strided, or
 * the key out of range. */
static PyObject *near_element(const nd4c_array *x, const nd4c_index *items, int count) {
  const nd4c_dtype dtype = lib.array_dtype(x);
  const int64_t *shape = lib.array_shape(x);
  const void *data = NULL;
  if (dtype > ND4C_COMPLEX128 || (data = native_plain_data(x)) == NULL) {
    return NULL;
  }
  int64_t place = 0;
  for (int i = 0; i < count; i++) {
    int64_t index = items[i].start;
    index += index < 0 ? shape[i] : 0;
    if (index < 0 || index >= shape[i]) {
      return NULL;
    }
    place = place * shape[i] + index;
  }
  nd4c_array *out = NULL;
  const char *element = (const char *)data + (size_t)place * (size_t)lib.dtype_size(dtype);
  nd4c_status status = lib.array_from_data(dtype, 0, NULL, element, lib.array_device(x), &out);
  return native_array_result(status, out);
}

PyObject *native_array_getitem(PyObject *self, PyObject *key) {
  key_items k;
  nd4c_array *out = NULL;
  if (is_array(key) && lib.array_dtype(handle_of(key)) == ND4C_BOOL) {
    PyObject *few = few_of_mask(handle_of(self), handle_of(key));
    if (few != NULL || PyErr_Occurred() != NULL) {
      return few;
    }
  }
  if (registry.symbol != NULL && has_symbol(key)) {
    return PyObject_CallFunctionObjArgs(registry.picked, self, key, NULL);
  }
  if (!take_items(key, &k)) {
    drop_items(&k);
    return NULL;
  }
  const bool single = is_one_element(self, &k);
  PyObject *near = single ? near_element(handle_of(self), k.items, k.count) : NULL;
  if (near != NULL || (single && PyErr_Occurred() != NULL)) {
    drop_items(&k);
    return near;
  }
  nd4c_status status;
  if (is_long_way(&k, handle_of(self))) {
    PyThreadState *state = PyEval_SaveThread();
    status = lib.array_get(handle_of(self), k.items, k.count, &out);
    PyEval_RestoreThread(state);
  } else {
    status = lib.array_get(handle_of(self), k.items, k.count, &out);
  }
  drop_items(&k);
  return status == ND4C_OK && single ? one_element(out) : native_array_result(status, out);
}

static nd4c_status set_items(PyObject *self, const key_items *k, const nd4c_array *value) {
  if (!is_long(handle_of(self)) || is_one_element(self, k)) { /* one element is too short to release the GIL */
    return lib.array_set(handle_of(self), k->items, k->count, value);
  }
  PyThreadState *state = PyEval_SaveThread();
  nd4c_status status = lib.array_set(handle_of(self), k->items, k->count, value);
  PyEval_RestoreThread(state);
  return status;
}

/* A value as an array: a number in the array's dtype, everything else as asarray makes it. */
static bool take_value(PyObject *self, PyObject *value, native_operand *operand) {
  native_state state = native_operand_lend(value, handle_of(self), operand);
  if (state != NATIVE_REFUSED) {
    return state == NATIVE_READY;
  }
  operand->object = array_or_refusal(PyObject_CallFunctionObjArgs(registry.asarray, value, NULL));
  if (operand->object == NULL) {
    return false;
  }
  operand->handle = handle_of(operand->object);
  return true;
}

/* A value of a dtype that the library does not write into the array: the package casts it as NumPy does, or refuses. */
static int set_cast(PyObject *self, const key_items *k, PyObject *value) {
  PyObject *cast = array_or_refusal(PyObject_CallFunctionObjArgs(registry.assigned, self, value, NULL));
  if (cast == NULL) {
    return -1;
  }
  nd4c_status status = set_items(self, k, handle_of(cast));
  Py_DECREF(cast);
  if (status != ND4C_OK) {
    native_fail(status);
  }
  return status == ND4C_OK ? 0 : -1;
}

int native_array_setitem(PyObject *self, PyObject *key, PyObject *value) {
  key_items k;
  if (value == NULL) {
    PyErr_SetString(PyExc_TypeError, "elements of an array cannot be deleted");
    return -1;
  }
  native_operand operand;
  int result = -1;
  if (!take_items(key, &k)) {
    drop_items(&k);
    return -1;
  }
  if (take_value(self, value, &operand)) {
    nd4c_status status = set_items(self, &k, operand.handle);
    native_operand_drop(&operand);
    result = status == ND4C_OK ? 0 : -1;
    if (status == ND4C_DTYPE) {
      result = set_cast(self, &k, value);
    } else if (status != ND4C_OK) {
      native_fail(status);
    }
  }
  drop_items(&k);
  return result;
}

PyObject *native_array_element(PyObject *self, Py_ssize_t index) {
  nd4c_array *out = NULL;
  const nd4c_index item = {.kind = ND4C_INDEX_INTEGER, .start = index};
  if (lib.array_rank(handle_of(self)) == 1) {
    PyObject *near = near_element(handle_of(self), &item, 1);
    if (near != NULL || PyErr_Occurred() != NULL) {
      return near;
    }
  }
  nd4c_status status = lib.array_get(handle_of(self), &item, 1, &out);
  return status == ND4C_OK && lib.array_rank(out) == 0 ? one_element(out) : native_array_result(status, out);
}
