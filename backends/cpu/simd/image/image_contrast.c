/* Engine simd: adjust_contrast: the means of the planes by the loops of reductions, then a thousand elements at once,
 * as doubles that are rounded once. dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/simd/simd.h"

enum { PIECE = 1024, GRAIN = 16384 };

/* Of an image: planes one after the other (channels is 1), or pixels of few channels. */
typedef struct contrast_job {
  const nd4c_tensor *x, *y;
  nd4c_reduction_loops sum;
  int64_t bytes, pixels, channels;
  double factor;
} contrast_job;

static const nd4c_binary_loops *loops_of(enum nd4c_binary_index op) {
  return &nd4c_simd.binary->loops[op][ND4C_FLOAT64];
}

/* y = (x - mean) factor + mean; n numbers and their means. */
static void stretch(const contrast_job *job, int64_t at, int64_t n, const double *means) {
  double numbers[PIECE];
  const char *x = (const char *)job->x->data + at * job->bytes;
  char *y = (char *)job->y->data + at * job->bytes;
  nd4c_simd.cast->loops[job->x->dtype][ND4C_FLOAT64](n, x, numbers);
  loops_of(ND4C_BINARY_subtract)->both(n, numbers, means, numbers);
  loops_of(ND4C_BINARY_multiply)->first(n, numbers, &job->factor, numbers);
  loops_of(ND4C_BINARY_add)->both(n, numbers, means, numbers);
  nd4c_simd.cast->loops[ND4C_FLOAT64][job->y->dtype](n, numbers, y);
}

/* The means of an image, repeated up to a piece; gives how many of them are whole pixels. */
static int64_t find_means(const contrast_job *job, int64_t at, double *means) {
  const char *x = (const char *)job->x->data + at * job->bytes;
  const int64_t channels = job->channels, used = PIECE / channels * channels;
  const double pixels = (double)job->pixels;
  if (channels == 1) {
    job->sum.run(1, job->pixels, x, 0, means);
  } else {
    job->sum.fold(job->pixels, channels, x, channels * job->bytes, means, 1);
  }
  loops_of(ND4C_BINARY_divide)->first(channels, means, &pixels, means);
  for (int64_t i = channels; i < used; i += channels) {
    memcpy(means + i, means, (size_t)channels * sizeof *means);
  }
  return used;
}

static void images_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const contrast_job *job = user;
  const int64_t elements = job->pixels * job->channels;
  double means[PIECE];
  (void)worker;
  for (int64_t image = begin; image < end; image++) {
    const int64_t used = find_means(job, image * elements, means);
    for (int64_t i = 0; i < elements; i += used) {
      stretch(job, image * elements + i, elements - i < used ? elements - i : used, means);
    }
  }
}

static bool channels_last(const nd4c_call *call) {
  const int32_t rank = call->inputs[0].rank;
  return nd4c_axis(ND4C_INT_OF(call, adjust_contrast_axis), rank) == rank - 1;
}

static nd4c_status run_adjust_contrast(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const int32_t last = x->rank - 1;
  const bool together = channels_last(call);
  contrast_job job = {
      .x = x,
      .y = &call->outputs[0],
      .sum = nd4c_simd.reduction->loops[ND4C_REDUCE_sum][x->dtype],
      .bytes = nd4c_cpu_dtype_bytes(x->dtype),
      .pixels = together ? x->shape[last - 2] * x->shape[last - 1] : x->shape[last - 1] * x->shape[last],
      .channels = together ? x->shape[last] : 1,
      .factor = ND4C_REAL_OF(call, adjust_contrast_factor)};
  if (x->size == 0) {
    return ND4C_OK;
  }
  const int64_t elements = job.pixels * job.channels;
  nd4c_cpu_parallel(x->size / elements, GRAIN / elements + 1, call->width, images_range, &job);
  return ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(x) || !nd4c_in_c_order(&call->outputs[0]), "not in C order");
  ND4C_CPU_DECLINE_IF(channels_last(call) && x->shape[x->rank - 1] > PIECE, "more than %d channels", PIECE);
  return true;
}

/* Where x is near the mean, a mean of float64 that was added in another order shows in the result. */
#define NARROW (ND4C_CPU_FLOATS & ~ND4C_DTYPE_BIT(ND4C_FLOAT64))

const nd4c_kernel *const nd4c_cpu_simd_image_contrast_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(adjust_contrast, NARROW, usable, run_adjust_contrast), NULL};
