/* function(number): one callable per op. It takes the inputs and then the attributes in the schema's order, all given,
 * and where the caller has them the arrays to write into; it converts each by its kind, and calls the op once.
 * nd4c/_core.py asks for each callable once; the table in creation.c lists native_function. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum { INLINE_ARRAYS = 16, INLINE_NUMBERS = 64, MOST_ATTRS = 32, MOST_OUTPUTS = 8 };

/* The op of a callable: the contents of the callable's `self`. */
typedef struct op_plan {
  const nd4c_op_info *info;
  bool elementwise; /* little work for each element of its inputs, or a view */
  PyMethodDef method;
} op_plan;

static const char capsule_name[] = "nd4c.op";

/* Everything about one call. */
typedef struct op_call {
  const op_plan *plan;
  PyObject *const *values;
  const nd4c_array **inputs;
  int32_t input_count;
  nd4c_attr_value attrs[MOST_ATTRS];
  native_operand operands[INLINE_ARRAYS]; /* inputs that are no arrays */
  int operand_count;
  PyObject *kept[MOST_ATTRS + 1]; /* made for this call */
  int kept_count;
  int64_t numbers[INLINE_NUMBERS];
  int number_count;
  void *blocks[MOST_ATTRS + 1];
  int block_count;
  const nd4c_array *inline_inputs[INLINE_ARRAYS];
} op_call;

static void call_clear(op_call *c) {
  for (int i = 0; i < c->operand_count; i++) {
    native_operand_drop(&c->operands[i]);
  }
  for (int i = 0; i < c->kept_count; i++) {
    Py_DECREF(c->kept[i]);
  }
  for (int i = 0; i < c->block_count; i++) {
    free(c->blocks[i]);
  }
}

