/* Runs of strided elements and walks over them (runs.h). The reference kernels of statistics, sorting, signal and
 * indexing call these. */
#include "kernels/reference/support/runs.h"

#include "kernels/reference/support/element.h"

/* -- numbers ------------------------------------------------------------------------------------------------------- */

/* A narrow float goes by way of its value. */
void nd4c_ref_read_doubles(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                           double *to) {
  switch (dtype) {
#define REALS(NAME, name, kind) ND4C_REF_LOAD_RUN(NAME, name, to[i] = (double)ND4C_REF_READ_##kind(name, x))
#define PAIRS(NAME, name, kind) \
  ND4C_REF_LOAD_RUN(NAME, name, (to[2 * i] = (double)creal(x), to[2 * i + 1] = (double)cimag(x)))
    ND4C_REAL_DTYPES(REALS)
    ND4C_COMPLEX_DTYPES(PAIRS)
#undef REALS
#undef PAIRS
    default:
      for (int64_t i = 0; i < count; i++) {
        to[i] = nd4c_value_as_double(nd4c_reference_kind(dtype), nd4c_value_load(dtype, data, start + i * stride));
      }
  }
}

void nd4c_ref_write_doubles(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                            const double *from) {
  switch (dtype) {
#define WHOLES(NAME, name, kind) ND4C_REF_STORE_RUN(NAME, name, ND4C_REF_WRITE_##kind(name, (int64_t)from[i]))
#define FLOATS(NAME, name, kind) ND4C_REF_STORE_RUN(NAME, name, ND4C_REF_WRITE_FLOAT(name, from[i]))
#define PAIRS(NAME, name, kind) \
  ND4C_REF_STORE_RUN(NAME, name, (nd4c_c_##name)nd4c_complex_make(from[2 * i], from[2 * i + 1]))
    ND4C_WHOLE_DTYPES(WHOLES)
    ND4C_FLOAT_DTYPES(FLOATS)
    ND4C_COMPLEX_DTYPES(PAIRS)
#undef WHOLES
#undef FLOATS
#undef PAIRS
    default:
      for (int64_t i = 0; i < count; i++) {
        const bool whole = nd4c_reference_kind(dtype) != ND4C_KIND_FLOAT;
        const nd4c_value value = whole ? (nd4c_value){.i = (int64_t)from[i]} : (nd4c_value){.f = from[i]};
        nd4c_value_store(dtype, data, start + i * stride, value);
      }
  }
}

void nd4c_ref_read_words(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                         uint64_t *to) {
  switch (dtype) {
#define WORDS(NAME, name, kind) ND4C_REF_LOAD_RUN(NAME, name, to[i] = (uint64_t)ND4C_REF_READ_##kind(name, x))
    ND4C_WHOLE_DTYPES(WORDS)
#undef WORDS
    default:
      for (int64_t i = 0; i < count; i++) {
        to[i] = nd4c_value_load(dtype, data, start + i * stride).u;
      }
  }
}

void nd4c_ref_write_words(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                          const uint64_t *from) {
  switch (dtype) {
#define WORDS(NAME, name, kind) ND4C_REF_STORE_RUN(NAME, name, ND4C_REF_WRITE_##kind(name, from[i]))
    ND4C_WHOLE_DTYPES(WORDS)
#undef WORDS
    default:
      for (int64_t i = 0; i < count; i++) {
        nd4c_value_store(dtype, data, start + i * stride, (nd4c_value){.u = from[i]});
      }
  }
}

/* -- elements as they are ------------------------------------------------------------------------------------------ */

#define COPY_ROW(name, size)                                                                                           \
  static void name(int64_t count, int64_t bytes, const char *from, int64_t from_stride, char *to, int64_t to_stride) { \
    (void)bytes;                                                                                                       \
    for (int64_t i = 0; i < count; i++) {                                                                              \
      memcpy(to + i * to_stride, from + i * from_stride, size);                                                        \
    }                                                                                                                  \
  }
COPY_ROW(copy_1, 1)
COPY_ROW(copy_2, 2)
COPY_ROW(copy_4, 4)
COPY_ROW(copy_8, 8)
COPY_ROW(copy_16, 16)

static void copy_dense(int64_t count, int64_t bytes, const char *from, int64_t from_stride, char *to,
                       int64_t to_stride) {
  (void)from_stride;
  (void)to_stride;
  memcpy(to, from, (size_t)(count * bytes));
}

nd4c_ref_row nd4c_ref_copy_row(int64_t bytes, int64_t from_stride, int64_t to_stride) {
  if (from_stride == bytes && to_stride == bytes) {
    return copy_dense;
  }
  return bytes == 1 ? copy_1 : bytes == 2 ? copy_2 : bytes == 4 ? copy_4 : bytes == 8 ? copy_8 : copy_16;
}

void nd4c_ref_permute_raw(int64_t bytes, const char *data, int64_t start, int64_t stride, const int64_t *order,
                          int64_t count, char *to, int64_t to_start, int64_t to_stride) {
  for (int64_t i = 0; i < count; i++) {
    nd4c_ref_move_one(bytes, data + (start + order[i] * stride) * bytes, to + (to_start + i * to_stride) * bytes);
  }
}

/* -- walks --------------------------------------------------------------------------------------------------------- */

bool nd4c_ref_walk_start(nd4c_ref_walk *walk, int32_t rank, const int64_t *shape, int32_t count,
                         const int64_t *const *strides) {
  walk->outer = rank > 0 ? rank - 1 : 0;
  walk->length = rank > 0 ? shape[rank - 1] : 1;
  walk->count = count;
  walk->shape = shape;
  for (int32_t i = 0; i < count; i++) {
    walk->strides[i] = strides[i];
    walk->step[i] = rank > 0 ? strides[i][rank - 1] : 0;
    walk->at[i] = 0;
  }
  for (int32_t i = 0; i < rank; i++) {
    walk->index[i] = 0;
    if (shape[i] == 0) {
      return false;
    }
  }
  return true;
}

bool nd4c_ref_walk_next(nd4c_ref_walk *walk) {
  for (int32_t axis = walk->outer - 1; axis >= 0; axis--) {
    bool more = ++walk->index[axis] < walk->shape[axis];
    for (int32_t i = 0; i < walk->count; i++) {
      walk->at[i] += more ? walk->strides[i][axis] : -walk->strides[i][axis] * (walk->shape[axis] - 1);
    }
    if (more) {
      return true;
    }
    walk->index[axis] = 0;
  }
  return false;
}
