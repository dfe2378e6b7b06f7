/* Arrays in files: NumPy's .npy and .npz, .safetensors, and ONNX's TensorProto .pb. */
#ifndef ND4C_IO_H
#define ND4C_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

/* Reads a .npy file (format 1.0 to 3.0, either byte order, C or Fortran order; Fortran gives a view with
 * those strides; packed ones are put in C order). bfloat16 files are those of ml_dtypes ("<V2"); narrow dtypes are
 * codes of a byte in a field named after the dtype, "[('int4', '|V1')]", and ml_dtypes' own "V1" is read as uint8
 * codes. IO, FORMAT (with offset and what was expected), UNSUPPORTED (object and structured types, big-endian texts),
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

/* -- named arrays in one file ------------------------------------------------------------------------------------- */

/* An opened .npz or .safetensors file: names, and arrays that are read when they are asked for. Any thread; it does not
 * change. Names are text and nothing else: one like "../a" leads nowhere. */
typedef struct nd4c_archive nd4c_archive;

/* Opens a .npz file: a zip archive of .npy files, stored or deflated, each named as its file is without ".npy". Needs
 * minizip at run time (LIBRARY). IO; FORMAT for what is damaged, names that come twice or are not UTF-8, entries that
 * together claim more bytes than the file has or unpacked more than theirs can hold; UNSUPPORTED for encryption and
 * other compressions. The file is mapped: it must not be cut short while it is open. */
ND4C_API nd4c_status nd4c_npz_open(const char *path, nd4c_archive **out);
/* As nd4c_npz_open from memory; the bytes are copied. */
ND4C_API nd4c_status nd4c_npz_open_memory(const void *bytes, size_t size, nd4c_archive **out);
/* Opens a .safetensors file. Needs cJSON at run time (LIBRARY). IO; FORMAT where the header is not as the format says:
 * every byte of the data belongs to one tensor, names come once; UNSUPPORTED for dtypes that nd4c lacks. */
ND4C_API nd4c_status nd4c_safetensors_open(const char *path, nd4c_archive **out);
/* As nd4c_safetensors_open from memory; the bytes are copied. */
ND4C_API nd4c_status nd4c_safetensors_open_memory(const void *bytes, size_t size, nd4c_archive **out);

/* Closes an archive; arrays that were read from it live on. NULL is fine. */
ND4C_API void nd4c_archive_release(nd4c_archive *archive);
/* How many arrays there are; NULL gives 0. They are in the file's order. */
ND4C_API int32_t nd4c_archive_count(const nd4c_archive *archive);
/* Name of array 0 .. count - 1, NULL past the end; lives as long as the archive. */
ND4C_API const char *nd4c_archive_name(const nd4c_archive *archive, int32_t index);
/* Index of a name; -1 if there is none. */
ND4C_API int32_t nd4c_archive_find(const nd4c_archive *archive, const char *name);
/* Reads array 0 .. count - 1 (INDEX past the end). Of .npz: a new array, with the errors of nd4c_npy_read. Of
 * .safetensors: the mapped file's own bytes, read-only, where they are aligned for the dtype; a copy else. */
ND4C_API nd4c_status nd4c_archive_array(const nd4c_archive *archive, int32_t index, nd4c_array **out);
/* Texts beside the arrays (.safetensors): how many, and each one's key and value; NULL past the end. */
ND4C_API int32_t nd4c_archive_metadata_count(const nd4c_archive *archive);
ND4C_API const char *nd4c_archive_metadata_key(const nd4c_archive *archive, int32_t index);
ND4C_API const char *nd4c_archive_metadata_value(const nd4c_archive *archive, int32_t index);

/* Writes a .npz file as NumPy does, deflated if `compressed`. LIBRARY as nd4c_npz_open; ARGUMENT for more than 65535
 * arrays, a name that is empty or comes twice, FORMAT for one that is not UTF-8. The file takes the place of an older
 * one at once; it is put together in memory. */
ND4C_API nd4c_status nd4c_npz_write(const char *path, const char *const *names, const nd4c_array *const *arrays,
                                    int32_t count, bool compressed);
/* Writes a .safetensors file with `metadata_count` texts beside the arrays. ARGUMENT and FORMAT for names as
 * nd4c_npz_write ("__metadata__" is none); DTYPE for what the format lacks: utf8, complex128, elements below a byte. */
ND4C_API nd4c_status nd4c_safetensors_write(const char *path, const char *const *names, const nd4c_array *const *arrays,
                                            int32_t count, const char *const *keys, const char *const *values,
                                            int32_t metadata_count);

ND4C_EXTERN_C_END
#endif