/* Room for `count` values of 8 bytes that lasts as long as the call. */
static void *call_room(op_call *c, Py_ssize_t count) {
  if (c->number_count + count <= INLINE_NUMBERS) {
    void *room = &c->numbers[c->number_count];
    c->number_count += (int)count;
    return room;
  }
  void *block = malloc((size_t)count * sizeof(int64_t));
  if (block == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  c->blocks[c->block_count++] = block;
  return block;
}

/* -- inputs ------------------------------------------------------------------------------------------------------- */

static bool refuse_input(const op_call *c, PyObject *value) {
  bool number = PyLong_Check(value) || PyFloat_Check(value) || PyComplex_Check(value);
  PyObject *name = PyObject_GetAttrString((PyObject *)Py_TYPE(value), "__name__");
  PyErr_Format(PyExc_TypeError, "%s: expected an nd4c.Array, got %S; %s", c->plan->info->name, name,
               number ? "at least one of the arguments has to be an array" : "nd4c.asarray() makes an array of it");
  Py_XDECREF(name);
  return false;
}

/* The array whose dtype and device a number takes: the first among the inputs, except the condition of `where`. */
static PyObject *first_array(const op_call *c, PyObject *const *values, Py_ssize_t count) {
  for (Py_ssize_t i = c->plan->info->op == ND4C_OP_where ? 1 : 0; i < count; i++) {
    if (is_array(values[i])) {
      return values[i];
    }
  }
  return NULL;
}

static bool take_operand(op_call *c, PyObject *value, PyObject *beside, const nd4c_array **input) {
  if (beside == NULL || c->operand_count == INLINE_ARRAYS) {
    return refuse_input(c, value);
  }
  native_operand *operand = &c->operands[c->operand_count];
  native_state state = native_operand_take(value, handle_of(beside), operand);
  if (state != NATIVE_READY) {
    return state == NATIVE_REFUSED ? refuse_input(c, value) : false;
  }
  c->operand_count++;
  *input = operand->handle;
  return true;
}

/* The last input of an op that takes any number of them: a list of arrays, behind the `fixed` ones before it. */
static bool take_list(op_call *c, int32_t fixed) {
  PyObject *list = PySequence_Tuple(c->values[fixed]);
  if (list == NULL) {
    return false;
  }
  c->kept[c->kept_count++] = list;
  const Py_ssize_t count = PyTuple_Size(list);
  if (fixed + count > INLINE_ARRAYS) {
    const nd4c_array **room = call_room(c, fixed + count);
    if (room == NULL) {
      return false;
    }
    memcpy(room, c->inputs, (size_t)fixed * sizeof *room);
    c->inputs = room;
  }
  PyObject *beside = first_array(c, c->values, fixed);
  for (Py_ssize_t i = 0; i < count && beside == NULL; i++) {
    beside = is_array(PyTuple_GetItem(list, i)) ? PyTuple_GetItem(list, i) : NULL;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *value = PyTuple_GetItem(list, i);
    if (is_array(value)) {
      c->inputs[fixed + i] = handle_of(value);
    } else if (!take_operand(c, value, beside, &c->inputs[fixed + i])) {
      return false;
    }
  }
  c->input_count = fixed + (int32_t)count;
  return true;
}

static bool take_inputs(op_call *c) {
  const nd4c_op_info *info = c->plan->info;
  const bool listed = info->input_count > 0 && info->inputs[info->input_count - 1].variadic;
  const int32_t fixed = info->input_count - (listed ? 1 : 0);
  for (int32_t i = 0; i < fixed; i++) {
    PyObject *value = c->values[i];
    if (is_array(value)) {
      c->inputs[i] = handle_of(value);
    } else if (value == Py_None && info->inputs[i].optional) {
      c->inputs[i] = NULL;
    } else if (!take_operand(c, value, first_array(c, c->values, fixed), &c->inputs[i])) {
      return false;
    }
  }
  c->input_count = fixed;
  return !listed || take_list(c, fixed);
}

/* -- attributes --------------------------------------------------------------------------------------------------- */

static bool take_integer(PyObject *value, int64_t *number) {
  if (PyLong_CheckExact(value)) {
    *number = PyLong_AsLongLong(value);
  } else {
    PyObject *index = PyNumber_Index(value);
    *number = index != NULL ? PyLong_AsLongLong(index) : -1;
    Py_XDECREF(index);
  }
  return *number != -1 || PyErr_Occurred() == NULL;
}

static bool take_numbers(op_call *c, PyObject *value, bool floats, nd4c_attr_value *attr) {
  if (value == Py_None) {
    attr->count = 0;
    attr->as.ints = NULL;
    return true;
  }
  PyObject *list = PyTuple_CheckExact(value) ? value : PySequence_Tuple(value);
  if (list == NULL) {
    return false;
  }
  Py_ssize_t count = PyTuple_Size(list);
  void *room = call_room(c, count);
  bool done = room != NULL;
  for (Py_ssize_t i = 0; done && i < count; i++) {
    PyObject *item = PyTuple_GetItem(list, i);
    if (floats) {
      ((double *)room)[i] = PyFloat_AsDouble(item);
      done = PyErr_Occurred() == NULL;
    } else {
      done = take_integer(item, (int64_t *)room + i);
    }
  }
  if (list != value) {
    Py_DECREF(list);
  }
  attr->count = (int32_t)count;
  attr->as.ints = room;
  return done;
}

static bool take_text(op_call *c, PyObject *value, nd4c_attr_value *attr) {
  if (value == Py_None) {
    attr->as.string = NULL;
    return true;
  }
  PyObject *bytes = PyUnicode_Check(value) ? PyUnicode_AsUTF8String(value) : value;
  if (bytes == NULL || !PyBytes_Check(bytes)) {
    PyErr_SetNone(PyExc_TypeError); /* take_attrs replaces it by a detailed one */
    return false;
  }
  if (bytes != value) {
    c->kept[c->kept_count++] = bytes;
  }
  attr->as.string = PyBytes_AsString(bytes);
  return true;
}

static bool take_attr(op_call *c, PyObject *value, const nd4c_op_attr *schema, nd4c_attr_value *attr) {
  attr->kind = schema->preset.kind;
  attr->count = 0;
  switch (attr->kind) {
    case ND4C_ATTR_INT:
    case ND4C_ATTR_DTYPE:
      return take_integer(value, &attr->as.i);
    case ND4C_ATTR_BOOL: {
      int truth = PyObject_IsTrue(value);
      attr->as.i = truth;
      return truth >= 0;
    }
    case ND4C_ATTR_FLOAT:
      attr->as.f = PyFloat_AsDouble(value);
      return attr->as.f != -1.0 || PyErr_Occurred() == NULL;
    case ND4C_ATTR_INTS:
      return take_numbers(c, value, false, attr);
    case ND4C_ATTR_FLOATS:
      return take_numbers(c, value, true, attr);
    case ND4C_ATTR_STRING:
      return take_text(c, value, attr);
    default:
      PyErr_SetNone(PyExc_TypeError);
      return false;
  }
}

static const char *const expected[] = {
    [ND4C_ATTR_UNSET] = "a value of a kind that Python lacks",
    [ND4C_ATTR_INT] = "an integer",
    [ND4C_ATTR_BOOL] = "True or False",
    [ND4C_ATTR_FLOAT] = "a number",
    [ND4C_ATTR_INTS] = "a tuple of integers",
    [ND4C_ATTR_FLOATS] = "numbers",
    [ND4C_ATTR_DTYPE] = "a dtype",
    [ND4C_ATTR_STRING] = "text",
};

static const char *expected_of(uint32_t kind) {
  bool known = kind < sizeof expected / sizeof *expected && expected[kind] != NULL;
  return expected[known ? kind : ND4C_ATTR_UNSET];
}

static bool take_attrs(op_call *c, PyObject *const *values) {
  const nd4c_op_info *info = c->plan->info;
  for (int32_t i = 0; i < info->attr_count; i++) {
    if (!take_attr(c, values[i], &info->attrs[i], &c->attrs[i])) {
      if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_OverflowError, "%s: %s: %R does not fit 64 bits", info->name, info->attrs[i].name,
                     values[i]);
      } else if (PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError, "%s: %s: expected %s, got %R", info->name, info->attrs[i].name,
                     expected_of(info->attrs[i].preset.kind), values[i]);
      }
      return false;
    }
  }
  return true;
}

