/* Engine simd: windows of cosines (hann_window, hamming_window, blackman_window) and frequencies of transforms, a
 * thousand elements at once, as doubles that are rounded once. dispatch/choice.c asks these kernels before the
 * reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/signal.h"

enum { PIECE = 1024, PIECES_GRAIN = 4 };

typedef struct sequence_job {
  const nd4c_tensor *y;
  nd4c_cosines window;
  int64_t points, negative; /* of a transform; the first point whose frequency is negative */
  double divisor;
} sequence_job;

static nd4c_binary_loops loops_of(enum nd4c_binary_index op) {
  return nd4c_simd.binary->loops[op][ND4C_FLOAT64];
}

static int64_t piece_length(const sequence_job *job, int64_t from) {
  return job->y->size - from < PIECE ? job->y->size - from : PIECE;
}

/* y = factor * cos(2 pi i times / n) for i from `from` on. Whole turns are taken off before the angle is rounded. */
static void cosines(const sequence_job *job, int64_t from, int64_t count, double times, double factor, double *y) {
  const double n = (double)job->window.n, turn = 6.283185307179586476925286766559;
  double turns[PIECE];
  nd4c_simd.creation->steps(count, from, 0, times, y);
  loops_of(ND4C_BINARY_divide).first(count, y, &n, turns);
  nd4c_simd.unary->loops[ND4C_UNARY_round][ND4C_FLOAT64](count, turns, turns, NULL);
  loops_of(ND4C_BINARY_multiply).first(count, turns, &n, turns);
  loops_of(ND4C_BINARY_subtract).both(count, y, turns, y);
  loops_of(ND4C_BINARY_divide).first(count, y, &n, y);
  loops_of(ND4C_BINARY_multiply).first(count, y, &turn, y);
  nd4c_simd.unary->loops[ND4C_UNARY_cos][ND4C_FLOAT64](count, y, y, NULL);
  loops_of(ND4C_BINARY_multiply).first(count, y, &factor, y);
}

static void window_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const sequence_job *job = user;
  const double *a = job->window.a;
  double once[PIECE], twice[PIECE];
  (void)worker;
  for (int64_t from = begin * PIECE; from < end * PIECE && from < job->y->size; from += PIECE) {
    const int64_t n = piece_length(job, from);
    cosines(job, from, n, 1, a[1], once);
    loops_of(ND4C_BINARY_subtract).second(n, a, once, once);
    if (a[2] != 0) {
      cosines(job, from, n, 2, a[2], twice);
      loops_of(ND4C_BINARY_add).both(n, once, twice, once);
    }
    nd4c_simd_write_doubles(job->y, from, n, once);
  }
}

static void frequencies_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const sequence_job *job = user;
  double numbers[PIECE];
  (void)worker;
  for (int64_t from = begin * PIECE; from < end * PIECE && from < job->y->size; from += PIECE) {
    const int64_t n = piece_length(job, from), left = job->negative - from;
    const int64_t positive = left < 0 ? 0 : left < n ? left : n;
    nd4c_simd.creation->steps(positive, from, 0, 1, numbers);
    nd4c_simd.creation->steps(n - positive, from + positive, -(double)job->points, 1, numbers + positive);
    loops_of(ND4C_BINARY_divide).first(n, numbers, &job->divisor, numbers);
    nd4c_simd_write_doubles(job->y, from, n, numbers);
  }
}

static nd4c_status run_all(const nd4c_call *call, sequence_job *job, nd4c_range_function range) {
  nd4c_cpu_parallel(nd4c_cpu_divide_up(job->y->size, PIECE), PIECES_GRAIN, call->width, range, job);
  return ND4C_OK;
}

static nd4c_status run_window(const nd4c_call *call) {
  sequence_job job = {.y = &call->outputs[0], .window = nd4c_cosines_of(call)};
  return run_all(call, &job, window_range);
}

static nd4c_status run_frequencies(const nd4c_call *call) {
  sequence_job job = {.y = &call->outputs[0], .points = ND4C_INT_OF(call, fftfreq_n)};
  job.negative = call->op->op == ND4C_OP_rfftfreq ? job.y->size : (job.points + 1) / 2;
  job.divisor = (double)job.points * ND4C_REAL_OF(call, fftfreq_d);
  return run_all(call, &job, frequencies_range);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF((call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "the output is not contiguous");
  return true;
}

static bool usable_window(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(nd4c_cosines_of(call).n == 0, "a window of a single point");
  return usable(call, reason, reason_size);
}

const nd4c_kernel *const nd4c_cpu_simd_signal_sequences_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(hann_window, ND4C_CPU_FLOATS, usable_window, run_window),
    ND4C_CPU_SIMD_KERNEL(hamming_window, ND4C_CPU_FLOATS, usable_window, run_window),
    ND4C_CPU_SIMD_KERNEL(blackman_window, ND4C_CPU_FLOATS, usable_window, run_window),
    ND4C_CPU_SIMD_KERNEL(fftfreq, ND4C_CPU_FLOATS, usable, run_frequencies),
    ND4C_CPU_SIMD_KERNEL(rfftfreq, ND4C_CPU_FLOATS, usable, run_frequencies),
    NULL};
