/* Products of quantised numbers (quantization.h). backends/cpu/reference/quantization_product.c calls these. */
#include "kernels/reference/quantization/quantization.h"
#include "kernels/reference/window/cells.h"

static inline int32_t byte_at(const nd4c_ref_tensor *tensor, int64_t offset) {
  return tensor->dtype == ND4C_INT8 ? ((const int8_t *)tensor->data)[offset] : ((const uint8_t *)tensor->data)[offset];
}

void nd4c_ref_widen(const nd4c_ref_bytes *bytes, int16_t *to) {
  for (int64_t row = 0; row < bytes->rows; row++) {
    int64_t offset = bytes->offset + row * bytes->row_stride;
    for (int64_t column = 0; column < bytes->columns; column++) {
      int32_t zero = bytes->zeros[bytes->by_row ? row : column];
      *to++ = (int16_t)(byte_at(&bytes->tensor, offset + column * bytes->column_stride) - zero);
    }
  }
}

void nd4c_ref_unfold(const nd4c_ref_tensor *x, const nd4c_ref_window *window, const int64_t *output, int64_t offset,
                     int64_t channels, int32_t zero, int16_t *to) {
  int64_t cells = nd4c_ref_window_cells(window), positions = 1;
  for (int32_t i = 0; i < window->spatial; i++) {
    positions *= output[i];
  }
  for (int64_t row = 0; row < channels * cells; row++) {
    int64_t from = offset + row / cells * x->strides[1];
    for (int64_t position = 0; position < positions; position++) {
      int64_t at[3] = {0}, cell_at[3], rest = position;
      for (int32_t i = window->spatial - 1; i >= 0; i--) {
        at[i] = rest % output[i];
        rest /= output[i];
      }
      bool inside = nd4c_ref_window_cell(window, at, row % cells, cell_at) == ND4C_REF_INSIDE;
      *to++ = (int16_t)(inside ? byte_at(x, from + nd4c_ref_spatial_offset(x, cell_at)) - zero : 0);
    }
  }
}

enum { COLUMNS = 512 };

/* Four rows of b at a time for COLUMNS columns of c, which stay in the first cache; the inner loop vectorises. */
static void add_rows(int64_t n, int64_t stride, int64_t rows, const int16_t *a, const int16_t *b,
                     uint32_t *restrict c) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const int16_t *b0 = b + r * stride, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
    int32_t a0 = a[r], a1 = a[r + 1], a2 = a[r + 2], a3 = a[r + 3];
    for (int64_t j = 0; j < n; j++) {
      c[j] += (uint32_t)(a0 * b0[j]) + (uint32_t)(a1 * b1[j]) + (uint32_t)(a2 * b2[j]) + (uint32_t)(a3 * b3[j]);
    }
  }
  for (; r < rows; r++) {
    for (int64_t j = 0; j < n; j++) {
      c[j] += (uint32_t)(a[r] * b[r * stride + j]);
    }
  }
}

void nd4c_ref_int16_product(int64_t n, int64_t k, const int16_t *a, const int16_t *b, int32_t *c, int64_t begin,
                            int64_t end) {
  for (int64_t i = begin; i < end; i++) {
    for (int64_t j = 0; j < n; j += COLUMNS) {
      uint32_t sums[COLUMNS] = {0};
      int64_t count = n - j < COLUMNS ? n - j : COLUMNS;
      add_rows(count, n, k, a + i * k, b + j, sums);
      for (int64_t column = 0; column < count; column++) {
        c[i * n + j + column] = (int32_t)sums[column];
      }
    }
  }
}

void nd4c_ref_matmul_nbits(const nd4c_ref_nbits *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *a = &args->a, *b = &args->b, *y = &args->y;
  int64_t columns = b->shape[0], k = b->shape[1];
  nd4c_ref_tensor rows = *a;
  rows.rank = a->rank - 1;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t column = flat % columns, row = nd4c_ref_offset(&rows, rows.rank, rows.shape, flat / columns);
    double sum = args->bias.data != NULL ? nd4c_ref_load(&args->bias, column * args->bias.strides[0]) : 0;
    for (int64_t from = 0; from < k; from += args->block) {
      int64_t block = from / args->block, to = from + args->block < k ? from + args->block : k;
      double zero = 0, part = 0;
      if (args->zero_point.data != NULL) {
        const nd4c_ref_tensor *z = &args->zero_point;
        zero = nd4c_ref_real(z, column * z->strides[0] + block * z->strides[1]);
      }
      for (int64_t i = from; i < to; i++) {
        double weight = nd4c_ref_real(b, column * b->strides[0] + i * b->strides[1]);
        part += nd4c_ref_load(a, row + i * a->strides[a->rank - 1]) * (weight - zero);
      }
      sum += part * nd4c_ref_load(&args->scale, column * args->scale.strides[0] + block * args->scale.strides[1]);
    }
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), sum);
  }
}
