/* Engine simd: convolve and correlate of real numbers, whose sums are doubles or words as the reference's are, with the
 * same bits. dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/simd/rows.h"
#include "backends/reading.h"

enum { PIECE = 1024 }; /* elements of the result at once */

typedef struct convolve_job {
  const nd4c_tensor *y;
  nd4c_sequence_pair pair;
  int64_t shift;
  bool words;
} convolve_job;

static bool is_words(const nd4c_call *call) {
  return (ND4C_DTYPE_BIT(call->outputs[0].dtype) & ND4C_CPU_INTS) != 0;
}

/* Are elements of the dtype what the loops compute with? */
static bool fits(nd4c_dtype dtype, bool words) {
  return words ? nd4c_cpu_dtype_bytes(dtype) == 8 : dtype == ND4C_FLOAT64;
}

static nd4c_dtype wide_dtype(bool words) {
  return words ? ND4C_INT64 : ND4C_FLOAT64;
}

/* All elements of x, dense and wide; from the last one on if they are turned. In `to`, or where they are. */
static const void *dense(const nd4c_tensor *x, bool words, bool turned, void *to) {
  _Alignas(64) char buffer[8 * PIECE];
  const int64_t n = x->shape[0], bytes = nd4c_cpu_dtype_bytes(x->dtype), step = turned ? -x->strides[0] : x->strides[0];
  const char *from = (const char *)x->data + (turned ? (n - 1) * x->strides[0] * bytes : 0);
  if (fits(x->dtype, words)) {
    if (step == 1) {
      return from;
    }
    nd4c_simd.move->move[bytes](1, n, from, 0, step, to, 0, 1);
    return to;
  }
  for (int64_t i = 0; i < n; i += PIECE) {
    const int64_t count = n - i < PIECE ? n - i : PIECE;
    const char *piece = from + i * step * bytes;
    if (step != 1) {
      nd4c_simd.move->move[bytes](1, count, piece, 0, step, buffer, 0, 1);
      piece = buffer;
    }
    nd4c_simd.cast->loops[x->dtype][wide_dtype(words)](count, piece, (char *)to + 8 * i);
  }
  return to;
}

static void convolve_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const convolve_job *job = user;
  const nd4c_tensor *y = job->y;
  const int64_t bytes = nd4c_cpu_dtype_bytes(y->dtype);
  const bool direct = fits(y->dtype, job->words);
  _Alignas(64) char sums[8 * PIECE];
  (void)worker;
  for (int64_t i = begin * PIECE; i < end * PIECE && i < y->size; i += PIECE) {
    const int64_t count = y->size - i < PIECE ? y->size - i : PIECE;
    char *to = (char *)y->data + i * bytes;
    (job->words ? nd4c_simd.sequences->uint64 : nd4c_simd.sequences->float64)(&job->pair, job->shift + i, count,
                                                                              direct ? to : sums);
    if (!direct) {
      nd4c_simd.cast->loops[wide_dtype(job->words)][y->dtype](count, sums, to);
    }
  }
}

static int64_t scratch_bytes(const nd4c_call *call) {
  return 8 * (call->inputs[0].shape[0] + call->inputs[1].shape[0]);
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1];
  const int64_t m = a->shape[0], n = b->shape[0], terms = m < n ? m : n;
  const bool words = is_words(call);
  uint64_t *room = call->scratch;
  convolve_job job = {.y = &call->outputs[0], .shift = nd4c_convolve_shift(call), .words = words};
  job.pair = (nd4c_sequence_pair){.a = dense(a, words, false, room),
                                  .b = dense(b, words, call->op->op == ND4C_OP_correlate, room + m),
                                  .m = m,
                                  .n = n};
  nd4c_cpu_parallel(nd4c_cpu_divide_up(job.y->size, PIECE), nd4c_simd_grain(PIECE / 8 * terms), call->width,
                    convolve_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0];
  const nd4c_dtype wide = wide_dtype(is_words(call));
  ND4C_CPU_DECLINE_IF((ND4C_DTYPE_BIT(y->dtype) & ND4C_CPU_REALS) == 0, "complex numbers");
  ND4C_CPU_DECLINE_IF((y->flags & ND4C_TENSOR_CONTIGUOUS) == 0, "the output is not contiguous");
  for (int32_t i = 0; i < 2; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    ND4C_CPU_DECLINE_IF(x->shape[0] >= INT64_C(1) << 56, "more elements than memory has");
    ND4C_CPU_DECLINE_IF(!fits(x->dtype, is_words(call)) && nd4c_simd.cast->loops[x->dtype][wide] == NULL,
                        "no loop for this dtype");
  }
  return fits(y->dtype, is_words(call)) || nd4c_simd.cast->loops[wide][y->dtype] != NULL ||
         nd4c_cpu_decline(reason, reason_size, "no loop for this dtype");
}

const nd4c_kernel *const nd4c_cpu_simd_signal_convolve_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(convolve, ND4C_CPU_REALS, usable, run, .scratch_bytes = scratch_bytes),
    ND4C_CPU_SIMD_KERNEL(correlate, ND4C_CPU_REALS, usable, run, .scratch_bytes = scratch_bytes), NULL};