/* -- calling ------------------------------------------------------------------------------------------------------ */

static bool lets_others_run(const op_call *c) {
  int64_t limit = c->plan->elementwise ? NATIVE_LONG : NATIVE_SHORT;
  for (int32_t i = 0; i < c->input_count; i++) {
    if (c->inputs[i] != NULL && lib.array_size(c->inputs[i]) > limit) {
      return true;
    }
  }
  return c->input_count == 0;
}

static nd4c_status run(const op_call *c, nd4c_array **outputs) {
  const nd4c_op_info *info = c->plan->info;
  const nd4c_attr_value *attrs = info->attr_count > 0 ? c->attrs : NULL;
  if (!lets_others_run(c)) {
    return lib.op_call_positional(NULL, info->op, c->inputs, c->input_count, attrs, outputs);
  }
  PyThreadState *state = PyEval_SaveThread();
  nd4c_status status = lib.op_call_positional(NULL, info->op, c->inputs, c->input_count, attrs, outputs);
  PyEval_RestoreThread(state);
  return status;
}

static PyObject *wrap_outputs(nd4c_array **outputs, int32_t count) {
  if (count == 1) {
    return native_array_wrap(outputs[0]);
  }
  PyObject *tuple = PyTuple_New(count);
  for (int32_t i = 0; i < count; i++) {
    PyObject *array = tuple != NULL ? native_array_wrap(outputs[i]) : NULL;
    if (tuple == NULL) {
      lib.array_release(outputs[i]);
    } else if (array == NULL) {
      Py_CLEAR(tuple);
    } else {
      PyTuple_SetItem(tuple, i, array);
    }
  }
  return tuple;
}

/* The arrays that the op writes into, one or a tuple of as many as it has results. None: it makes new ones. */
static bool take_outputs(const nd4c_op_info *info, PyObject *out, nd4c_array **outputs) {
  if (out == Py_None) {
    return true;
  }
  if (is_array(out) && info->output_count == 1) {
    outputs[0] = handle_of(out);
    return true;
  }
  bool right = PyTuple_CheckExact(out) && PyTuple_Size(out) == info->output_count;
  for (int32_t i = 0; right && i < info->output_count; i++) {
    PyObject *array = PyTuple_GetItem(out, i);
    right = is_array(array);
    outputs[i] = right ? handle_of(array) : NULL;
  }
  if (!right) {
    PyErr_Format(PyExc_TypeError, "%s: out: expected %s, got %R", info->name,
                 info->output_count == 1 ? "an nd4c.Array" : "a tuple with an nd4c.Array for each result", out);
  }
  return right;
}

/* Whether an input, or an array of the list that is the last input, is a value of a graph. */
static bool takes_symbol(const nd4c_op_info *info, PyObject *const *values) {
  if (registry.symbol == NULL) {
    return false;
  }
  PyTypeObject *symbol = (PyTypeObject *)registry.symbol;
  bool found = false;
  for (int32_t i = 0; i < info->input_count && !found; i++) {
    PyObject *value = values[i];
    found = Py_TYPE(value) == symbol;
    const bool list = info->inputs[i].variadic && PyList_CheckExact(value);
    const bool tuple = info->inputs[i].variadic && PyTuple_CheckExact(value);
    const Py_ssize_t count = list ? PyList_Size(value) : tuple ? PyTuple_Size(value) : 0;
    for (Py_ssize_t j = 0; j < count && !found; j++) {
      found = Py_TYPE(list ? PyList_GetItem(value, j) : PyTuple_GetItem(value, j)) == symbol;
    }
  }
  return found;
}

/* Has the package record the op as a node. */
static PyObject *record(const nd4c_op_info *info, PyObject *const *values, Py_ssize_t count) {
  PyObject *tuple = PyTuple_New(count), *result = NULL;
  for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
    Py_INCREF(values[i]);
    PyTuple_SetItem(tuple, i, values[i]);
  }
  if (tuple != NULL) {
    result = PyObject_CallFunction(registry.recorded, "kO", (unsigned long)info->op, tuple);
  }
  Py_XDECREF(tuple);
  return result;
}

