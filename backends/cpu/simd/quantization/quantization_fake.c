/* Engine simd: fake_quantize where many neighbours share their bounds: a thousand elements at once, as doubles that are
 * rounded once. dispatch/choice.c asks this kernel before the reference's. */
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "kernels/reference/quantization/quantization.h"

enum { PIECE = 1024, LEAST_RUN = 16, GRAIN = 8192 };

typedef struct fake_job {
  const nd4c_tensor *x, *y;
  nd4c_ref_tensor low, high; /* of x's shape: strides are 0 where they repeat */
  int32_t bits, outer_rank;  /* the axes of x before a run */
  bool narrow_range;
  int64_t run, pieces; /* elements of one pair of bounds; pieces of a run */
} fake_job;

/* Numbers beyond this are beyond every grid, too. */
static const double FAR = 0x1p20;
/* Added and taken away it leaves whole numbers, rounded to even. */
static const double WHOLE = 0x1.8p52;

static void quantize(const nd4c_ref_fake_grid *grid, int64_t n, const double *x, const double *quotients, double *y) {
  const double first = grid->first, last = grid->last, zero = grid->zero, scale = grid->scale;
  for (int64_t i = 0; i < n; i++) {
    const double near = quotients[i] < -FAR ? -FAR : quotients[i] > FAR ? FAR : quotients[i];
    const double step = near + WHOLE - WHOLE + zero;
    const double held = step < first ? first : step > last ? last : step;
    y[i] = x[i] != x[i] ? x[i] : (held - zero) * scale;
  }
}

static void pieces_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const fake_job *job = user;
  const int64_t bytes = nd4c_cpu_dtype_bytes(job->x->dtype);
  double numbers[PIECE], quotients[PIECE];
  (void)worker;
  for (int64_t k = begin; k < end; k++) {
    const int64_t run = k / job->pieces, at = k % job->pieces * PIECE, from = (run * job->run + at) * bytes;
    const int64_t n = job->run - at < PIECE ? job->run - at : PIECE;
    const double low = nd4c_ref_load(&job->low, nd4c_ref_offset(&job->low, job->outer_rank, job->x->shape, run));
    const double high = nd4c_ref_load(&job->high, nd4c_ref_offset(&job->high, job->outer_rank, job->x->shape, run));
    const nd4c_ref_fake_grid grid = nd4c_ref_fake_grid_of(low, high, job->bits, job->narrow_range);
    nd4c_simd.cast->loops[job->x->dtype][ND4C_FLOAT64](n, (const char *)job->x->data + from, numbers);
    if (grid.scale > 0) {
      nd4c_simd.binary->loops[ND4C_BINARY_divide][ND4C_FLOAT64].first(n, numbers, &grid.scale, quotients);
      quantize(&grid, n, numbers, quotients, numbers);
    } else {
      for (int64_t i = 0; i < n; i++) {
        numbers[i] = isnan(numbers[i]) ? numbers[i] : 0;
      }
    }
    nd4c_simd.cast->loops[ND4C_FLOAT64][job->y->dtype](n, numbers, (char *)job->y->data + from);
  }
}

/* The axes before the last ones over which both bounds repeat; *run gets the elements of those. */
static int32_t outer_axes(const nd4c_call *call, int64_t *low, int64_t *high, int64_t *run) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t rank = x->rank;
  nd4c_cpu_broadcast_strides(&call->inputs[ND4C_IN_fake_quantize_low], x, low);
  nd4c_cpu_broadcast_strides(&call->inputs[ND4C_IN_fake_quantize_high], x, high);
  for (*run = 1; rank > 0 && (x->shape[rank - 1] == 1 || (low[rank - 1] == 0 && high[rank - 1] == 0)); rank--) {
    *run *= x->shape[rank - 1];
  }
  return rank;
}

static nd4c_status run_fake_quantize(const nd4c_call *call) {
  int64_t low[ND4C_CPU_MAX_RANK], high[ND4C_CPU_MAX_RANK];
  fake_job job = {.x = &call->inputs[0],
                  .y = &call->outputs[0],
                  .low = nd4c_cpu_ref_input(call, ND4C_IN_fake_quantize_low),
                  .high = nd4c_cpu_ref_input(call, ND4C_IN_fake_quantize_high),
                  .bits = (int32_t)ND4C_INT_OF(call, fake_quantize_bits),
                  .narrow_range = ND4C_FLAG_OF(call, fake_quantize_narrow_range)};
  job.outer_rank = outer_axes(call, low, high, &job.run);
  job.low.rank = job.high.rank = job.outer_rank;
  job.low.shape = job.high.shape = job.x->shape;
  job.low.strides = low;
  job.high.strides = high;
  if (job.x->size == 0) {
    return ND4C_OK;
  }
  job.pieces = nd4c_cpu_divide_up(job.run, PIECE);
  const int64_t each = job.run < PIECE ? job.run : PIECE;
  nd4c_cpu_parallel(job.x->size / job.run * job.pieces, GRAIN / each + 1, call->width, pieces_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t low[ND4C_CPU_MAX_RANK], high[ND4C_CPU_MAX_RANK], run;
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(x) || !nd4c_in_c_order(&call->outputs[0]), "not in C order");
  ND4C_CPU_DECLINE_IF(outer_axes(call, low, high, &run) > 0 && run < LEAST_RUN,
                      "fewer than %d neighbours share their bounds", LEAST_RUN);
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_quantization_fake_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(fake_quantize, ND4C_CPU_FLOATS, usable, run_fake_quantize), NULL};
