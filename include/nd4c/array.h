/* Arrays. An array is a reference-counted handle with a dtype, a shape, strides and an offset; a storage, which views
 * share, holds the elements.
 *
 * Strides count elements and may be zero or negative. Sizes are int64. A handle may be used by several threads at once
 * for reading; its reference count is atomic. Every function that returns an array returns one reference, which the
 * caller releases. Views share their parent's storage and keep it alive. A storage may have a copy of its contents, a
 * replica, on each of several devices. */
#ifndef ND4C_ARRAY_H
#define ND4C_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

#define ND4C_MAX_RANK 32

typedef struct nd4c_array nd4c_array;

/* Tells the owner of foreign memory that nd4c no longer needs the memory. nd4c makes this call once, from any thread,
 * and holds no lock meanwhile. */
typedef void (*nd4c_release_callback)(void *user);

/* A C-contiguous array on `device` (NULL: the thread's context decides), its contents undefined. Strings live on the
 * host: another device gives DTYPE. An array without elements takes no device memory. Errors: SHAPE, OVERFLOW, DTYPE,
 * MEMORY, MEMORY_CAP, NO_BACKEND. */
ND4C_API nd4c_status nd4c_array_empty(nd4c_dtype dtype, int32_t rank, const int64_t *shape, nd4c_device *device,
                                      nd4c_array **out);

/* As nd4c_array_empty, every byte zero. */
ND4C_API nd4c_status nd4c_array_zeros(nd4c_dtype dtype, int32_t rank, const int64_t *shape, nd4c_device *device,
                                      nd4c_array **out);

/* As nd4c_array_empty, every element `value` converted to dtype (ND4C_DTYPE for utf8). */
ND4C_API nd4c_status nd4c_array_full(nd4c_dtype dtype, int32_t rank, const int64_t *shape, double value,
                                     nd4c_device *device, nd4c_array **out);

/* A 1-D array start, start + step, ... of `count` elements. */
ND4C_API nd4c_status nd4c_array_arange(nd4c_dtype dtype, double start, double step, int64_t count, nd4c_device *device,
                                       nd4c_array **out);

/* Copies C-contiguous host data into a new array. */
ND4C_API nd4c_status nd4c_array_from_data(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const void *data,
                                          nd4c_device *device, nd4c_array **out);

/* A 0-d array holding `value`. */
ND4C_API nd4c_status nd4c_array_scalar(nd4c_dtype dtype, double value, nd4c_device *device, nd4c_array **out);

/* Copies `count` strings (lengths NULL: NUL-terminated) into a utf8 array of `shape`. ND4C_FORMAT if one is not UTF-8.
 */
ND4C_API nd4c_status nd4c_array_from_strings(int32_t rank, const int64_t *shape, const char *const *strings,
                                             const int64_t *lengths, nd4c_array **out);

/* A read-only float32 array whose contents are kept as quantised blocks, in `format` as GGUF names it: "q8_0" (32
 * elements in 34 bytes) or "q4_0" (32 in 18). Copies `bytes` bytes from `blocks`: each row along the last axis consists
 * of whole blocks, and the rows are in C order. The array lives in the host's memory. On the CPU, matmul with the array
 * or its transpose as the second operand computes from the blocks, in double precision, without decoding the matrix.
 * Every other operation sees a float32 array: the first one that needs elements decodes them once, and the array then
 * keeps them beside the blocks. Errors: NAME (no such format; the text lists the formats), SHAPE (no axis, an empty
 * axis, a last axis that is not whole blocks), ARGUMENT (bytes), OVERFLOW, MEMORY, MEMORY_CAP, NULL_ARGUMENT. */
ND4C_API nd4c_status nd4c_array_from_blocks(const char *format, int32_t rank, const int64_t *shape, const void *blocks,
                                            size_t bytes, nd4c_array **out);
/* The block format of the array's storage; NULL if the storage has no blocks. For a view this is its parent's. */
ND4C_API const char *nd4c_array_block_format(const nd4c_array *array);

/* Wraps host memory without a copy. `data` is the address of element 0; strides (NULL: C-contiguous) count elements and
 * may be negative or zero. If `read_only`, operations that would write into the memory are refused. nd4c calls
 * `release` (may be NULL) with `user` when the last reference has been released and the last pending operation has
 * ended. If this function fails, nd4c does not call `release`. The data must be aligned for the dtype
 * (ND4C_ARGUMENT). */
ND4C_API nd4c_status nd4c_array_wrap(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                                     void *data, bool read_only, nd4c_release_callback release, void *user,
                                     nd4c_array **out);

