/* The values that ONNX models take and return, which need not be arrays. A datum is an array, a sequence of datums, or
 * an optional, which holds an array, a sequence or nothing. Programs pass datums to nd4c_model_run_data.
 *
 * A datum is an immutable, reference-counted handle; it keeps a reference to what it holds. Every function that makes a
 * datum returns one reference, which the caller releases. What the queries return is borrowed and lives as long as the
 * datum. */
#ifndef ND4C_DATUM_H
#define ND4C_DATUM_H

#include <stddef.h>
#include <stdint.h>

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_datum nd4c_datum;

typedef enum nd4c_datum_kind {
  ND4C_DATUM_NONE = 0,
  ND4C_DATUM_ARRAY = 1,
  ND4C_DATUM_SEQUENCE = 2,
  ND4C_DATUM_OPTIONAL = 3
} nd4c_datum_kind;

/* Makes a datum that holds an array. */
ND4C_API nd4c_status nd4c_datum_of_array(nd4c_array *array, nd4c_datum **out);
/* Makes a sequence of `count` items, all of one kind. dtype: that of the arrays inside; ND4C_DTYPE_NONE takes it from
 * the items, and leaves it unknown if there are none. ARGUMENT if items differ in kind or nest more than 8 deep, DTYPE
 * if the arrays differ in dtype. */
ND4C_API nd4c_status nd4c_datum_of_sequence(nd4c_dtype dtype, nd4c_datum *const *items, int32_t count,
                                            nd4c_datum **out);
/* Makes an optional that holds `item` (an array or a sequence) or, if `item` is NULL, nothing. */
ND4C_API nd4c_status nd4c_datum_of_optional(nd4c_datum *item, nd4c_datum **out);

/* Adds a reference; returns its argument. NULL is passed through. */
ND4C_API nd4c_datum *nd4c_datum_retain(nd4c_datum *datum);
/* Drops a reference; the last one releases what the datum holds. NULL is fine. */
ND4C_API void nd4c_datum_release(nd4c_datum *datum);

/* Queries. For a NULL datum they return NONE, NULL or 0. */
ND4C_API nd4c_datum_kind nd4c_datum_get_kind(const nd4c_datum *datum);
/* The array of an ARRAY; NULL for other kinds. */
ND4C_API nd4c_array *nd4c_datum_array(const nd4c_datum *datum);
/* Number of items of a sequence; for an optional 1, or 0 if it holds nothing; 0 for an array. */
ND4C_API int32_t nd4c_datum_count(const nd4c_datum *datum);
/* Item 0 .. count - 1, NULL past the end. */
ND4C_API nd4c_datum *nd4c_datum_item(const nd4c_datum *datum, int32_t index);
/* Dtype of the arrays inside; ND4C_DTYPE_NONE if it is not known. */
ND4C_API nd4c_dtype nd4c_datum_dtype(const nd4c_datum *datum);

/* Reads a serialized ONNX TensorProto, SequenceProto or OptionalProto: the file does not tell which, so `kind` must.
 * IO, FORMAT (with the byte offset), UNSUPPORTED (maps, sparse tensors, dtypes that nd4c lacks). */
ND4C_API nd4c_status nd4c_datum_read(const char *path, nd4c_datum_kind kind, nd4c_datum **out);
/* As nd4c_datum_read, but from memory; the bytes are copied. */
ND4C_API nd4c_status nd4c_datum_read_memory(const void *bytes, size_t size, nd4c_datum_kind kind, nd4c_datum **out);
/* Writes a serialized TensorProto, SequenceProto or OptionalProto. name may be NULL. */
ND4C_API nd4c_status nd4c_datum_write(const char *path, const nd4c_datum *datum, const char *name);

ND4C_EXTERN_C_END
#endif
