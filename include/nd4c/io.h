/* Arrays in files: NumPy's .npy and .npz, .safetensors, and ONNX's TensorProto .pb. */
#ifndef ND4C_IO_H
#define ND4C_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

/* Reads a .npy file (format 1.0 to 3.0, either byte order, C or Fortran order; a Fortran file gives a view with its
 * strides; packed dtypes are put in C order). bfloat16 has ml_dtypes' type string "<V2". An array of a narrow dtype is
 * stored as one-byte codes in a field named after the dtype: "[('int4', '|V1')]". A plain "V1", which ml_dtypes writes,
 * is read as uint8 codes. IO, FORMAT (with offset and what was expected), UNSUPPORTED (object and structured types,
 * big-endian texts), OVERFLOW. */
ND4C_API nd4c_status nd4c_npy_read(const char *path, nd4c_array **array);
/* As nd4c_npy_read, but from memory; the bytes are copied. */
ND4C_API nd4c_status nd4c_npy_read_memory(const void *bytes, size_t size, nd4c_array **array);
/* Writes a .npy file, version 1.0, in C order. Writes a temporary file beside `path` and renames it to `path`; a pipe,
 * device or link at `path` is written to directly. utf8 is written as <U. */
ND4C_API nd4c_status nd4c_npy_write(const char *path, const nd4c_array *array);

/* Reads a serialized ONNX TensorProto (raw or typed data, strings). name (may be NULL) receives the tensor's name, to
 * be freed with nd4c_free. */
ND4C_API nd4c_status nd4c_tensor_read(const char *path, nd4c_array **array, char **name);
ND4C_API nd4c_status nd4c_tensor_read_memory(const void *bytes, size_t size, nd4c_array **array, char **name);
/* Writes a serialized ONNX TensorProto. */
ND4C_API nd4c_status nd4c_tensor_write(const char *path, const nd4c_array *array, const char *name);

/* -- named arrays in one file ------------------------------------------------------------------------------------- */

/* An opened .npz or .safetensors file: names, and arrays that are read on request. Immutable; any thread may use it.
 * Names are never used as paths: "../a" is only a name. */
typedef struct nd4c_archive nd4c_archive;

/* Opens a .npz file: a zip archive of .npy files, stored or deflated, each named as its file without ".npy". Needs
 * minizip at run time (LIBRARY). IO; FORMAT for a damaged archive, names that are not unique or not UTF-8, entries that
 * claim more bytes than the file has or unpack to more than their compressed bytes can hold; UNSUPPORTED for encryption
 * and other compressions. The file is mapped: it must not be truncated while the archive is open. */
ND4C_API nd4c_status nd4c_npz_open(const char *path, nd4c_archive **out);
/* As nd4c_npz_open, but from memory; the bytes are copied. */
ND4C_API nd4c_status nd4c_npz_open_memory(const void *bytes, size_t size, nd4c_archive **out);
/* Opens a .safetensors file. Needs cJSON at run time (LIBRARY). IO; FORMAT if the header breaks the format's rules:
 * each byte of the data belongs to exactly one tensor, and names are unique. UNSUPPORTED for dtypes that nd4c lacks. */
ND4C_API nd4c_status nd4c_safetensors_open(const char *path, nd4c_archive **out);
/* As nd4c_safetensors_open, but from memory; the bytes are copied. */
ND4C_API nd4c_status nd4c_safetensors_open_memory(const void *bytes, size_t size, nd4c_archive **out);

/* Closes an archive; arrays that were read from it stay valid. NULL is fine. */
ND4C_API void nd4c_archive_release(nd4c_archive *archive);
/* Number of arrays, 0 for NULL. Arrays are numbered in the file's order. */
ND4C_API int32_t nd4c_archive_count(const nd4c_archive *archive);
/* Name of array 0 .. count - 1, NULL past the end; lives as long as the archive. */
ND4C_API const char *nd4c_archive_name(const nd4c_archive *archive, int32_t index);
/* Index of a name; -1 if there is none. */
ND4C_API int32_t nd4c_archive_find(const nd4c_archive *archive, const char *name);
/* Reads array 0 .. count - 1 (INDEX past the end). From .npz: a new array, with the errors of nd4c_npy_read. From
 * .safetensors: a read-only array over the mapped file if the bytes are aligned for the dtype, else a copy. */
ND4C_API nd4c_status nd4c_archive_array(const nd4c_archive *archive, int32_t index, nd4c_array **out);
/* The metadata texts of a .safetensors file: their number, and the key and value of each; NULL past the end. */
ND4C_API int32_t nd4c_archive_metadata_count(const nd4c_archive *archive);
ND4C_API const char *nd4c_archive_metadata_key(const nd4c_archive *archive, int32_t index);
ND4C_API const char *nd4c_archive_metadata_value(const nd4c_archive *archive, int32_t index);

/* Writes a .npz file as NumPy does, deflated if `compressed`. LIBRARY as nd4c_npz_open; ARGUMENT for more than 65535
 * arrays, an empty or repeated name; FORMAT for a name that is not UTF-8. The file is assembled in memory and replaces
 * an older one atomically. */
ND4C_API nd4c_status nd4c_npz_write(const char *path, const char *const *names, const nd4c_array *const *arrays,
                                    int32_t count, bool compressed);
/* Writes a .safetensors file with `metadata_count` metadata texts. ARGUMENT and FORMAT for names as nd4c_npz_write
 * ("__metadata__" is reserved); DTYPE for dtypes that the format lacks: utf8, complex128, elements below a byte. */
ND4C_API nd4c_status nd4c_safetensors_write(const char *path, const char *const *names, const nd4c_array *const *arrays,
                                            int32_t count, const char *const *keys, const char *const *values,
                                            int32_t metadata_count);

ND4C_EXTERN_C_END
#endif
