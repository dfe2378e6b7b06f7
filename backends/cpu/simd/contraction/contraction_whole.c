/* Products of whole numbers on engine simd: matmul, its relatives, and sums of products of two operands over named
 * axes. Results wrap, as the reference's do. dispatch/choice.c asks these kernels before the reference's.
 *
 * Bytes are multiplied as numbers of 16 bits. Operands that are read once are read as they are; others are widened in
 * scratch. */
#include "backends/cpu/simd/contraction/contraction_ways.h"
#include "backends/cpu/simd/simd.h"

enum { WIDE = sizeof(uint16_t), GRAIN = 1 << 14, PIECE = 1 << 12, ALIGNMENT = 64 };

/* -- bytes as numbers of 16 bits -------------------------------------------------------------------------------- */

/* One operand and its copy of 16 bits. Both are read and written in lines along the axis `inner`, which has no gaps in
 * the copy, or in pieces if the operand has no gaps at all. */
typedef struct wide_copy {
  nd4c_tensor tensor;
  nd4c_cpu_matrices narrow;
  nd4c_cpu_matrices wide;
  int32_t rank, inner, outer;
  bool dense;
  int64_t size;
} wide_copy;

static void lay_out(int32_t rank, const nd4c_cpu_matrices *x, wide_copy *copy) {
  const bool by_columns = x->strides[rank - 1] != 1 && x->strides[rank - 2] == 1;
  copy->rank = rank;
  copy->inner = by_columns ? rank - 2 : rank - 1;
  copy->outer = by_columns ? rank - 1 : rank - 2;
  copy->narrow = *x;
  copy->wide = *x;
  copy->wide.strides[copy->inner] = 1;
  copy->wide.strides[copy->outer] = x->shape[copy->inner];
  copy->size = x->shape[rank - 1] * x->shape[rank - 2];
  for (int32_t axis = rank - 3; axis >= 0; axis--) {
    copy->wide.strides[axis] = x->shape[axis] == 1 ? 0 : copy->size;
    copy->size *= x->shape[axis];
  }
  copy->dense = true;
  for (int32_t axis = 0; axis < rank; axis++) {
    copy->dense = copy->dense && (x->shape[axis] == 1 || x->strides[axis] == copy->wide.strides[axis]);
  }
}

static int64_t padded_bytes(const wide_copy *copy) {
  return nd4c_cpu_divide_up(copy->size * WIDE, ALIGNMENT) * ALIGNMENT;
}

/* Puts the operand's copy where `x` is, at `*scratch`, which moves behind it. */
static void replace(int32_t rank, nd4c_cpu_matrices *x, wide_copy *copy, char **scratch) {
  lay_out(rank, x, copy);
  copy->tensor = *x->tensor;
  copy->tensor.data = *scratch;
  *scratch += padded_bytes(copy);
  *x = copy->wide;
  x->tensor = &copy->tensor;
}

static int64_t copy_bytes(int32_t rank, const nd4c_cpu_matrices *x) {
  wide_copy copy;
  lay_out(rank, x, &copy);
  return padded_bytes(&copy);
}

/* A line or piece: where it lies in the operand and in the copy. */
typedef struct line {
  uint8_t *narrow;
  uint16_t *wide;
  int64_t length, step; /* step: from element to element of the operand */
} line;

static line line_at(const wide_copy *copy, int64_t index) {
  line found = {(uint8_t *)copy->narrow.tensor->data, (uint16_t *)copy->tensor.data, PIECE, 1};
  if (copy->dense) {
    const int64_t first = index * PIECE, left = copy->size - first;
    found.narrow += first;
    found.wide += first;
    found.length = left < PIECE ? left : PIECE;
    return found;
  }
  found.length = copy->wide.shape[copy->inner];
  found.step = copy->narrow.strides[copy->inner];
  found.wide += index * found.length;
  found.narrow += index % copy->wide.shape[copy->outer] * copy->narrow.strides[copy->outer];
  index /= copy->wide.shape[copy->outer];
  for (int32_t axis = copy->rank - 3; axis >= 0; axis--) {
    found.narrow += index % copy->wide.shape[axis] * copy->narrow.strides[axis];
    index /= copy->wide.shape[axis];
  }
  return found;
}

static void widen_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    const line at = line_at(user, index);
    nd4c_simd.whole->widen(at.length, at.narrow, at.step, at.wide);
  }
}

static void narrow_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    const line at = line_at(user, index);
    nd4c_simd.whole->narrow(at.length, at.wide, at.step, at.narrow);
  }
}

