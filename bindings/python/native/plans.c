/* Runs of compiled functions (nd4c/graph/_compile.py): what tells the arguments of one call from those of another, and
 * the call of the plan. The table in creation.c lists both functions. */
#include <string.h>

#include "native.h"

enum { KEY_SIZE = 1024, MOST_ARRAYS = 64 };

/* One array in a key: its dtype, its rank and its extents. False: the key has no room for it. */
static bool describe(const nd4c_array *array, char *key, size_t *used) {
  const int32_t head[2] = {(int32_t)lib.array_dtype(array), lib.array_rank(array)};
  const size_t extents = (size_t)head[1] * sizeof(int64_t);
  if (*used + sizeof head + extents > KEY_SIZE) {
    return false;
  }
  memcpy(key + *used, head, sizeof head);
  if (extents > 0) {
    memcpy(key + *used + sizeof head, lib.array_shape(array), extents);
  }
  *used += sizeof head + extents;
  return true;
}

/* call_key(arguments): bytes for the device of the thread and the dtypes and shapes of a tuple of Arrays; None: one of
 * them is no Array, or they are too many. */
PyObject *native_call_key(PyObject *module, PyObject *arguments) {
  (void)module;
  const nd4c_device *device = lib.context_device(lib.context_current());
  char key[KEY_SIZE];
  size_t used = sizeof(void *);
  memcpy(key, &device, sizeof(void *));
  const Py_ssize_t count = PyTuple_Size(arguments);
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *value = PyTuple_GetItem(arguments, i);
    if (!is_array(value) || !describe(handle_of(value), key, &used)) {
      Py_RETURN_NONE;
    }
  }
  return count < 0 ? NULL : PyBytes_FromStringAndSize(key, (Py_ssize_t)used);
}

static PyObject *results_of(nd4c_array **outputs, Py_ssize_t count) {
  PyObject *list = PyList_New(count);
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *array = list != NULL ? native_array_wrap(outputs[i]) : NULL;
    if (list == NULL) {
      lib.array_release(outputs[i]);
    } else if (array == NULL) {
      Py_CLEAR(list);
    } else {
      PyList_SetItem(list, i, array);
    }
  }
  return list;
}

/* run_plan(address, arguments, count): a list of the plan's `count` outputs for a tuple of Arrays; None: there are more
 * of either than the function has room for. The caller keeps the plan. */
PyObject *native_run_plan(PyObject *module, PyObject *const *args, Py_ssize_t count) {
  (void)module;
  const nd4c_array *inputs[MOST_ARRAYS];
  nd4c_array *outputs[MOST_ARRAYS] = {NULL};
  nd4c_plan *plan = count == 3 ? PyLong_AsVoidPtr(args[0]) : NULL;
  const Py_ssize_t taken = plan != NULL ? PyTuple_Size(args[1]) : -1;
  const Py_ssize_t made = taken >= 0 ? PyLong_AsSsize_t(args[2]) : -1;
  if (made < 0) {
    if (PyErr_Occurred() == NULL) {
      PyErr_SetString(PyExc_TypeError, "run_plan: expected a plan, a tuple of Arrays and the number of outputs");
    }
    return NULL;
  }
  if (taken > MOST_ARRAYS || made > MOST_ARRAYS) {
    Py_RETURN_NONE;
  }
  for (Py_ssize_t i = 0; i < taken; i++) {
    PyObject *value = PyTuple_GetItem(args[1], i);
    if (!is_array(value)) {
      PyErr_SetString(PyExc_TypeError, "run_plan: an input is no nd4c.Array");
      return NULL;
    }
    inputs[i] = handle_of(value);
  }
  PyThreadState *state = PyEval_SaveThread();
  nd4c_status status = lib.plan_run(plan, inputs, (int32_t)taken, outputs, (int32_t)made);
  PyEval_RestoreThread(state);
  return status == ND4C_OK ? results_of(outputs, made) : native_fail(status);
}