static PyObject *call(PyObject *capsule, PyObject *const *values, Py_ssize_t count) {
  op_call c;
  nd4c_array *outputs[MOST_OUTPUTS] = {NULL};
  c.plan = PyCapsule_GetPointer(capsule, capsule_name);
  const nd4c_op_info *info = c.plan->info;
  const Py_ssize_t taken = info->input_count + info->attr_count;
  if (count != taken && count != taken + 1) {
    PyErr_Format(PyExc_TypeError, "%s: expected %zd arguments, got %zd", info->name, taken, count);
    return NULL;
  }
  if (takes_symbol(info, values)) {
    return record(info, values, count);
  }
  PyObject *out = count > taken ? values[taken] : Py_None;
  c.values = values;
  c.inputs = c.inline_inputs;
  c.operand_count = c.kept_count = c.number_count = c.block_count = 0;
  bool ready = take_outputs(info, out, outputs) && take_inputs(&c) && take_attrs(&c, values + info->input_count);
  nd4c_status status = ready ? run(&c, outputs) : ND4C_OK;
  call_clear(&c);
  if (!ready) {
    return NULL;
  }
  if (status == ND4C_OK && out != Py_None) {
    Py_INCREF(out);
    return out;
  }
  if (status == ND4C_OK) {
    return wrap_outputs(outputs, info->output_count);
  }
  bool pair = info->input_count == 2 && info->attr_count == 0 && info->output_count == 1 && out == Py_None;
  return pair ? native_fail_mixed(status, info->op, values[0], values[1]) : native_fail(status);
}

/* One array or two and nothing else, as most ops have it: without the room that arguments of other kinds need. */
static PyObject *call_plain(PyObject *capsule, PyObject *const *values, Py_ssize_t count) {
  const op_plan *plan = PyCapsule_GetPointer(capsule, capsule_name);
  const nd4c_array *inputs[2] = {NULL};
  if (count != plan->info->input_count) {
    return call(capsule, values, count);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!is_array(values[i])) {
      return call(capsule, values, count);
    }
    inputs[i] = handle_of(values[i]);
  }
  op_call c;
  c.plan = plan;
  c.inputs = inputs;
  c.input_count = (int32_t)count;
  nd4c_array *out = NULL;
  nd4c_status status = run(&c, &out);
  return status == ND4C_OK ? native_array_wrap(out)
                           : native_fail_mixed(status, plan->info->op, values[0], count > 1 ? values[1] : NULL);
}

/* -- callables ---------------------------------------------------------------------------------------------------- */

static bool is_elementwise(const nd4c_op_info *info) {
  switch (info->category) {
    case ND4C_CATEGORY_UNARY:
    case ND4C_CATEGORY_BINARY:
    case ND4C_CATEGORY_TERNARY:
    case ND4C_CATEGORY_REDUCTION:
    case ND4C_CATEGORY_SHAPE:
      return true;
    default:
      return false;
  }
}

static void free_plan(PyObject *capsule) {
  free(PyCapsule_GetPointer(capsule, capsule_name));
}

static bool fits(const nd4c_op_info *info) {
  return info->attr_count <= MOST_ATTRS && info->output_count <= MOST_OUTPUTS && info->input_count <= INLINE_ARRAYS;
}

PyObject *native_function(PyObject *module, PyObject *number) {
  (void)module;
  unsigned long op = PyLong_AsUnsignedLong(number);
  const nd4c_op_info *info = PyErr_Occurred() == NULL ? lib.op_get((nd4c_op)op) : NULL;
  if (info == NULL || !fits(info)) {
    if (PyErr_Occurred() == NULL) {
      PyErr_Format(PyExc_ValueError, "nd4c: no op of number %R", number);
    }
    return NULL;
  }
  op_plan *plan = calloc(1, sizeof *plan);
  if (plan == NULL) {
    return PyErr_NoMemory();
  }
  const int32_t inputs = info->input_count;
  bool plain = (inputs == 1 || inputs == 2) && !info->inputs[inputs - 1].variadic && info->attr_count == 0 &&
               info->output_count == 1;
  plan->info = info;
  plan->elementwise = is_elementwise(info);
  plan->method.ml_name = info->name;
  plan->method.ml_meth = plain ? NATIVE_METHOD(call_plain) : NATIVE_METHOD(call);
  plan->method.ml_flags = METH_FASTCALL;
  plan->method.ml_doc = info->doc;
  PyObject *capsule = PyCapsule_New(plan, capsule_name, free_plan);
  if (capsule == NULL) {
    free(plan);
    return NULL;
  }
  PyObject *function = PyCFunction_NewEx(&plan->method, capsule, NULL);
  Py_DECREF(capsule);
  return function;
}
