/* Status codes and the error text of the calling thread.
 *
 * Every function that can fail returns an nd4c_status. nd4c never aborts, exits or prints. A function that refuses its
 * arguments changes nothing; the text says what it was given and what it expected. */
#ifndef ND4C_STATUS_H
#define ND4C_STATUS_H

#include <stdint.h>

#include "nd4c/export.h"

ND4C_EXTERN_C_BEGIN

/* X(NAME, number, short text). The hundreds digit is the range: 1 environment, 2 argument, 3 missing software, 4
 * missing hardware, 5 memory, 6 device, 7 internal, 8 stopped at the caller's request. Numbers are never reused. */
#define ND4C_STATUS_TABLE(X)                                               \
  X(OK, 0, "ok")                                                           \
  X(CONFIG, 100, "configuration value refused")                            \
  X(NO_BACKEND, 101, "no usable backend")                                  \
  X(IO, 102, "file could not be read or written")                          \
  X(FORMAT, 103, "file or message is malformed")                           \
  X(STRICT, 104, "strict mode: what was requested cannot be applied")      \
  X(ARGUMENT, 200, "invalid argument")                                     \
  X(NULL_ARGUMENT, 201, "required argument is NULL")                       \
  X(HANDLE, 202, "handle is released or of another kind")                  \
  X(DTYPE, 203, "dtype not accepted")                                      \
  X(SHAPE, 204, "shape not accepted")                                      \
  X(INDEX, 205, "index or axis out of range")                              \
  X(NAME, 206, "name not known")                                           \
  X(OVERFLOW, 207, "size overflows")                                       \
  X(ALIAS, 208, "output overlaps an input in an unsupported way")          \
  X(READ_ONLY, 209, "storage is read-only")                                \
  X(UNSUPPORTED, 210, "not supported")                                     \
  X(LIBRARY, 300, "library could not be loaded")                           \
  X(SYMBOL, 301, "library lacks a symbol")                                 \
  X(ABI, 302, "plug-in ABI does not match")                                \
  X(HARDWARE, 400, "device is not present")                                \
  X(MEMORY, 500, "out of memory")                                          \
  X(MEMORY_CAP, 501, "memory cap exceeded")                                \
  X(DEVICE, 600, "device reported a failure")                              \
  X(POISONED, 601, "array was left without a value by a failed operation") \
  X(DEVICE_LOST, 602, "device was lost")                                   \
  X(INTERNAL, 700, "internal error")                                       \
  X(CANCELLED, 800, "cancelled")                                           \
  X(DEADLINE, 801, "deadline passed")

typedef int32_t nd4c_status;

enum nd4c_status_code {
#define ND4C_STATUS_ENUM(NAME, number, text) ND4C_##NAME = number,
  ND4C_STATUS_TABLE(ND4C_STATUS_ENUM)
#undef ND4C_STATUS_ENUM
};

/* Name of a code ("SHAPE"), or "?" for an unknown number. Static; any thread. */
ND4C_API const char *nd4c_status_name(nd4c_status status);

/* Short text of a code ("shape not accepted"). Static; any thread. */
ND4C_API const char *nd4c_status_text(nd4c_status status);

/* Full text of the calling thread's most recent failure, or "" if none. Owned by nd4c, valid until the thread's
 * next failing call. A call that succeeds leaves it as it was. */
ND4C_API const char *nd4c_error_message(void);

/* Code of the calling thread's most recent failure, ND4C_OK if none. */
ND4C_API nd4c_status nd4c_error_code(void);

/* Forgets the calling thread's most recent failure. */
ND4C_API void nd4c_error_clear(void);

ND4C_EXTERN_C_END
#endif