/* Adds a reference; returns its argument. NULL is passed through. */
ND4C_API nd4c_array *nd4c_array_retain(nd4c_array *array);

/* Drops a reference; the last one frees the array and, after its last pending operation, its storage. NULL is fine. */
ND4C_API void nd4c_array_release(nd4c_array *array);

/* Queries. For a NULL array they return ND4C_DTYPE_NONE, rank -1, NULL or 0. Shapes and strides are owned by the
 * array. */
ND4C_API nd4c_dtype nd4c_array_dtype(const nd4c_array *array);
ND4C_API int32_t nd4c_array_rank(const nd4c_array *array);
ND4C_API const int64_t *nd4c_array_shape(const nd4c_array *array);
ND4C_API const int64_t *nd4c_array_strides(const nd4c_array *array);
/* Number of elements; 1 for rank 0. */
ND4C_API int64_t nd4c_array_size(const nd4c_array *array);
/* True if the elements lie in C order without gaps. */
ND4C_API bool nd4c_array_is_contiguous(const nd4c_array *array);
/* True if the storage is read-only. */
ND4C_API bool nd4c_array_is_read_only(const nd4c_array *array);
/* True if both views may touch a common byte, in one storage or in two storages that wrap the same memory. */
ND4C_API bool nd4c_array_overlaps(const nd4c_array *a, const nd4c_array *b);
/* A device on which the contents are current: the one that wrote them last, unless they were moved since. Borrowed. */
ND4C_API nd4c_device *nd4c_array_device(const nd4c_array *array);

/* Waits for pending work, copies the contents to the host unless the host can read them where they are, and gives the
 * address of element 0 for reading. The address is valid until the array is freed or written on another device. If the
 * operation that produced the array failed, returns that operation's status and text (DEVICE, ...), or POISONED if one
 * of its inputs had no value. */
ND4C_API nd4c_status nd4c_array_data(const nd4c_array *array, const void **data);

/* As nd4c_array_data, for writing: replicas on other devices become invalid. Operations submitted before a write
 * through the address do not see that write. READ_ONLY if the storage is read-only. */
ND4C_API nd4c_status nd4c_array_data_mutable(nd4c_array *array, void **data);

/* Waits for pending work and copies all elements in C order to `data`, which holds `bytes` bytes. Works on any device.
 * If the contents are current only on another device and the view is small, only the view is copied, and no replica is
 * made on the host. The same holds for nd4c_array_item and nd4c_array_format (docs/explanation/devices.md). For utf8:
 * ND4C_DTYPE, see nd4c_array_string. */
ND4C_API nd4c_status nd4c_array_read(const nd4c_array *array, void *data, size_t bytes);

/* Copies C-ordered host data of exactly size * dtype bytes into the array. If the view is small and the contents are on
 * other devices, nd4c writes the bytes into each current replica in place: the rest of the contents is not copied, and
 * these replicas stay current (docs/explanation/devices.md). */
ND4C_API nd4c_status nd4c_array_write(nd4c_array *array, const void *data, size_t bytes);

/* The element at `index` (rank entries, negative counts from the end) as a double; for int64 beyond 2^53 use
 * nd4c_array_read. A complex element gives its real part. */
ND4C_API nd4c_status nd4c_array_item(const nd4c_array *array, const int64_t *index, double *value);

/* The string at position `number` in C order. The text is owned by the array, `length` bytes, not NUL-terminated. */
ND4C_API nd4c_status nd4c_array_string(const nd4c_array *array, int64_t number, const char **text, int64_t *length);

/* Waits until the array is ready. Reports a failure of the operation that produced it, with the op's name. */
ND4C_API nd4c_status nd4c_array_wait(const nd4c_array *array);

/* Copies the array to `device` (NULL: the thread's context decides), as a new array. A copy within one device, or
 * between two devices of a backend that can do so, is made without the host. Other copies pass through host memory,
 * which is freed afterwards. A strided array is first made contiguous by the op `copy` on its own device, or by the
 * host if that device lacks the op or the memory, or if elements overlap in memory. */
ND4C_API nd4c_status nd4c_array_to_device(const nd4c_array *array, nd4c_device *device, nd4c_array **out);

/* -- devices: where an array's contents are ------------------------------------------------------------------------ */

/* The state of the array's contents on a device: 'M' (modified) current on this device alone; 'S' (shared) current on
 * this and other devices; 'I' (invalid) the device holds memory for it, with stale contents; '-' the device holds no
 * replica. A view has its parent's state. '-' for NULL. Any thread. */
