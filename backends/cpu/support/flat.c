/* Implements flat.h. */
#include "backends/cpu/support/flat.h"

void nd4c_simd_flat_make(nd4c_simd_flat *flat, const nd4c_tensor *tensor, const nd4c_tensor *as) {
  int64_t strides[ND4C_CPU_MAX_RANK];
  nd4c_cpu_broadcast_strides(tensor, as, strides);
  *flat = (nd4c_simd_flat){.data = tensor->data, .bytes = nd4c_cpu_dtype_bytes(tensor->dtype)};
  for (int32_t axis = 0; axis < as->rank; axis++) {
    const int32_t last = flat->rank - 1;
    const int64_t length = as->shape[axis];
    if (length == 1) {
      continue;
    }
    if (last >= 0 && flat->strides[last] == strides[axis] * length) {
      flat->shape[last] *= length;
      flat->strides[last] = strides[axis];
    } else {
      flat->shape[flat->rank] = length;
      flat->strides[flat->rank++] = strides[axis];
    }
  }
  if (flat->rank == 0) {
    flat->rank = 1;
    flat->shape[0] = flat->strides[0] = 1;
  }
  flat->dense = flat->rank == 1 && flat->strides[0] == 1;
}

/* Moves n elements from `from` on between their places and a buffer. */
static void move(const nd4c_simd_flat *flat, int64_t from, int64_t n, const char *made, char *buffer) {
  const int32_t last = flat->rank - 1;
  const int64_t stride = flat->strides[last];
  for (int64_t done = 0, count = 0; done < n; done += count) {
    int64_t index = from + done, column = index % flat->shape[last], offset = column * stride;
    index /= flat->shape[last];
    for (int32_t axis = last - 1; axis >= 0; axis--) {
      offset += index % flat->shape[axis] * flat->strides[axis];
      index /= flat->shape[axis];
    }
    count = flat->shape[last] - column < n - done ? flat->shape[last] - column : n - done;
    char *own = flat->data + offset * flat->bytes;
    if (made != NULL) {
      nd4c_simd.move->move[flat->bytes](1, count, made + done * flat->bytes, 0, 1, own, 0, stride);
    } else {
      nd4c_simd.move->move[flat->bytes](1, count, own, 0, stride, buffer + done * flat->bytes, 0, 1);
    }
  }
}

const char *nd4c_simd_flat_read(const nd4c_simd_flat *flat, int64_t from, int64_t n, char *buffer) {
  if (flat->dense) {
    return flat->data + from * flat->bytes;
  }
  move(flat, from, n, NULL, buffer);
  return buffer;
}

char *nd4c_simd_flat_place(const nd4c_simd_flat *flat, int64_t from, bool stream, char *buffer) {
  return flat->dense && !stream ? flat->data + from * flat->bytes : buffer;
}

void nd4c_simd_flat_write(const nd4c_simd_flat *flat, int64_t from, int64_t n, bool stream, const char *made) {
  if (!flat->dense) {
    move(flat, from, n, made, NULL);
  } else if (stream) {
    nd4c_simd.move->stream(n * flat->bytes, made, flat->data + from * flat->bytes);
  }
}
