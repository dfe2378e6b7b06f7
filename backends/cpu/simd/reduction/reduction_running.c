/* Engine simd: cumulative_logsumexp. Lines are computed in pieces, whose exponentials are relative to the largest
 * element so far. dispatch/choice.c asks this kernel before the reference's. */
#include <math.h>

#include "backends/cpu/simd/rows.h"

enum { PIECE = 512, RANGE = 600 /* of exponents whose exponentials keep all digits */ };

typedef struct running_job {
  nd4c_simd_rows rows;
  const char *x;
  char *y;
  nd4c_dtype dtype;
  int32_t bytes;
  bool exclusive;
  int64_t length, x_step, y_step; /* elements along the axis, and strides in the direction of the sum */
} running_job;

/* The largest element so far, and the sum of the exponentials relative to it. */
typedef struct running {
  double largest, sum;
} running;

/* One element after the other, for infinities, NaN and pieces of a wide range. */
static void take_one_by_one(running *r, int64_t n, double *x) {
  for (int64_t i = 0; i < n; i++) {
    if (x[i] == r->largest) { /* also for equal infinities, whose difference is NaN */
      r->sum++;
    } else if (x[i] > r->largest || x[i] != x[i]) {
      r->sum = r->largest == -INFINITY ? 1 : r->sum * exp(r->largest - x[i]) + 1;
      r->largest = x[i];
    } else if (r->largest != INFINITY) {
      r->sum += exp(x[i] - r->largest);
    }
    x[i] = isinf(r->largest) ? r->largest : r->largest + log(r->sum);
  }
}

/* n <= PIECE elements become results. */
static void take_piece(running *r, int64_t n, double *x) {
  double largest = r->largest, least = INFINITY, off = 0;
  for (int64_t i = 0; i < n; i++) {
    largest = x[i] > largest ? x[i] : largest;
    least = x[i] < least ? x[i] : least;
    off += x[i] - x[i];
  }
  if (off != 0 || !(largest - least < RANGE) || !isfinite(largest)) {
    take_one_by_one(r, n, x);
    return;
  }
  double sum = r->sum * exp(r->largest - largest);
  for (int64_t i = 0; i < n; i++) {
    x[i] -= largest;
  }
  nd4c_simd.unary->loops[ND4C_UNARY_exp][ND4C_FLOAT64](n, x, x, NULL);
  for (int64_t i = 0; i < n; i++) {
    sum += x[i];
    x[i] = sum;
  }
  *r = (running){largest, sum};
  nd4c_simd.unary->loops[ND4C_UNARY_log][ND4C_FLOAT64](n, x, x, NULL);
  for (int64_t i = 0; i < n; i++) {
    x[i] += largest;
  }
}

static void take_line(const running_job *job, const char *x, char *y) {
  const nd4c_move_function move = nd4c_simd.move->move[job->bytes];
  const nd4c_reduction_loops *rounds = &nd4c_simd.reduction->loops[ND4C_REDUCE_prod][job->dtype];
  const nd4c_cast_loop widen = nd4c_simd.cast->loops[job->dtype][ND4C_FLOAT64];
  _Alignas(64) char buffer[8 * PIECE];
  _Alignas(64) double numbers[PIECE];
  running r = {-INFINITY, 0};
  if (job->exclusive) {
    rounds->store(1, &r.largest, 1, y);
    y += job->y_step * job->bytes;
  }
  const int64_t length = job->length - job->exclusive;
  for (int64_t i = 0; i < length; i += PIECE) {
    const int64_t n = length - i < PIECE ? length - i : PIECE;
    const bool is_wide = job->dtype == ND4C_FLOAT64;
    move(1, n, x + i * job->x_step * job->bytes, 0, job->x_step, is_wide ? (void *)numbers : buffer, 0, 1);
    if (!is_wide) {
      widen(n, buffer, numbers);
    }
    take_piece(&r, n, numbers);
    rounds->store(n, numbers, 1, buffer);
    move(1, n, buffer, 0, 1, y + i * job->y_step * job->bytes, 0, job->y_step);
  }
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const running_job *job = user;
  (void)worker;
  for (int64_t line = begin; line < end; line++) {
    int64_t x, y;
    nd4c_simd_rows_at(&job->rows, line, &x, &y);
    take_line(job, job->x + x * job->bytes, job->y + y * job->bytes);
  }
}

static nd4c_status run_cumulative_logsumexp(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t axis = nd4c_axis(ND4C_INT_OF(call, cumulative_logsumexp_axis), x->rank);
  running_job job = {.x = x->data,
                     .y = y->data,
                     .dtype = x->dtype,
                     .bytes = nd4c_cpu_dtype_bytes(x->dtype),
                     .exclusive = ND4C_FLAG_OF(call, cumulative_logsumexp_exclusive),
                     .length = x->shape[axis],
                     .x_step = x->strides[axis],
                     .y_step = y->strides[axis]};
  if (ND4C_FLAG_OF(call, cumulative_logsumexp_reverse)) {
    job.x += (job.length - 1) * job.x_step * job.bytes;
    job.y += (job.length - 1) * job.y_step * job.bytes;
    job.x_step = -job.x_step;
    job.y_step = -job.y_step;
  }
  nd4c_simd_rows_make(&job.rows, x, y, 1u << axis);
  nd4c_cpu_parallel(job.rows.count, nd4c_simd_grain(8 * job.length), call->width, lines_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size == 0 || call->inputs[0].rank == 0, "nothing to run along");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_reduction_running_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(cumulative_logsumexp, ND4C_CPU_FLOATS, usable, run_cumulative_logsumexp), NULL};
