/* Python numbers as arrays of no axes, and back. operators.c, calls.c and index.c convert operands with these; Python
 * calls the conversions of an Array through its slots. */
#include <string.h>

#include "native.h"

/* -- numbers into arrays ------------------------------------------------------------------------------------------ */

/* Element bytes of an integer; false, with OverflowError, if the dtype has no room for it. */
static bool pack_integer(PyObject *number, const nd4c_dtype_info *info, void *cell) {
  if (info->kind == ND4C_KIND_UINT) {
    unsigned long long value = PyLong_AsUnsignedLongLong(number);
    bool fits = PyErr_Occurred() == NULL && (info->bits == 64 || value >> info->bits == 0);
    memcpy(cell, &value, sizeof value);
    return fits;
  }
  long long value = PyLong_AsLongLong(number);
  long long highest = info->bits == 64 ? INT64_MAX : (INT64_C(1) << (info->bits - 1)) - 1;
  memcpy(cell, &value, sizeof value);
  return PyErr_Occurred() == NULL && value <= highest && value >= -highest - 1;
}

static bool take_integer(PyObject *number, const nd4c_dtype_info *info, void *cell) {
  if (pack_integer(number, info, cell)) {
    return true;
  }
  if (PyErr_Occurred() == NULL || PyErr_ExceptionMatches(PyExc_OverflowError)) {
    PyErr_Clear();
    PyErr_Format(PyExc_OverflowError, "Python integer %R out of bounds for %s", number, info->name);
  }
  return false;
}

enum { CELL_SIZE = 16 };
typedef enum packing { PACK_FAILED, PACK_UNKNOWN, PACKED } packing;

static packing pack_complex(PyObject *number, nd4c_dtype dtype, void *cell) {
  double parts[2] = {PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)};
  float narrow[2] = {(float)parts[0], (float)parts[1]};
  if (dtype == ND4C_COMPLEX64) {
    memcpy(cell, narrow, sizeof narrow);
  } else {
    memcpy(cell, parts, sizeof parts);
  }
  return PyErr_Occurred() == NULL ? PACKED : PACK_FAILED;
}

static packing pack_real(double value, nd4c_dtype dtype, void *cell) {
  float narrow = (float)value;
  if (dtype == ND4C_FLOAT64) {
    memcpy(cell, &value, sizeof value);
  } else if (dtype == ND4C_FLOAT32) {
    memcpy(cell, &narrow, sizeof narrow);
  } else if (dtype == ND4C_BOOL) {
    *(bool *)cell = value != 0;
  } else {
    return PACK_UNKNOWN;
  }
  return PACKED;
}

/* The bytes of an element. The lowest come first on every processor that nd4c is built for. UNKNOWN: C must round. */
static packing pack_number(PyObject *number, native_kind kind, nd4c_dtype dtype, void *cell, double *value) {
  const nd4c_dtype_info *info = lib.dtype_get_info(dtype);
  if (info->kind == ND4C_KIND_COMPLEX) {
    return pack_complex(number, dtype, cell);
  }
  if ((info->kind == ND4C_KIND_INT || info->kind == ND4C_KIND_UINT) && info->bits >= 8 && kind != NATIVE_FLOAT) {
    return take_integer(number, info, cell) ? PACKED : PACK_FAILED;
  }
  *value = PyFloat_AsDouble(number);
  if (*value == -1.0 && PyErr_Occurred() != NULL) {
    return PACK_FAILED;
  }
  return pack_real(*value, dtype, cell);
}

nd4c_array *native_number_array(PyObject *number, native_kind kind, nd4c_dtype dtype, nd4c_device *device) {
  int64_t cell[CELL_SIZE / sizeof(int64_t)];
  nd4c_array *array = NULL;
  double value = 0;
  packing packed = pack_number(number, kind, dtype, cell, &value);
  if (packed == PACK_FAILED) {
    return NULL;
  }
  nd4c_status status = packed == PACKED ? lib.array_from_data(dtype, 0, NULL, cell, device, &array)
                                        : lib.array_scalar(dtype, value, device, &array);
  if (status != ND4C_OK) {
    native_fail(status);
  }
  return array;
}

/* -- one shared array for each dtype, lent to calls --------------------------------------------------------------- */

typedef struct lent_array {
  nd4c_array *array;
  void *cell;
} lent_array;

/* The host's device, on which a call is done when it returns; NULL until it is known. */
static const nd4c_device *plain_device;

bool native_is_host(const nd4c_device *device) {
  nd4c_device_info info = {.struct_size = sizeof info};
  if (device != NULL && device == plain_device) {
    return true;
  }
  if (device == NULL || lib.device_get_info(device, &info) != ND4C_OK || info.type != ND4C_DEVICE_CPU ||
      info.index != 0 || !info.host_readable || info.asynchronous) {
    return false;
  }
  plain_device = device;
  return true;
}

const void *native_plain_data(const nd4c_array *array) {
  const void *data = NULL;
  return lib.array_is_contiguous(array) && native_is_host(lib.array_device(array)) &&
                 lib.array_data(array, &data) == ND4C_OK
             ? data
             : NULL;
}

