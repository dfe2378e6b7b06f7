/* Engine reference: matmul whose second operand is a matrix in quantised blocks. Each block is decoded where it is
 * used; the matrix is never decoded as a whole. Sums run along k in double. dispatch/choice.c asks this kernel for
 * operands that are still encoded. */
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "nd4c/plugin/blocks.h"

/* Rows that use a decoded block before it is forgotten. */
enum { ROWS = 16 };

typedef struct job {
  const nd4c_tensor *a, *y;
  const nd4c_block_format *format;
  const unsigned char *blocks;
  int64_t rows, n, k; /* rows of all matrices of the batch */
  bool turned;        /* blocks lie along k: b is a transposed matrix [n, k] */
} job;

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1];
  ND4C_CPU_DECLINE_IF(b->layout != ND4C_LAYOUT_QUANTISED, "b is not in quantised blocks");
  ND4C_CPU_DECLINE_IF(nd4c_block_format_find(b->arrangement->format) == NULL,
                      "blocks of another format than q8_0 and q4_0");
  ND4C_CPU_DECLINE_IF(a->layout != ND4C_LAYOUT_STRIDED || b->rank != 2 || a->rank < 2,
                      "a is in blocks or has one axis, or b is no matrix");
  return a->dtype == ND4C_FLOAT32 || nd4c_cpu_decline(reason, reason_size, "a is not float32");
}

/* Element 0 of a row, which is counted over all matrices. */
static float *row_of(const nd4c_tensor *x, int64_t row) {
  int64_t offset = 0;
  for (int32_t axis = x->rank - 2; axis >= 0; axis--) {
    offset += row % x->shape[axis] * x->strides[axis];
    row /= x->shape[axis];
  }
  return (float *)x->data + offset;
}

/* Columns first to first + block's elements of some rows, where blocks lie along n. */
static void along_columns(const job *j, int64_t block, int64_t first_row, int64_t count) {
  double sums[ROWS][ND4C_BLOCK_ELEMENTS] = {{0}};
  float part[ND4C_BLOCK_ELEMENTS];
  const int32_t width = j->format->elements;
  const int64_t blocks = j->n / width, step_a = j->a->strides[j->a->rank - 1], step_y = j->y->strides[j->y->rank - 1];
  for (int64_t k = 0; k < j->k; k++) {
    j->format->decode(j->blocks + (k * blocks + block) * j->format->bytes, part);
    for (int64_t r = 0; r < count; r++) {
      const double factor = (double)row_of(j->a, first_row + r)[k * step_a];
      for (int32_t c = 0; c < width; c++) {
        sums[r][c] += factor * (double)part[c];
      }
    }
  }
  for (int64_t r = 0; r < count; r++) {
    float *y = row_of(j->y, first_row + r) + block * width * step_y;
    for (int32_t c = 0; c < width; c++) {
      y[c * step_y] = (float)sums[r][c];
    }
  }
}

/* One column of some rows, where blocks lie along k. */
static void along_depth(const job *j, int64_t column, int64_t first_row, int64_t count) {
  double sums[ROWS] = {0};
  float part[ND4C_BLOCK_ELEMENTS];
  const int32_t width = j->format->elements;
  const int64_t blocks = j->k / width, step_a = j->a->strides[j->a->rank - 1];
  for (int64_t block = 0; block < blocks; block++) {
    j->format->decode(j->blocks + (column * blocks + block) * j->format->bytes, part);
    for (int64_t r = 0; r < count; r++) {
      const float *a = row_of(j->a, first_row + r) + block * width * step_a;
      for (int32_t c = 0; c < width; c++) {
        sums[r] += (double)a[c * step_a] * (double)part[c];
      }
    }
  }
  for (int64_t r = 0; r < count; r++) {
    row_of(j->y, first_row + r)[column * j->y->strides[j->y->rank - 1]] = (float)sums[r];
  }
}

static void range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t item = begin; item < end; item++) {
    for (int64_t row = 0; row < j->rows; row += ROWS) {
      const int64_t count = j->rows - row < ROWS ? j->rows - row : ROWS;
      (j->turned ? along_depth : along_columns)(j, item, row, count);
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1], *y = &call->outputs[0];
  job j = {.a = a,
           .y = y,
           .format = nd4c_block_format_find(b->arrangement->format),
           .blocks = b->data,
           .n = b->shape[1],
           .k = b->shape[0],
           .turned = b->strides[0] == 1 && b->strides[1] != 1};
  j.rows = j.n > 0 ? y->size / j.n : 0;
  const int64_t items = j.turned ? j.n : j.n / j.format->elements;
  const int64_t work = j.rows * j.k * (j.turned ? 1 : j.format->elements);
  nd4c_cpu_parallel(items, nd4c_cpu_grain(work), call->width, range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_reference_quantization_blocks_kernels[] = {
    ND4C_CPU_KERNEL("reference", matmul, "matmul_blocks", 0, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable, run,
                    .flags = ND4C_KERNEL_READS_QUANTISED),
    NULL};
