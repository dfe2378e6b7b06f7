/* The abi3 core of the Python package: the work of nd4c/_ctypes.py in C, over the same public API of the same library.
 * Every .c file of this folder includes it.
 *
 * It is not linked with libnd4c.so: functions come from the library that nd4c/_library.py has opened; dtypes, devices
 * and exceptions are Python objects that nd4c/_dtypes.py, _devices.py and _errors.py made. One array is one Python
 * object that holds one reference to one nd4c_array. The GIL protects the static variables. */
#ifndef ND4C_PYTHON_NATIVE_H
#define ND4C_PYTHON_NATIVE_H

#include <stdbool.h>

#include "nd4c/dlpack.h"
#include "nd4c/nd4c.h"
#include "python.h"

/* -- the library -------------------------------------------------------------------------------------------------- */

/* All functions of nd4c that the extension calls, with the types of the headers. */
#define NATIVE_SYMBOLS(X) \
  X(array_arange)         \
  X(array_data)           \
  X(array_data_mutable)   \
  X(array_device)         \
  X(array_dtype)          \
  X(array_empty)          \
  X(array_from_data)      \
  X(array_full)           \
  X(array_get)            \
  X(array_is_contiguous)  \
  X(array_is_read_only)   \
  X(array_rank)           \
  X(array_read)           \
  X(array_release)        \
  X(array_scalar)         \
  X(array_set)            \
  X(array_shape)          \
  X(array_size)           \
  X(array_strides)        \
  X(array_to_dlpack)      \
  X(array_wrap)           \
  X(array_zeros)          \
  X(config_get)           \
  X(context_current)      \
  X(context_device)       \
  X(device_get_info)      \
  X(dtype_bytes)          \
  X(dtype_get_info)       \
  X(dtype_size)           \
  X(op_call_positional)   \
  X(op_get)               \
  X(plan_run)

typedef struct native_library {
#define NATIVE_FIELD(name) __typeof__(&nd4c_##name) name;
  NATIVE_SYMBOLS(NATIVE_FIELD)
#undef NATIVE_FIELD
} native_library;

extern native_library lib;

/* -- objects from the package ------------------------------------------------------------------------------------- */

enum { NATIVE_DTYPES = 64 };

/* Kinds of Python numbers. */
typedef enum native_kind { NATIVE_BOOL, NATIVE_INT, NATIVE_FLOAT, NATIVE_COMPLEX, NATIVE_KINDS } native_kind;

typedef struct native_registry {
  PyObject *dtypes[NATIVE_DTYPES];              /* by number; NULL where there is none */
  nd4c_dtype weak[NATIVE_KINDS][NATIVE_DTYPES]; /* dtype of a number beside an array of a dtype; 0: refused */
  PyObject *raise_error, *devices, *asarray, *item, *mixed, *unmixed, *in_place, *assigned; /* callables */
  PyObject *names;                      /* dict: a dtype's name or type -> its number */
  PyObject *symbol, *recorded, *picked; /* the class of a graph's values, and what records an op on them, and an
                                         * index by them; NULL: no graphs yet */
} native_registry;

extern native_registry registry;

/* Reads nd4c._library, _dtypes and _errors; false with an exception set. */
bool native_connect(void);
/* register(**objects): takes the objects that the package makes later. */
PyObject *native_register(PyObject *module, PyObject *args, PyObject *objects);

/* Raises the package's exception for the calling thread's last failure. Returns NULL. */
PyObject *native_fail(nd4c_status status);
/* The same after an op on one operand (b is NULL) or two, unless NumPy computes it for these dtypes: then returns the
 * result that the package computes. */
PyObject *native_fail_mixed(nd4c_status status, nd4c_op op, PyObject *a, PyObject *b);

/* -- arrays ------------------------------------------------------------------------------------------------------- */

typedef struct native_array {
  PyObject_HEAD nd4c_array *handle;
  PyObject *weak_references;
} native_array;

/* capsule(address, versioned): a DLPack capsule. */
PyObject *native_capsule(PyObject *module, PyObject *const *args, Py_ssize_t count);

extern PyTypeObject *native_array_type;
bool native_array_type_make(void);

static inline bool is_array(PyObject *object) {
  return Py_TYPE(object) == native_array_type;
}

