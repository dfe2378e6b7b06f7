/* Python's stable ABI of 3.9, and declarations that are stable since 3.9 but that its headers hide. native.h includes
 * it. */
#ifndef ND4C_PYTHON_PYTHON_H
#define ND4C_PYTHON_PYTHON_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#include <Python.h>
#include <structmember.h>

/* The buffer protocol entered the stable ABI with 3.11, whose headers declare it. The struct has had the same layout
 * since 3.3, the slots of PyType_FromSpec the same numbers since 3.9. 3.9 and 3.10 will not change any more, and from
 * 3.11 on Python promises the layout. METH_FASTCALL is unchanged since 3.7 and promised from 3.10. The extension
 * imports no symbol that 3.9's stable ABI lacks. */
typedef struct python_buffer {
  void *buf;
  PyObject *obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char *format;
  Py_ssize_t *shape;
  Py_ssize_t *strides;
  Py_ssize_t *suboffsets;
  void *internal;
} python_buffer;

enum {
  PYTHON_BUFFER_GET = 1, /* Py_bf_getbuffer */
  PYTHON_BUFFER_RELEASE = 2,
  PYTHON_BUFFER_WRITABLE = 0x0001,
  PYTHON_BUFFER_FORMAT = 0x0004,
  PYTHON_BUFFER_ND = 0x0008,
  PYTHON_BUFFER_STRIDES = 0x0018,
  PYTHON_BUFFER_C_CONTIGUOUS = 0x0038,
  PYTHON_BUFFER_F_CONTIGUOUS = 0x0058,
  PYTHON_BUFFER_ANY_CONTIGUOUS = 0x0098
};

#ifndef METH_FASTCALL
#define METH_FASTCALL 0x0080
#endif

/* A function where Python's tables want void *, or its one type of method: POSIX promises the first, C the second. */
#define NATIVE_SLOT(function) __extension__(void *)(function)
#define NATIVE_METHOD(function) (PyCFunction)(void (*)(void))(function)

#endif
