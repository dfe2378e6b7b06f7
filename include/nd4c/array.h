/* Arrays: reference-counted handles of dtype, shape, strides and offset over a storage.
 *
 * Strides count elements and may be zero or negative. Sizes are int64. A handle may be used by several threads at once
 * for reading; its reference count is atomic. Everything that returns an array returns one reference that the caller
 * releases. Views share their parent's storage and keep it alive. */
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

/* Called once when foreign memory is no longer needed; from any thread, never under a lock of nd4c's. */
typedef void (*nd4c_release_callback)(void *user);

/* An array without defined contents on `device` (NULL: the thread's context decides), C-contiguous.
 * Strings live on the host: DTYPE with another device. Without elements it takes no memory of a device.
 * Errors: SHAPE, OVERFLOW, DTYPE, MEMORY, MEMORY_CAP, NO_BACKEND. */
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
 * elements in 34 bytes) or "q4_0" (32 in 18). Copies `bytes` bytes of `blocks`: the blocks of the last axis, which
 * holds whole ones, in C order. It lives in the host's memory, which holds the blocks alone until something needs
 * elements. matmul with it, or with its transpose, as the second operand reads the blocks on the CPU, in double
 * precision, and never the decoded matrix. Everything else sees a float32 array: it is decoded once, when it is first
 * needed, and keeps the elements beside the blocks. Errors: NAME (no such format, with those that there are), SHAPE (no
 * axis, an empty one, a part of a block), ARGUMENT (bytes), OVERFLOW, MEMORY, MEMORY_CAP, NULL_ARGUMENT. */
ND4C_API nd4c_status nd4c_array_from_blocks(const char *format, int32_t rank, const int64_t *shape, const void *blocks,
                                            size_t bytes, nd4c_array **out);
/* The format in which the contents of an array, or of what it is a view of, are kept; NULL: they are not in blocks. */
ND4C_API const char *nd4c_array_block_format(const nd4c_array *array);

/* Wraps host memory without a copy. `data` is the address of element 0; strides (NULL: C-contiguous) count elements
 * and may be negative or zero. With `read_only` an operation that would write into it is refused. `release` (may be
 * NULL) is called with `user` after the last reference and the last use are gone; not when this call fails. The data
 * must be aligned for the dtype (ND4C_ARGUMENT). */
ND4C_API nd4c_status nd4c_array_wrap(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const int64_t *strides,
                                     void *data, bool read_only, nd4c_release_callback release, void *user,
                                     nd4c_array **out);

/* Adds a reference; returns its argument. NULL is passed through. */
ND4C_API nd4c_array *nd4c_array_retain(nd4c_array *array);

/* Drops a reference; the last one frees the array and, after its last pending operation, its storage. NULL is fine. */
ND4C_API void nd4c_array_release(nd4c_array *array);

/* Queries. NULL gives ND4C_DTYPE_NONE, rank -1, NULL, 0. Shapes and strides are owned by the array. */
ND4C_API nd4c_dtype nd4c_array_dtype(const nd4c_array *array);
ND4C_API int32_t nd4c_array_rank(const nd4c_array *array);
ND4C_API const int64_t *nd4c_array_shape(const nd4c_array *array);
ND4C_API const int64_t *nd4c_array_strides(const nd4c_array *array);
/* Number of elements; 1 for rank 0. */
ND4C_API int64_t nd4c_array_size(const nd4c_array *array);
/* True if the elements lie in C order without gaps. */
ND4C_API bool nd4c_array_is_contiguous(const nd4c_array *array);
/* True if the storage refuses writing. */
ND4C_API bool nd4c_array_is_read_only(const nd4c_array *array);
/* True if both views may touch a common byte: of one storage, or of two that wrap the same memory. */
ND4C_API bool nd4c_array_overlaps(const nd4c_array *a, const nd4c_array *b);
/* The device whose replica is current (the one written last). Borrowed. */
ND4C_API nd4c_device *nd4c_array_device(const nd4c_array *array);

/* Waits for pending work, brings the bytes to the host if their device has no addresses, and gives the address of
 * element 0 for reading; it holds while the array lives and is not written elsewhere. If the producing operation
 * failed, its status and text (DEVICE, ...), or POISONED if one of its inputs had no value. */
ND4C_API nd4c_status nd4c_array_data(const nd4c_array *array, const void **data);

/* As nd4c_array_data, for writing: other devices' replicas become invalid. What is written later through the address
 * reaches no operation that was submitted before. ND4C_READ_ONLY where refused. */
ND4C_API nd4c_status nd4c_array_data_mutable(nd4c_array *array, void **data);

/* Waits for pending work and copies all elements in C order to `data`, which holds `bytes` bytes. Any device; of an
 * array that is elsewhere a small part comes alone and no replica is made, here and in nd4c_array_item and
 * nd4c_array_format (page devices.md). For utf8: ND4C_DTYPE, see nd4c_array_string. */
ND4C_API nd4c_status nd4c_array_read(const nd4c_array *array, void *data, size_t bytes);

/* Copies C-ordered host data of exactly size * dtype bytes into the array. Of one that is elsewhere a small part is
 * written where the contents are: the rest does not travel, and each replica that was current stays so
 * (page devices.md). */
ND4C_API nd4c_status nd4c_array_write(nd4c_array *array, const void *data, size_t bytes);

/* The element at `index` (rank entries, negative counts from the end) as a double; for int64 beyond 2^53 use
 * nd4c_array_read. Complex gives the real part. */