/* The dtype's shared array of no axes; NULL if it cannot be made: the caller then makes a new array. The cells are
 * static: memory from nd4c would belong to the thread's current workspace, which a lasting array would keep open. */
static lent_array *lend(nd4c_dtype dtype) {
  static lent_array lent[NATIVE_DTYPES];
  static int64_t cells[NATIVE_DTYPES][CELL_SIZE / sizeof(int64_t)];
  lent_array *l = &lent[dtype];
  if (l->array == NULL && lib.array_wrap(dtype, 0, NULL, NULL, cells[dtype], false, NULL, NULL, &l->array) != ND4C_OK) {
    return NULL;
  }
  /* Asked on each call: routing may have sent the previous call to another device, whose copy is stale now. */
  return lib.array_data_mutable(l->array, &l->cell) == ND4C_OK ? l : NULL;
}

/* Which kind of number an object is: exactly one, or derived from one. */
static bool kind_of(PyObject *value, bool derived, native_kind *kind) {
  PyTypeObject *const types[NATIVE_KINDS] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
  for (int i = 0; i < NATIVE_KINDS; i++) {
    if (derived ? PyType_IsSubtype(Py_TYPE(value), types[i]) : Py_TYPE(value) == types[i]) {
      *kind = (native_kind)i;
      return true;
    }
  }
  return false;
}

/* A 0-d array or a scalar of another library. */
static bool is_foreign_scalar(PyObject *value) {
  PyObject *ndim = PyObject_GetAttrString(value, "ndim");
  bool scalar =
      ndim != NULL && PyLong_Check(ndim) && PyLong_AsLong(ndim) == 0 && PyObject_HasAttrString(value, "dtype");
  Py_XDECREF(ndim);
  PyErr_Clear();
  return scalar;
}

static native_state take_number(PyObject *value, native_kind kind, const nd4c_array *beside, native_operand *operand) {
  static const char *const names[NATIVE_KINDS] = {"bool", "int", "float", "complex"};
  nd4c_dtype dtype = lib.array_dtype(beside), becomes = registry.weak[kind][dtype];
  if (becomes == 0) {
    PyErr_Format(PyExc_TypeError, "a Python %s does not mix with an array of %s", names[kind],
                 lib.dtype_get_info(dtype)->name);
    return NATIVE_FAILED;
  }
  /* The device is named because routing may otherwise choose another device than the context's. */
  operand->handle = operand->made = native_number_array(value, kind, becomes, lib.array_device(beside));
  return operand->made != NULL ? NATIVE_READY : NATIVE_FAILED;
}

static native_state take_foreign(PyObject *value, native_operand *operand) {
  operand->object = PyObject_CallFunctionObjArgs(registry.asarray, value, NULL);
  if (operand->object == NULL || !is_array(operand->object)) {
    native_state state = operand->object == NULL ? NATIVE_FAILED : NATIVE_REFUSED;
    native_operand_drop(operand);
    return state;
  }
  operand->handle = handle_of(operand->object);
  return NATIVE_READY;
}

native_state native_operand_take(PyObject *value, const nd4c_array *beside, native_operand *operand) {
  native_kind kind;
  *operand = (native_operand){NULL, NULL, NULL};
  if (is_array(value)) {
    operand->handle = handle_of(value);
    return NATIVE_READY;
  }
  if (kind_of(value, false, &kind)) {
    return take_number(value, kind, beside, operand);
  }
  if (is_foreign_scalar(value)) {
    return take_foreign(value, operand);
  }
  return kind_of(value, true, &kind) ? take_number(value, kind, beside, operand) : NATIVE_REFUSED;
}

native_state native_operand_lend(PyObject *value, const nd4c_array *beside, native_operand *operand) {
  native_kind kind;
  nd4c_dtype dtype = lib.array_dtype(beside);
  double real = 0;
  if (!kind_of(value, false, &kind) || lib.array_size(beside) > NATIVE_SHORT || registry.weak[kind][dtype] == 0 ||
      !native_is_host(lib.context_device(lib.context_current())) || lib.array_device(beside) != plain_device) {
    return native_operand_take(value, beside, operand);
  }
  lent_array *l = lend(registry.weak[kind][dtype]);
  packing packed = l != NULL ? pack_number(value, kind, registry.weak[kind][dtype], l->cell, &real) : PACK_UNKNOWN;
  if (packed == PACK_UNKNOWN) {
    return native_operand_take(value, beside, operand);
  }
  *operand = (native_operand){packed == PACKED ? l->array : NULL, NULL, NULL};
  return packed == PACKED ? NATIVE_READY : NATIVE_FAILED;
}

void native_operand_drop(native_operand *operand) {
  if (operand->made != NULL) {
    lib.array_release(operand->made);
  }
  Py_CLEAR(operand->object);
  operand->made = NULL;
}

/* -- arrays into numbers ------------------------------------------------------------------------------------------ */

typedef union cell {
  bool truth;
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  uint8_t u8;
  uint16_t u16;
  uint32_t u32;
  uint64_t u64;
  float f32, c64[2];
  double f64, c128[2];
} cell;

