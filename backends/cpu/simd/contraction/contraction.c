/* Products of engine simd in f32 and f64, any strides: matmul, its relatives, and sums of products of two operands over
 * named axes. dispatch/choice.c asks the own_* and near_* kernels before the libraries' and the others after them;
 * cpu/README.md lists which class of product goes where. */
#include "backends/cpu/simd/contraction/contraction_ways.h"
#include "backends/cpu/simd/simd.h"

/* Bytes of b that stay in the L1 cache (NEAREST); packed weights of LARGE bytes and more are read no faster.
 * Multiplications of one product up to which both operands are packed here with AVX2 (NEAR_PACKED), and up to which a
 * batch in f32 is computed here (NEAR_BATCH). */
enum { NEAREST_BYTES = 1 << 15, LARGE_BYTES = 1 << 24, NEAR_PACKED = 1 << 21, NEAR_BATCH = 1 << 18 };

static bool is_single(const nd4c_call *call) {
  return call->outputs[0].dtype == ND4C_FLOAT32;
}

static const nd4c_gemm_loops *loops_of(const nd4c_call *call) {
  return is_single(call) ? nd4c_simd.gemm->float32 : nd4c_simd.gemm->float64;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cpu_product p;
  const char *why = nd4c_cpu_product_read(call, &p);
  ND4C_CPU_DECLINE_IF(why != NULL, "%s", why);
  bool around = p.bias != NULL || p.addend.tensor != NULL || p.activation != ND4C_ACTIVATION_NONE;
  return !around || p.y.shape[p.rank - 1] == 1 || p.y.strides[p.rank - 1] == 1 ||
         nd4c_cpu_decline(reason, reason_size, "the result's rows have gaps");
}

/* The same with AVX2, where the libraries pack nothing once and call more slowly: batches of 8 x 8 take a
 * seventh of oneDNN's time here, products of 24 x 24 to 96 x 96 0.4 to 0.8. */
static const char *leave_avx2(const nd4c_cpu_product *p, nd4c_simd_way way, bool single, bool constant) {
  const double work = (double)p->m * (double)p->n * (double)p->k;
  if (constant && single && p->batch == 1 && work >= ND4C_PRODUCT_SMALL) {
    return "the right-hand side is constant: it is packed once";
  }
  if (way == ND4C_WAY_PACKED && work > NEAR_PACKED) {
    return "both operands have to be packed: the libraries do that as well";
  }
  return single && p->batch > 1 && work > NEAR_BATCH ? "oneDNN is as fast" : NULL;
}

/* Why a product that this engine can compute is left to the libraries; NULL if it is not. README.md has the rule.
 * Constant weights by columns that are read once stay here, too: the sums of the libraries are less exact. */
static const char *leave(const nd4c_cpu_product *given, bool single) {
  nd4c_cpu_product p = *given;
  const nd4c_simd_way chosen = nd4c_simd_product_choose(&p, single ? 4 : 8);
  const bool constant = (given->b.tensor->flags & ND4C_TENSOR_CONSTANT) != 0;
  double b_bytes = (double)p.k * (double)p.n * (single ? 4 : 8);
  if (nd4c_simd_level_is("avx2")) {
    return leave_avx2(given, chosen, single, constant);
  }
  if (!nd4c_simd_level_is("avx512")) {
    return "without AVX2 the libraries are as fast";
  }
  if (chosen == ND4C_WAY_PACKED) {
    return "both operands have to be packed: the libraries do that as well";
  }
  if (!single) {
    return NULL;
  }
  bool once = chosen == ND4C_WAY_DOT || chosen == ND4C_WAY_DOTS || (p.m == 1 && b_bytes >= LARGE_BYTES);
  if (constant && !once) {
    return "the right-hand side is constant: the libraries pack it once";
  }
  if ((chosen == ND4C_WAY_ROWS && p.m > 1) || (chosen == ND4C_WAY_DIRECT && (p.batch > 1 || b_bytes > NEAREST_BYTES))) {
    return "oneDNN is as fast";
  }
  return NULL;
}