ND4C_API char nd4c_array_state(const nd4c_array *array, const nd4c_device *device);
/* Whether the contents are current on the device and no work that writes them is pending. Never waits: if another
 * thread is using the array at that moment, the answer is false. */
ND4C_API bool nd4c_array_is_ready(const nd4c_array *array, const nd4c_device *device);

/* Moves the contents, with all views of them, to `device` (NULL: the device of the thread's context). Afterwards they
 * are current on that device alone; other devices free their replicas when pending work on those has ended. Replicas
 * that must not be freed stay current (Shared): those in foreign memory, those that a plan relies on, and those
 * exported through DLPack. As when writing, no other thread may use the array meanwhile, and addresses from
 * nd4c_array_data become invalid. A failure leaves contents and replicas unchanged. Errors: DTYPE for strings, which
 * live on the host; the failure of the allocation or the copy. */
ND4C_API nd4c_status nd4c_array_migrate(const nd4c_array *array, nd4c_device *device);
/* Starts copying the contents to `device` (NULL: the device of the thread's context) and returns; operations that use
 * the array there are ordered after the copy. Where neither device can copy asynchronously (neither has addresses, or
 * both are the host's), the copy has ended when this returns. Until the copy has ended (nd4c_array_is_ready), the
 * caller must not write through an address from nd4c_array_data_mutable. If the copy fails, work that was submitted
 * before the failure was known fails too, and nd4c_device_synchronize reports it; the next use after that makes the
 * copy again. Errors as nd4c_array_migrate. */
ND4C_API nd4c_status nd4c_array_prefetch(const nd4c_array *array, nd4c_device *device);

/* -- views: no bytes are moved -------------------------------------------------------------------------------- */

/* Python's None as a start or stop of nd4c_array_slice: the slice has no bound on that side. */
#define ND4C_SLICE_NONE INT64_MIN

/* A slice start:stop:step of each axis. The three lists have rank entries each; steps NULL: all 1. Negative and
 * out-of-range bounds mean what they mean in Python. ND4C_ARGUMENT for a step of 0. */
ND4C_API nd4c_status nd4c_array_slice(const nd4c_array *array, const int64_t *starts, const int64_t *stops,
                                      const int64_t *steps, nd4c_array **out);

/* Fixes one axis at an index; the axis disappears. */
ND4C_API nd4c_status nd4c_array_select(const nd4c_array *array, int32_t axis, int64_t index, nd4c_array **out);

/* A view with explicit shape, strides and offset (in elements, relative to the array's element 0). INDEX if it would
 * touch a byte outside the storage. */
ND4C_API nd4c_status nd4c_array_as_strided(const nd4c_array *array, int32_t rank, const int64_t *shape,
                                           const int64_t *strides, int64_t offset, nd4c_array **out);

/* -- shapes ----------------------------------------------------------------------------------------------------- */

/* The shape to which `count` shapes broadcast by NumPy's rules; for count 0 the shape (). `shape` has room for
 * ND4C_MAX_RANK extents. SHAPE if they do not broadcast; the text names the two that disagree. Any thread. */
ND4C_API nd4c_status nd4c_shapes_broadcast(int32_t count, const int32_t *ranks, const int64_t *const *shapes,
                                           int32_t *rank, int64_t *shape);

/* -- printing ------------------------------------------------------------------------------------------------- */

/* Set all members: 0 is a precision and a threshold like any other, not the default, and 0 edge_items or line_width are
 * refused with ARGUMENT. The comments give the values that options NULL stands for. */
typedef struct nd4c_print_options {
  uint32_t struct_size; /* sizeof(nd4c_print_options) */
  int32_t precision;    /* digits after the point at most, from 0 on; 8 */
  int64_t threshold;    /* more elements than this are summarised, from 0 on; 1000 */
  int32_t edge_items;   /* items shown at each end when summarised, from 1 on; 3 */
  int32_t line_width;   /* from 1 on; 75 */
  bool repr;            /* true: array([...], dtype=...) as NumPy's repr; false: as str; false */
} nd4c_print_options;

/* Text of the array as NumPy prints it, NUL-terminated, to be freed with nd4c_free. options NULL: str with defaults. */
ND4C_API nd4c_status nd4c_array_format(const nd4c_array *array, const nd4c_print_options *options, char **text);

/* Frees memory that nd4c handed to the caller. NULL is fine. */
ND4C_API void nd4c_free(void *memory);

ND4C_EXTERN_C_END
#endif
