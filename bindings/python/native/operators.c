/* The operators of an Array, each one call of an op. Python calls these through the number slots of the type Array
 * (array.c). */
#include "native.h"

static inline nd4c_status call_op(nd4c_op op, const nd4c_array *a, const nd4c_array *b, nd4c_array **out) {
  const nd4c_array *inputs[2] = {a, b};
  int32_t count = b != NULL ? 2 : 1;
  int64_t limit = op == ND4C_OP_matmul ? NATIVE_SHORT : NATIVE_LONG;
  if (lib.array_size(a) <= limit && (b == NULL || lib.array_size(b) <= limit)) {
    return lib.op_call_positional(NULL, op, inputs, count, NULL, out);
  }
  PyThreadState *state = PyEval_SaveThread();
  nd4c_status status = lib.op_call_positional(NULL, op, inputs, count, NULL, out);
  PyEval_RestoreThread(state);
  return status;
}

static inline PyObject *binary_result(nd4c_status status, nd4c_op op, PyObject *a, PyObject *b, nd4c_array *out) {
  return status == ND4C_OK ? native_array_wrap(out) : native_fail_mixed(status, op, a, b);
}

/* An operand that is neither an array nor a number: the package makes an array of it and computes, returns
 * NotImplemented, so that Python asks the operand's class, or raises an error that says what to do. */
static PyObject *unmixed(nd4c_op op, PyObject *a, PyObject *b) {
  return PyObject_CallFunction(registry.unmixed, "iOO", (int)op, a, b);
}

/* Ops on integers refuse nothing beside uint64, although signed integers share float64 with it: the package refuses. */
static inline bool is_torn(nd4c_op op, PyObject *a, PyObject *b) {
  bool integers = op == ND4C_OP_bitwise_and || op == ND4C_OP_bitwise_or || op == ND4C_OP_bitwise_xor ||
                  op == ND4C_OP_bitwise_left_shift || op == ND4C_OP_bitwise_right_shift;
  if (!integers) {
    return false;
  }
  const nd4c_dtype one = lib.array_dtype(handle_of(a)), other = lib.array_dtype(handle_of(b));
  return one != other && (one == ND4C_UINT64 || other == ND4C_UINT64);
}

/* A quotient of integers is a float, so that a Python integer beyond the array's dtype may divide it: the package
 * computes that. */
static bool is_beyond_in_quotient(nd4c_op op) {
  if (op != ND4C_OP_true_divide || !PyErr_ExceptionMatches(PyExc_OverflowError)) {
    return false;
  }
  PyErr_Clear();
  return true;
}

static inline PyObject *binary(nd4c_op op, PyObject *a, PyObject *b) {
  nd4c_array *out = NULL;
  if (is_array(a) && is_array(b)) {
    if (is_torn(op, a, b)) {
      return unmixed(op, a, b);
    }
    nd4c_status status = call_op(op, handle_of(a), handle_of(b), &out);
    return binary_result(status, op, a, b, out);
  }
  bool forward = is_array(a);
  PyObject *array = forward ? a : b;
  native_operand other;
  native_state state = native_operand_lend(forward ? b : a, handle_of(array), &other);
  if (state != NATIVE_READY) {
    return state == NATIVE_REFUSED || is_beyond_in_quotient(op) ? unmixed(op, a, b) : NULL;
  }
  nd4c_status status =
      forward ? call_op(op, handle_of(a), other.handle, &out) : call_op(op, other.handle, handle_of(b), &out);
  native_operand_drop(&other);
  return binary_result(status, op, a, b, out);
}

/* Where the op cannot write into the array as it is, the package computes by NumPy's rules. */
/* An array without axes is what NumPy has scalars for: `best = loss; loss *= 2` leaves best alone, so that the operator
 * gives a new array. */
static inline PyObject *in_place(nd4c_op op, PyObject *self, PyObject *value) {
  native_operand other;
  if (lib.array_rank(handle_of(self)) == 0) {
    return binary(op, self, value);
  }
  native_state state = native_operand_lend(value, handle_of(self), &other);
  if (state == NATIVE_FAILED && !is_beyond_in_quotient(op)) {
    return NULL;
  }
  if (state == NATIVE_READY) {
    nd4c_array *out = handle_of(self);
    nd4c_status status = call_op(op, out, other.handle, &out);
    native_operand_drop(&other);
    if (status == ND4C_OK) {
      Py_INCREF(self);
      return self;
    }
    if (status != ND4C_DTYPE) {
      return native_fail(status);
    }
  }
  return PyObject_CallFunction(registry.in_place, "iOO", (int)op, self, value);
}

/* -- slots -------------------------------------------------------------------------------------------------------- */

