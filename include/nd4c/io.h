/* Arrays in files: NumPy's .npy and ONNX's TensorProto .pb. */
#ifndef ND4C_IO_H
#define ND4C_IO_H

#include <stddef.h>

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

/* Reads a .npy file (format 1.0 to 3.0, little-endian or byte-order free, C or Fortran order; Fortran gives a view with
 * those strides; packed ones are put in C order). bfloat16 files are those of ml_dtypes ("<V2"); narrow dtypes are
 * codes of a byte in a field named after the dtype, "[('int4', '|V1')]", and ml_dtypes' own "V1" is read as uint8
 * codes. IO, FORMAT (with offset and what was expected), UNSUPPORTED (object and structured types, big-endian),
 * OVERFLOW. */
ND4C_API nd4c_status nd4c_npy_read(const char *path, nd4c_array **array);
/* As nd4c_npy_read from memory; the bytes are copied. */
ND4C_API nd4c_status nd4c_npy_read_memory(const void *bytes, size_t size, nd4c_array **array);
/* Writes a .npy file 1.0 in C order, to a temporary name beside `path` that then takes its place; a pipe, device or
 * link at `path` is written to and stays. utf8: <U. */
ND4C_API nd4c_status nd4c_npy_write(const char *path, const nd4c_array *array);

/* Reads a serialized ONNX TensorProto (raw or typed data, strings). name (may be NULL) receives the tensor's name, to
 * be freed with nd4c_free. */
ND4C_API nd4c_status nd4c_tensor_read(const char *path, nd4c_array **array, char **name);
ND4C_API nd4c_status nd4c_tensor_read_memory(const void *bytes, size_t size, nd4c_array **array, char **name);
/* Writes a serialized ONNX TensorProto. */
ND4C_API nd4c_status nd4c_tensor_write(const char *path, const nd4c_array *array, const char *name);

ND4C_EXTERN_C_END
#endif