static inline nd4c_array *handle_of(PyObject *array) {
  return ((native_array *)array)->handle;
}

/* A Python object for a handle, whose reference it takes over, also where it fails. */
PyObject *native_array_wrap(nd4c_array *handle);
/* The same after a call: raises unless the status is OK. */
static inline PyObject *native_array_result(nd4c_status status, nd4c_array *handle) {
  return status == ND4C_OK ? native_array_wrap(handle) : native_fail(status);
}

extern PyGetSetDef native_array_getset[];
extern PyType_Slot native_operator_slots[];
PyObject *native_array_getitem(PyObject *self, PyObject *key);
int native_array_setitem(PyObject *self, PyObject *key, PyObject *value);
PyObject *native_array_element(PyObject *self, Py_ssize_t index);
int native_buffer_get(PyObject *self, python_buffer *view, int flags);
void native_buffer_release(PyObject *self, python_buffer *view);

/* -- values ------------------------------------------------------------------------------------------------------- */

/* Calls on arrays of more elements release the GIL. Ops that do much work for an element have the lower limit. */
enum { NATIVE_LONG = 4096, NATIVE_SHORT = 256 };

static inline bool is_long(const nd4c_array *array) {
  return lib.array_size(array) > NATIVE_LONG;
}

/* The other operand of an op on an array: an array, a Python number, or a scalar of another library. */
typedef struct native_operand {
  nd4c_array *handle;
  nd4c_array *made; /* array made from a number, released by native_operand_drop */
  PyObject *object; /* object made by the package, released by native_operand_drop */
} native_operand;

typedef enum native_state { NATIVE_FAILED, NATIVE_REFUSED, NATIVE_READY } native_state;

/* The operand in the dtype and on the device of `beside`. FAILED: an exception is set; REFUSED: `value` is none of the
 * kinds above. */
native_state native_operand_take(PyObject *value, const nd4c_array *beside, native_operand *operand);
/* The same for one call that begins at once, keeps the GIL and is done when it returns: then a number uses a shared
 * array of its dtype. */
native_state native_operand_lend(PyObject *value, const nd4c_array *beside, native_operand *operand);
void native_operand_drop(native_operand *operand);
/* The 0-d array of a Python number on a device (NULL: the context decides); NULL with an exception set. */
nd4c_array *native_number_array(PyObject *number, native_kind kind, nd4c_dtype dtype, nd4c_device *device);

/* Whether a device is the host, on which a call is done when it returns. */
bool native_is_host(const nd4c_device *device);

/* The address of the elements of an array that are on the host and in C order; NULL without an exception for all other
 * arrays, and where reading fails: the library then meets the failure again, and reports it. */
const void *native_plain_data(const nd4c_array *array);

/* An array over the memory of a numpy.ndarray; NULL without an exception for all other objects and layouts. */
PyObject *native_from_numpy(PyObject *object);
/* Lists of Python's numbers of a contiguous array with axes; NULL without an exception if Python has no such number. */
PyObject *native_nested_lists(const nd4c_array *array, const void *data);

/* The first element as a Python object. */
PyObject *native_array_value(PyObject *self);

Py_hash_t native_array_hash(PyObject *self);
int native_array_bool(PyObject *self);
PyObject *native_array_int(PyObject *self);
PyObject *native_array_float(PyObject *self);
PyObject *native_array_index(PyObject *self);
PyObject *native_array_complex(PyObject *self, PyObject *unused);

/* -- functions of the module -------------------------------------------------------------------------------------- */

PyObject *native_function(PyObject *module, PyObject *number);
PyObject *native_call_key(PyObject *module, PyObject *arguments);
PyObject *native_run_plan(PyObject *module, PyObject *const *args, Py_ssize_t count);
/* The text of a property, or the status of the failure. */
PyObject *native_config_value(PyObject *module, PyObject *name);
PyObject *native_fast_function(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_fast_method(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_from_nested(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *native_reinterpret(PyObject *module, PyObject *const *args, Py_ssize_t count);
/* The number of a DType object; NONE for all other objects. */
nd4c_dtype native_dtype_find(PyObject *object);
/* The same; false, with TypeError, for all other objects. */
bool native_dtype_number(PyObject *object, nd4c_dtype *dtype);
extern PyMethodDef native_creation_methods[];

#endif