/* The package converts values that have no C type. */
PyObject *native_array_value(PyObject *self) {
  nd4c_array *array = handle_of(self);
  nd4c_dtype dtype = lib.array_dtype(array);
  cell c;
  if (dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16 || dtype > ND4C_COMPLEX128) {
    return PyObject_CallFunctionObjArgs(registry.item, self, NULL);
  }
  nd4c_status status = lib.array_read(array, &c, (size_t)lib.dtype_size(dtype));
  if (status != ND4C_OK) {
    return native_fail(status);
  }
  switch (dtype) {
    case ND4C_BOOL:
      return PyBool_FromLong(c.truth);
    case ND4C_INT8:
      return PyLong_FromLong(c.i8);
    case ND4C_INT16:
      return PyLong_FromLong(c.i16);
    case ND4C_INT32:
      return PyLong_FromLong(c.i32);
    case ND4C_INT64:
      return PyLong_FromLongLong(c.i64);
    case ND4C_UINT8:
      return PyLong_FromLong(c.u8);
    case ND4C_UINT16:
      return PyLong_FromLong(c.u16);
    case ND4C_UINT32:
      return PyLong_FromLongLong(c.u32);
    case ND4C_UINT64:
      return PyLong_FromUnsignedLongLong(c.u64);
    case ND4C_FLOAT32:
      return PyFloat_FromDouble((double)c.f32);
    case ND4C_FLOAT64:
      return PyFloat_FromDouble(c.f64);
    case ND4C_COMPLEX64:
      return PyComplex_FromDoubles((double)c.c64[0], (double)c.c64[1]);
    default:
      return PyComplex_FromDoubles(c.c128[0], c.c128[1]);
  }
}

/* The only element of an array, which has no axes unless any_rank. Refuses arrays of the kind `refused`, and strings.
 */
static PyObject *scalar_of(PyObject *self, const char *wanted, nd4c_dtype_kind refused, bool any_rank) {
  nd4c_array *array = handle_of(self);
  const nd4c_dtype_info *info = lib.dtype_get_info(lib.array_dtype(array));
  if (lib.array_rank(array) != 0 && !any_rank) {
    PyObject *shape = PyObject_GetAttrString(self, "shape");
    PyErr_Format(PyExc_TypeError, "only arrays of no axes can be converted to a Python %s; this one has the shape %R",
                 wanted, shape);
    Py_XDECREF(shape);
    return NULL;
  }
  if (info->kind == refused || info->kind == ND4C_KIND_STRING) {
    PyErr_Format(PyExc_TypeError, "a %s array cannot be converted to a Python %s", info->name, wanted);
    return NULL;
  }
  return native_array_value(self);
}

/* Of an element, as of NumPy's scalars; arrays with axes have none. */
Py_hash_t native_array_hash(PyObject *self) {
  if (lib.array_rank(handle_of(self)) != 0) {
    return PyObject_HashNotImplemented(self);
  }
  PyObject *value = native_array_value(self);
  Py_hash_t hash = value != NULL ? PyObject_Hash(value) : -1;
  Py_XDECREF(value);
  return hash;
}

int native_array_bool(PyObject *self) {
  int64_t size = lib.array_size(handle_of(self));
  if (size != 1) {
    PyErr_Format(PyExc_ValueError,
                 "the truth value of an array with more or less than one element is ambiguous (this one has %lld); use "
                 "x.any() or x.all()",
                 (long long)size);
    return -1;
  }
  PyObject *value = scalar_of(self, "bool", ND4C_KIND_NONE, true);
  int truth = value != NULL ? PyObject_IsTrue(value) : -1;
  Py_XDECREF(value);
  return truth;
}

PyObject *native_array_int(PyObject *self) {
  PyObject *value = scalar_of(self, "int", ND4C_KIND_COMPLEX, false);
  PyObject *number = value != NULL ? PyNumber_Long(value) : NULL;
  Py_XDECREF(value);
  return number;
}

PyObject *native_array_float(PyObject *self) {
  PyObject *value = scalar_of(self, "float", ND4C_KIND_COMPLEX, false);
  PyObject *number = value != NULL ? PyNumber_Float(value) : NULL;
  Py_XDECREF(value);
  return number;
}

PyObject *native_array_index(PyObject *self) {
  const nd4c_dtype_info *info = lib.dtype_get_info(lib.array_dtype(handle_of(self)));
  if (info->kind != ND4C_KIND_INT && info->kind != ND4C_KIND_UINT) {
    PyErr_Format(PyExc_TypeError, "only integer arrays of one element can be an index, not %s", info->name);
    return NULL;
  }
  return scalar_of(self, "index", ND4C_KIND_COMPLEX, false);
}

PyObject *native_array_complex(PyObject *self, PyObject *unused) {
  (void)unused;
  PyObject *value = scalar_of(self, "complex", ND4C_KIND_NONE, false);
  PyObject *number = value != NULL ? PyObject_CallFunctionObjArgs((PyObject *)&PyComplex_Type, value, NULL) : NULL;
  Py_XDECREF(value);
  return number;
}