ND4C_API nd4c_status nd4c_array_item(const nd4c_array *array, const int64_t *index, double *value);

/* A string element by its C-order number. The text is owned by the array, `length` bytes, not NUL-terminated. */
ND4C_API nd4c_status nd4c_array_string(const nd4c_array *array, int64_t number, const char **text, int64_t *length);

/* Waits until the array is ready. Reports a failure of the operation that produced it, with the op's name. */
ND4C_API nd4c_status nd4c_array_wait(const nd4c_array *array);

/* A copy of the array's data made current on `device`, as a new array; NULL: the thread's context. Bytes go from where
 * they are: within a device, and between two of one backend where that can, by the devices themselves, else between two
 * by way of the host's memory, of which nothing stays behind. What is strided is put in order by the op copy on the
 * device where it is, and by the host where that device lacks it, or memory for it, or where the elements stand in
 * memory several times. */
ND4C_API nd4c_status nd4c_array_to_device(const nd4c_array *array, nd4c_device *device, nd4c_array **out);

/* -- devices: where an array's contents are ------------------------------------------------------------------------ */

/* The state of the array's contents on a device: 'M' current there and nowhere else, 'S' current there and elsewhere,
 * 'I' memory is held there but what is in it is stale, '-' nothing is there. Views share it with their parent. '-' for
 * NULL. Any thread. */
ND4C_API char nd4c_array_state(const nd4c_array *array, const nd4c_device *device);
/* Whether the contents are current on the device and no work that writes them is pending. Never waits: false also while
 * another thread is just using the array. */
ND4C_API bool nd4c_array_is_ready(const nd4c_array *array, const nd4c_device *device);

/* Moves the contents to `device` (NULL: the thread's context's), with all views of them: current there alone, the
 * memory of other devices is given back after the work on it. Copies stay current (Shared) where they cannot go: in
 * foreign memory, where a plan relies on them, and once exported through DLPack. As with writing, no other thread may
 * be using the array meanwhile, and addresses that nd4c_array_data gave no longer hold. A failure leaves contents and
 * replicas as they were. DTYPE for strings, which live on the host; else what memory or the copy fails with. */
ND4C_API nd4c_status nd4c_array_migrate(const nd4c_array *array, nd4c_device *device);
/* Begins to copy the contents to `device` (NULL: the thread's context's), where the next use then finds them; the host
 * goes on meanwhile, and what uses the array there comes after the copy by itself. Where no device can copy on its own
 * (both have no addresses, or both are the host's) the copy is done when this returns. Until it is
 * done (nd4c_array_is_ready) memory that nd4c_array_data_mutable gave must not be written. A copy of which it is known
 * that it failed is made again by the use; work that was submitted before that was known fails with it, and
 * nd4c_device_synchronize reports it. Errors as nd4c_array_migrate. */
ND4C_API nd4c_status nd4c_array_prefetch(const nd4c_array *array, nd4c_device *device);

/* -- views: no bytes are moved -------------------------------------------------------------------------------- */

/* "Whole axis" bounds for nd4c_array_slice: the start or stop that Python's None stands for. */
#define ND4C_SLICE_NONE INT64_MIN

/* One start:stop:step an axis (rank entries each; NULL steps: all 1), with Python's meaning of negative and
 * out-of-range bounds. ND4C_ARGUMENT for a step of 0. */
ND4C_API nd4c_status nd4c_array_slice(const nd4c_array *array, const int64_t *starts, const int64_t *stops,
                                      const int64_t *steps, nd4c_array **out);

/* Fixes one axis at an index; the axis disappears. */
ND4C_API nd4c_status nd4c_array_select(const nd4c_array *array, int32_t axis, int64_t index, nd4c_array **out);

/* Any view by explicit shape, strides and offset (elements, relative to the array's own element 0). Refused with
 * ND4C_INDEX if it would touch a byte outside the storage. */
ND4C_API nd4c_status nd4c_array_as_strided(const nd4c_array *array, int32_t rank, const int64_t *shape,
                                           const int64_t *strides, int64_t offset, nd4c_array **out);

/* -- shapes ----------------------------------------------------------------------------------------------------- */

/* The shape to which `count` shapes broadcast by NumPy's rules; none at all: (). `shape` has room for ND4C_MAX_RANK
 * extents. SHAPE if they do not broadcast, with the two that disagree in the text. Any thread. */
ND4C_API nd4c_status nd4c_shapes_broadcast(int32_t count, const int32_t *ranks, const int64_t *const *shapes,
                                           int32_t *rank, int64_t *shape);

/* -- printing ------------------------------------------------------------------------------------------------- */

typedef struct nd4c_print_options {
  uint32_t struct_size; /* sizeof(nd4c_print_options) */
  int32_t precision;    /* digits after the point at most; default 8 */
  int64_t threshold;    /* more elements than this are summarised; default 1000 */
  int32_t edge_items;   /* items shown at each end when summarised; default 3 */
  int32_t line_width;   /* default 75 */
  bool repr;            /* true: array([...], dtype=...) as NumPy's repr; false: as str */
} nd4c_print_options;

/* Text of the array as NumPy prints it, NUL-terminated, to be freed with nd4c_free. options NULL: str with defaults. */
ND4C_API nd4c_status nd4c_array_format(const nd4c_array *array, const nd4c_print_options *options, char **text);

/* Frees memory that nd4c handed to the caller. NULL is fine. */
ND4C_API void nd4c_free(void *memory);

ND4C_EXTERN_C_END
#endif