/* X(slot, slot in place, op) */
#define BINARY_OPERATORS(X)                                 \
  X(nb_add, nb_inplace_add, add)                            \
  X(nb_subtract, nb_inplace_subtract, subtract)             \
  X(nb_multiply, nb_inplace_multiply, multiply)             \
  X(nb_true_divide, nb_inplace_true_divide, true_divide)    \
  X(nb_floor_divide, nb_inplace_floor_divide, floor_divide) \
  X(nb_remainder, nb_inplace_remainder, remainder)          \
  X(nb_matrix_multiply, nb_inplace_matrix_multiply, matmul) \
  X(nb_and, nb_inplace_and, bitwise_and)                    \
  X(nb_or, nb_inplace_or, bitwise_or)                       \
  X(nb_xor, nb_inplace_xor, bitwise_xor)                    \
  X(nb_lshift, nb_inplace_lshift, bitwise_left_shift)       \
  X(nb_rshift, nb_inplace_rshift, bitwise_right_shift)
#define UNARY_OPERATORS(X) \
  X(nb_negative, negative) \
  X(nb_positive, positive) \
  X(nb_absolute, abs)      \
  X(nb_invert, bitwise_invert)

#define DEFINE_BINARY(slot, slot_in_place, op)                  \
  static PyObject *do_##op(PyObject *a, PyObject *b) {          \
    return binary(ND4C_OP_##op, a, b);                          \
  }                                                             \
  static PyObject *do_in_place_##op(PyObject *a, PyObject *b) { \
    return in_place(ND4C_OP_##op, a, b);                        \
  }
BINARY_OPERATORS(DEFINE_BINARY)

#define DEFINE_UNARY(slot, op)                                            \
  static PyObject *do_##op(PyObject *a) {                                 \
    nd4c_array *out = NULL;                                               \
    nd4c_status status = call_op(ND4C_OP_##op, handle_of(a), NULL, &out); \
    return binary_result(status, ND4C_OP_##op, a, NULL, out);             \
  }
UNARY_OPERATORS(DEFINE_UNARY)

static bool is_integer(PyObject *value) {
  const nd4c_dtype_info *info = is_array(value) ? lib.dtype_get_info(lib.array_dtype(handle_of(value))) : NULL;
  return info != NULL ? info->kind == ND4C_KIND_INT || info->kind == ND4C_KIND_UINT : PyLong_Check(value);
}

/* Whether an integer to the power of b may be one to a negative power, which the op rounds to 0 and the package
 * refuses. */
static bool may_invert(PyObject *a, PyObject *b) {
  if (!is_integer(a) || !is_integer(b)) {
    return false;
  }
  int overflow = 0;
  return is_array(b) ? lib.dtype_get_info(lib.array_dtype(handle_of(b)))->kind == ND4C_KIND_INT
                     : PyLong_AsLongLongAndOverflow(b, &overflow) < 0;
}

static PyObject *do_power(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  return may_invert(a, b) ? unmixed(ND4C_OP_power, a, b) : binary(ND4C_OP_power, a, b);
}

static PyObject *do_in_place_power(PyObject *a, PyObject *b, PyObject *modulus) {
  if (modulus != Py_None) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  if (lib.array_rank(handle_of(a)) == 0) {
    return do_power(a, b, modulus);
  }
  return may_invert(a, b) ? PyObject_CallFunction(registry.in_place, "iOO", (int)ND4C_OP_power, a, b)
                          : in_place(ND4C_OP_power, a, b);
}

static PyObject *compare(PyObject *a, PyObject *b, int operation) {
  static const nd4c_op ops[] = {
      [Py_LT] = ND4C_OP_less,      [Py_LE] = ND4C_OP_less_equal, [Py_EQ] = ND4C_OP_equal,
      [Py_NE] = ND4C_OP_not_equal, [Py_GT] = ND4C_OP_greater,    [Py_GE] = ND4C_OP_greater_equal};
  PyObject *result = binary(ops[operation], a, b);
  if (result == NULL && PyErr_ExceptionMatches(PyExc_OverflowError)) { /* a Python integer beyond the dtype's range */
    PyErr_Clear();
    return unmixed(ops[operation], a, b);
  }
  return result;
}

#define BINARY_SLOTS(slot, slot_in_place, op) \
  {Py_##slot, NATIVE_SLOT(do_##op)}, {Py_##slot_in_place, NATIVE_SLOT(do_in_place_##op)},
#define UNARY_SLOTS(slot, op) {Py_##slot, NATIVE_SLOT(do_##op)},

PyType_Slot native_operator_slots[] = {BINARY_OPERATORS(BINARY_SLOTS)
                                           UNARY_OPERATORS(UNARY_SLOTS){Py_nb_power, NATIVE_SLOT(do_power)},
                                       {Py_nb_inplace_power, NATIVE_SLOT(do_in_place_power)},
                                       {Py_nb_bool, NATIVE_SLOT(native_array_bool)},
                                       {Py_nb_int, NATIVE_SLOT(native_array_int)},
                                       {Py_nb_float, NATIVE_SLOT(native_array_float)},
                                       {Py_nb_index, NATIVE_SLOT(native_array_index)},
                                       {Py_tp_richcompare, NATIVE_SLOT(compare)},
                                       {0, NULL}};
