/* Runs of strided elements and walks over them (runs.h). The reference kernels of statistics, sorting, signal and
 * indexing call these. */
#include "kernels/reference/support/runs.h"

/* -- numbers ------------------------------------------------------------------------------------------------------- */

enum { VALUES = 64 };

/* Runs of float32 and float64 are what most calls have. Memory from outside need not be aligned: every access is a
 * memcpy. */
#define READ_FLOATS(type)                                                  \
  for (int64_t i = 0; i < count; i++) {                                    \
    type x;                                                                \
    memcpy(&x, data + (start + i * stride) * (int64_t)sizeof x, sizeof x); \
    to[i] = (double)x;                                                     \
  }
#define WRITE_FLOATS(type)                                                 \
  for (int64_t i = 0; i < count; i++) {                                    \
    type x = (type)from[i];                                                \
    memcpy(data + (start + i * stride) * (int64_t)sizeof x, &x, sizeof x); \
  }

void nd4c_ref_read_doubles(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                           double *to) {
  nd4c_dtype_kind kind = nd4c_reference_kind(dtype);
  nd4c_value values[VALUES];
  if (dtype == ND4C_FLOAT32) {
    READ_FLOATS(float)
    return;
  }
  if (dtype == ND4C_FLOAT64) {
    READ_FLOATS(double)
    return;
  }
  for (int64_t done = 0; done < count; done += VALUES) {
    int64_t part = count - done < VALUES ? count - done : VALUES;
    nd4c_values_load(dtype, data, start + done * stride, stride, part, values);
    for (int64_t i = 0; i < part; i++) {
      *to++ = nd4c_value_as_double(kind, values[i]);
      if (kind == ND4C_KIND_COMPLEX) {
        *to++ = cimag(values[i].c);
      }
    }
  }
}

void nd4c_ref_write_doubles(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                            const double *from) {
  nd4c_dtype_kind kind = nd4c_reference_kind(dtype);
  nd4c_value values[VALUES];
  if (dtype == ND4C_FLOAT32) {
    WRITE_FLOATS(float)
    return;
  }
  if (dtype == ND4C_FLOAT64) {
    WRITE_FLOATS(double)
    return;
  }
  for (int64_t done = 0; done < count; done += VALUES) {
    int64_t part = count - done < VALUES ? count - done : VALUES;
    for (int64_t i = 0; i < part; i++, from++) {
      values[i] = (nd4c_value){.f = *from};
      if (kind == ND4C_KIND_COMPLEX) {
        values[i].c = nd4c_complex_make(from[0], from[1]), from++;
      } else if (kind != ND4C_KIND_FLOAT) {
        values[i].i = (int64_t)*from;
      }
    }
    nd4c_values_store(dtype, data, start + done * stride, stride, part, values);
  }
}

void nd4c_ref_read_words(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count,
                         uint64_t *to) {
  nd4c_value values[VALUES];
  for (int64_t done = 0; done < count; done += VALUES) {
    int64_t part = count - done < VALUES ? count - done : VALUES;
    nd4c_values_load(dtype, data, start + done * stride, stride, part, values);
    for (int64_t i = 0; i < part; i++) {
      *to++ = values[i].u;
    }
  }
}

void nd4c_ref_write_words(nd4c_dtype dtype, char *data, int64_t start, int64_t stride, int64_t count,
                          const uint64_t *from) {
  nd4c_value values[VALUES];
  for (int64_t done = 0; done < count; done += VALUES) {
    int64_t part = count - done < VALUES ? count - done : VALUES;
    for (int64_t i = 0; i < part; i++) {
      values[i].u = *from++;
    }
    nd4c_values_store(dtype, data, start + done * stride, stride, part, values);
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