static void convert(wide_copy *copy, nd4c_range_function range, int32_t width) {
  const int64_t length = copy->dense ? PIECE : copy->wide.shape[copy->inner];
  nd4c_cpu_parallel(nd4c_cpu_divide_up(copy->size, length), GRAIN / length + 1, width, range, copy);
}

/* Whether a, or b, is widened. */
static bool widens_a(nd4c_simd_way way) {
  return way != ND4C_WAY_DOT;
}
static bool widens_b(nd4c_simd_way way) {
  return way >= ND4C_WAY_DIRECT;
}

/* -- calls ------------------------------------------------------------------------------------------------------ */

static int64_t bytes_of(const nd4c_call *call) {
  return nd4c_cpu_dtype_bytes(call->outputs[0].dtype);
}

static const nd4c_gemm_loops *loops_of(const nd4c_call *call) {
  const int64_t bytes = bytes_of(call);
  return nd4c_simd.whole->loops[bytes == 1 ? WIDE : bytes];
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cpu_product p;
  const char *why = nd4c_cpu_product_read(call, &p);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

static int64_t scratch_bytes(const nd4c_call *call) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p); /* usable has seen that it can be read */
  const int64_t bytes = bytes_of(call);
  const nd4c_simd_way way = nd4c_simd_product_choose(&p, bytes);
  int64_t copies = 0;
  if (bytes == 1) {
    copies = copy_bytes(p.rank, &p.y) + (widens_a(way) ? copy_bytes(p.rank, &p.a) : 0) +
             (widens_b(way) ? copy_bytes(p.rank, &p.b) : 0);
  }
  return copies + nd4c_simd_product_scratch(&p, way, loops_of(call), bytes == 1 ? WIDE : bytes, call->width);
}

#define TOTAL(type)                                                               \
  static void total_##type(const void *sums, int64_t count, bool adds, void *y) { \
    type sum = 0;                                                                 \
    (void)adds; /* nothing is added to these products */                          \
    for (int64_t i = 0; i < count; i++) {                                         \
      sum = (type)(sum + ((const type *)sums)[i]);                                \
    }                                                                             \
    *(type *)y = sum;                                                             \
  }
TOTAL(uint16_t)
TOTAL(uint32_t)
TOTAL(uint64_t)

static void run_bytes(nd4c_simd_product *j) {
  wide_copy a, b, y;
  nd4c_thin_loops thin = *j->thin;
  thin.dot = nd4c_simd.whole->dot_bytes;
  j->thin = &thin;
  replace(j->p.rank, &j->p.y, &y, &j->buffers);
  j->y_bytes = WIDE;
  if (widens_a(j->way)) {
    replace(j->p.rank, &j->p.a, &a, &j->buffers);
    convert(&a, widen_range, j->width);
    j->a_bytes = WIDE;
  }
  if (widens_b(j->way)) {
    replace(j->p.rank, &j->p.b, &b, &j->buffers);
    convert(&b, widen_range, j->width);
    j->b_bytes = WIDE;
  }
  nd4c_simd_product_run(j);
  convert(&y, narrow_range, j->width);
}

static nd4c_status run(const nd4c_call *call) {
  nd4c_simd_product j; /* not cleared: see nd4c_cpu_product_read */
  const int64_t bytes = bytes_of(call);
  j.loops = loops_of(call);
  j.thin = nd4c_simd.whole->thin[bytes];
  j.a_bytes = j.b_bytes = j.y_bytes = bytes;
  j.adds = false;
  j.total = bytes == 8 ? total_uint64_t : bytes == 4 ? total_uint32_t : total_uint16_t;
  j.buffers = call->scratch;
  j.width = call->width;
  nd4c_cpu_product_read(call, &j.p); /* usable has seen that it can be read */
  j.way = nd4c_simd_product_choose(&j.p, bytes);
  if (bytes == 1) {
    run_bytes(&j);
  } else {
    nd4c_simd_product_run(&j);
  }
  return ND4C_OK;
}

#define KERNEL(op)                                                                          \
  ND4C_CPU_KERNEL("simd", op, "whole_" #op, ND4C_SIMD_PRIORITY, ND4C_CPU_INTS, usable, run, \
                  .scratch_bytes = scratch_bytes)

const nd4c_kernel *const nd4c_cpu_simd_contraction_whole_kernels[] = {
    KERNEL(matmul), KERNEL(vecdot),    KERNEL(matvec),
    KERNEL(vecmat), KERNEL(inner),     KERNEL(tensordot),
    KERNEL(einsum), KERNEL(multi_dot), NULL};
