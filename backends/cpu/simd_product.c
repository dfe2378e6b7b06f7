/* matmul and linear of engine simd: f32 and f64, any strides. */
#include "backends/cpu/product.h"
#include "backends/cpu/simd.h"

typedef struct job {
  nd4c_cpu_product p;
  const nd4c_gemm_loops *loops;
  int64_t bytes;
  bool adds;
  int64_t rows, columns; /* of a tile */
  int64_t row_tiles, column_tiles;
  char *buffers;
} job;

static const nd4c_gemm_loops *loops_of(const nd4c_call *call) {
  return call->outputs[0].dtype == ND4C_FLOAT32 ? nd4c_simd.gemm->float32 : nd4c_simd.gemm->float64;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cpu_product p;
  const char *why = nd4c_cpu_product_read(call, &p);
  if (why != NULL) {
    return nd4c_cpu_decline(reason, reason_size, "%s", why);
  }
  bool around = p.bias != NULL || p.addend.tensor != NULL || p.activation != ND4C_ACTIVATION_NONE;
  return !around || p.y.shape[p.rank - 1] == 1 || p.y.strides[p.rank - 1] == 1 ||
         nd4c_cpu_decline(reason, reason_size, "the result's rows have gaps");
}

static int64_t buffer_bytes(const nd4c_gemm_loops *loops) {
  return (loops->buffer_bytes + 63) & ~(int64_t)63;
}

/* Packing would take longer than the product. */
static bool is_small(const nd4c_cpu_product *p, const nd4c_gemm_loops *loops) {
  enum { ELEMENTS = 1024 };
  int32_t column = p->rank - 1;
  bool without_gaps = p->n == 1 || (p->b.strides[column] == 1 && p->y.strides[column] == 1);
  return without_gaps && p->k <= loops->small_depth && p->m <= ELEMENTS && p->n <= ELEMENTS &&
         p->m * p->n <= ELEMENTS && p->k * p->n <= ELEMENTS;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p);
  if (is_small(&p, loops_of(call))) {
    return 0;
  }
  return (call->width > 1 ? call->width : 1) * buffer_bytes(loops_of(call));
}

static nd4c_gemm_matrix matrix_of(const job *j, const nd4c_cpu_matrices *x, int64_t index) {
  int32_t row = j->p.rank - 2;
  nd4c_gemm_matrix result = {.row_stride = x->strides[row], .column_stride = x->strides[row + 1]};
  if (x->shape[row + 1] == 1) {
    result.column_stride = 1;
  }
  result.data = (char *)x->tensor->data + nd4c_cpu_matrices_offset(&j->p, x, index) * j->bytes;
  return result;
}

static void tile_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  void *buffer = j->buffers + worker * buffer_bytes(j->loops);
  for (int64_t tile = begin; tile < end; tile++) {
    int64_t column = tile % j->column_tiles * j->columns;
    int64_t row = tile / j->column_tiles % j->row_tiles * j->rows;
    int64_t index = tile / j->column_tiles / j->row_tiles;
    int64_t rows = j->p.m - row < j->rows ? j->p.m - row : j->rows;
    int64_t columns = j->p.n - column < j->columns ? j->p.n - column : j->columns;
    nd4c_gemm_matrix a = matrix_of(j, &j->p.a, index), b = matrix_of(j, &j->p.b, index);
    nd4c_gemm_matrix y = matrix_of(j, &j->p.y, index);
    a.data += row * a.row_stride * j->bytes;
    b.data += column * b.column_stride * j->bytes;
    y.data += (row * y.row_stride + column * y.column_stride) * j->bytes;
    j->loops->multiply(rows, columns, j->p.k, a, b, y, j->adds, buffer);
  }
}

/* Halves tiles, first their columns, while there are fewer than workers want. Extents stay multiples of what the
 * innermost loop takes, so that how an element is computed does not depend on the width. */
static void cut_tiles(job *j, int32_t width) {
  j->rows = j->loops->tile_rows;
  j->columns = j->loops->tile_columns;
  for (;;) {
    j->row_tiles = (j->p.m + j->rows - 1) / j->rows;
    j->column_tiles = (j->p.n + j->columns - 1) / j->columns;
    bool few = j->p.batch * j->row_tiles * j->column_tiles < 2 * width;
    if (few && j->p.n > j->columns / 2 && j->columns > 64) {
      j->columns /= 2;
    } else if (few && j->p.m > j->rows / 2 && j->rows > j->loops->tile_rows / 8) {
      j->rows /= 2;
    } else {
      return;
    }
  }
}

/* One small matrix after another; the whole of most calls is shorter than asking for workers. */
static void small_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    j->loops->small(j->p.m, j->p.n, j->p.k, matrix_of(j, &j->p.a, index), matrix_of(j, &j->p.b, index),
                    matrix_of(j, &j->p.y, index), j->adds);
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j; /* not cleared: see nd4c_cpu_product_read */
  j.loops = loops_of(call);
  j.bytes = call->outputs[0].dtype == ND4C_FLOAT32 ? 4 : 8;
  j.buffers = call->scratch;
  nd4c_cpu_product_read(call, &j.p); /* usable has seen that it can be read */
  int64_t work = j.p.batch * j.p.m * j.p.n * j.p.k;
  int32_t width = work < 32768 ? 1 : call->width;
  j.adds = nd4c_cpu_product_start(&j.p, width);
  if (is_small(&j.p, j.loops)) {
    nd4c_cpu_host->parallel_for(j.p.batch, 32768 / (j.p.m * j.p.n * j.p.k) + 1, width, small_range, &j);
  } else {
    cut_tiles(&j, width);
    nd4c_cpu_host->parallel_for(j.p.batch * j.row_tiles * j.column_tiles, 1, width, tile_range, &j);
  }
  nd4c_cpu_product_finish(&j.p, width);
  return ND4C_OK;
}

#define KERNEL(op_name)                                                                          \
  {                                                                                              \
    .struct_size = ND4C_SIZE_OF(nd4c_kernel), .op_version = 1, .op = #op_name, .engine = "simd", \
    .name = "simd." #op_name, .priority = ND4C_SIMD_PRIORITY,                                    \
    .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), .usable = usable,     \
    .scratch_bytes = scratch_bytes, .run = run                                                   \
  }
static const nd4c_kernel simd_matmul = KERNEL(matmul);
static const nd4c_kernel simd_linear = KERNEL(linear);

const nd4c_kernel *const nd4c_cpu_simd_product_kernels[] = {&simd_matmul, &simd_linear, NULL};