/* Whether this engine computes a product before the libraries are asked. */
static bool preferred(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cpu_product p;
  if (!usable(call, reason, reason_size)) {
    return false;
  }
  nd4c_cpu_product_read(call, &p);
  const char *why = leave(&p, is_single(call));
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* Whether this engine computes a sum over named axes before OpenBLAS is asked: unless both operands are packed and
 * matrices are not small, which takes OpenBLAS less time. */
static bool near(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cpu_product p;
  if (!usable(call, reason, reason_size)) {
    return false;
  }
  nd4c_cpu_product_read(call, &p);
  return nd4c_simd_product_choose(&p, is_single(call) ? 4 : 8) != ND4C_WAY_PACKED ||
         p.m * p.n * p.k < ND4C_PRODUCT_SMALL ||
         nd4c_cpu_decline(reason, reason_size, "both operands have to be packed: OpenBLAS does that as well");
}

static int64_t scratch_bytes(const nd4c_call *call) {
  nd4c_cpu_product p;
  nd4c_cpu_product_read(call, &p);
  const int64_t bytes = is_single(call) ? 4 : 8;
  const nd4c_simd_way way = nd4c_simd_product_choose(&p, bytes);
  return nd4c_simd_product_scratch(&p, way, loops_of(call), bytes, call->width);
}

/* Pieces are added up in f64. */
static void total_single(const void *sums, int64_t count, bool adds, void *vy) {
  const float *from = sums;
  float *y = vy;
  double sum = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += (double)from[i];
  }
  *y = (float)(sum + (adds ? (double)*y : 0));
}

static void total_double(const void *sums, int64_t count, bool adds, void *vy) {
  const double *from = sums;
  double *y = vy, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    sum += from[i];
  }
  *y = sum + (adds ? *y : 0);
}

static nd4c_status run(const nd4c_call *call) {
  nd4c_simd_product j; /* not cleared: see nd4c_cpu_product_read */
  bool single = is_single(call);
  j.loops = loops_of(call);
  j.thin = single ? nd4c_simd.gemm->thin_float32 : nd4c_simd.gemm->thin_float64;
  j.a_bytes = j.b_bytes = j.y_bytes = single ? 4 : 8;
  j.total = single ? total_single : total_double;
  j.buffers = call->scratch;
  j.width = call->width;
  nd4c_cpu_product_read(call, &j.p); /* usable has seen that it can be read */
  j.adds = nd4c_cpu_product_start(&j.p, j.width);
  bool finishes = j.p.activation != ND4C_ACTIVATION_NONE;
  j.way = nd4c_simd_product_choose(&j.p, j.b_bytes);
  nd4c_simd_product_run(&j);
  if (finishes) {
    nd4c_cpu_product_read(call, &j.p); /* as it was before it was turned */
    nd4c_cpu_product_finish(&j.p, j.width);
  }
  return ND4C_OK;
}

#define KERNEL(op, name, priority, its_usable)                                                                         \
  ND4C_CPU_KERNEL("simd", op, name, priority, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), its_usable, \
                  run, .scratch_bytes = scratch_bytes)
#define PREFERRED(op) KERNEL(op, "own_" #op, ND4C_CPU_PRIORITY_ONEDNN + 2, preferred)
#define PLAIN(op) KERNEL(op, #op, ND4C_SIMD_PRIORITY, usable)
#define NEAR(op) KERNEL(op, "near_" #op, ND4C_CPU_PRIORITY_OPENBLAS + 2, near)

const nd4c_kernel *const nd4c_cpu_simd_contraction_kernels[] = {
    PREFERRED(matmul), PREFERRED(linear), PLAIN(matmul),    PLAIN(linear), PLAIN(vecdot),   PLAIN(matvec),
    PLAIN(vecmat),     NEAR(einsum),      NEAR(tensordot),  NEAR(inner),   NEAR(multi_dot), PLAIN(einsum),
    PLAIN(inner),      PLAIN(multi_dot),  PLAIN(tensordot), NULL};
