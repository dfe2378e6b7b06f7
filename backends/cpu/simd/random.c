/* Engine simd: uniform and normal numbers, integers, bits and permutations into dense results of the common dtypes, by
 * runs of elements. The bits are the reference's. dispatch/choice.c asks these kernels before the reference's. */
#include <string.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/simd.h"
#include "kernels/cpu/support/level.h"
#include "kernels/reference/random/random.h"

enum { RUN = ND4C_RANDOM_RUN, RUNS_GRAIN = 4 };

typedef struct random_call {
  nd4c_philox state;
  const nd4c_tensor *y;
  double a, b; /* low and range, or mean and scale */
  int64_t low; /* of integers */
  uint64_t range;
} random_call;

static random_call start(const nd4c_call *call) {
  const nd4c_tensor *state = &call->inputs[0];
  uint64_t words[3] = {0, 0, 0};
  nd4c_ref_read_words(state->dtype, state->data, 0, state->strides[0], state->shape[0], words);
  return (random_call){.state = {words[0], words[1], words[2]}, .y = &call->outputs[0]};
}

static nd4c_status run_all(const nd4c_call *call, random_call *r, nd4c_range_function range) {
  nd4c_cpu_parallel((r->y->size + RUN - 1) / RUN, RUNS_GRAIN, call->width, range, r);
  return ND4C_OK;
}

static int64_t run_length(const random_call *r, int64_t run) {
  int64_t left = r->y->size - run * RUN;
  return left < RUN ? left : RUN;
}

/* -- uniform, normal ---------------------------------------------------------------------------------------------- */

static void uniform_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const random_call *r = user;
  uint64_t pairs[RUN];
  (void)worker;
  for (int64_t run = begin; run < end; run++) {
    int64_t n = run_length(r, run);
    if (r->y->dtype == ND4C_FLOAT32) {
      nd4c_simd.random->blocks(&r->state, (uint64_t)(run * (RUN / 4)), (n + 3) / 4, pairs);
      nd4c_simd.random->uniform32(n, (const uint32_t *)(const void *)pairs, r->a, r->b,
                                  (float *)r->y->data + run * RUN);
    } else {
      nd4c_simd.random->blocks(&r->state, (uint64_t)(run * (RUN / 2)), (n + 1) / 2, pairs);
      nd4c_simd.random->uniform64(n, pairs, r->a, r->b, (double *)r->y->data + run * RUN);
    }
  }
}

static void normal_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const random_call *r = user;
  uint64_t pairs[RUN];
  double z[RUN];
  (void)worker;
  for (int64_t run = begin; run < end; run++) {
    int64_t n = run_length(r, run);
    nd4c_simd.random->blocks(&r->state, (uint64_t)(run * (RUN / 2)), (n + 1) / 2, pairs);
    nd4c_simd.random->normal(n, pairs, z);
    if (r->y->dtype == ND4C_FLOAT32) {
      nd4c_simd.random->scale32(n, z, r->a, r->b, (float *)r->y->data + run * RUN);
    } else {
      nd4c_simd.random->scale64(n, z, r->a, r->b, (double *)r->y->data + run * RUN);
    }
  }
}

static nd4c_status run_random_uniform(const nd4c_call *call) {
  random_call r = start(call);
  r.a = ND4C_REAL_OF(call, random_uniform_low);
  r.b = ND4C_REAL_OF(call, random_uniform_high) - r.a;
  return run_all(call, &r, uniform_range);
}

static nd4c_status run_random_normal(const nd4c_call *call) {
  random_call r = start(call);
  r.a = ND4C_REAL_OF(call, random_normal_mean);
  r.b = ND4C_REAL_OF(call, random_normal_scale);
  return run_all(call, &r, normal_range);
}

/* -- integers ----------------------------------------------------------------------------------------------------- */

static void integers_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const random_call *r = user;
  uint64_t pairs[RUN], y[RUN], beyond = (0 - r->range) % r->range;
  (void)worker;
  for (int64_t run = begin; run < end; run++) {
    int64_t n = run_length(r, run), done = 0;
    nd4c_simd.random->first_pairs(&r->state, (uint64_t)(run * RUN), n, pairs);
    while (done < n) { /* a value that `below` rejects is drawn again */
      done += nd4c_simd.random->below(n - done, pairs + done, r->range, beyond, y + done);
      if (done < n) {
        y[done] = nd4c_ref_random_below(&r->state, run * RUN + done, r->range);
        done++;
      }
    }
    if (r->y->dtype == ND4C_INT64) {
      int64_t *to = (int64_t *)r->y->data + run * RUN;
      for (int64_t i = 0; i < n; i++) {
        to[i] = (int64_t)((uint64_t)r->low + y[i]);
      }
    } else {
      uint32_t *to = (uint32_t *)r->y->data + run * RUN;
      for (int64_t i = 0; i < n; i++) {
        to[i] = (uint32_t)((uint64_t)r->low + y[i]);
      }
    }
  }
}

static nd4c_status run_random_integers(const nd4c_call *call) {
  random_call r = start(call);
  r.low = ND4C_INT_OF(call, random_integers_low);
  r.range = (uint64_t)ND4C_INT_OF(call, random_integers_high) - (uint64_t)r.low;
  return run_all(call, &r, integers_range);
}

static void bits_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const random_call *r = user;
  int64_t bytes = nd4c_cpu_dtype_bytes(r->y->dtype), of_block = 16 / bytes;
  uint64_t pairs[RUN];
  (void)worker;
  for (int64_t run = begin; run < end; run++) {
    int64_t n = run_length(r, run);
    nd4c_simd.random->blocks(&r->state, (uint64_t)(run * RUN / of_block), (n + of_block - 1) / of_block, pairs);
    memcpy((char *)r->y->data + run * RUN * bytes, pairs, (size_t)(n * bytes));
  }
}

static nd4c_status run_random_bits(const nd4c_call *call) {
  random_call r = start(call);
  return run_all(call, &r, bits_range);
}

/* -- orders ------------------------------------------------------------------------------------------------------- */

enum { AHEAD = 24 };

/* Where place i changes with, 0 to i. */
static uint32_t place_below(const nd4c_philox *state, int64_t i, uint64_t pair) {
  uint64_t range = (uint64_t)i + 1, lower = (pair & 0xffffffff) * range;
  uint64_t upper = (pair >> 32) * range + (lower >> 32), rest = upper << 32 | (lower & 0xffffffff);
  return rest >= range ? (uint32_t)(upper >> 32) : (uint32_t)nd4c_ref_random_below(state, i, range);
}

/* The shuffle of Fisher and Yates, as in the reference: from the last place down, each is exchanged with an earlier
 * place or itself. The partners are drawn ahead, one run at a time. */
static void make_order(const nd4c_philox *state, int64_t count, uint32_t *order) {
  uint64_t pairs[RUN];
  uint32_t other[RUN];
  for (int64_t i = 0; i < count; i++) {
    order[i] = (uint32_t)i;
  }
  for (int64_t end = count; end > 1;) {
    int64_t n = end - 1 < RUN ? end - 1 : RUN, begin = end - n;
    nd4c_simd.random->first_pairs(state, (uint64_t)begin, n, pairs);
    for (int64_t k = 0; k < n; k++) {
      other[k] = place_below(state, begin + k, pairs[k]);
    }
    for (int64_t k = n - 1; k >= 0; k--) {
      uint32_t *to = &order[other[k]], swap = order[begin + k];
      ND4C_PREFETCH((uintptr_t)&order[other[k >= AHEAD ? k - AHEAD : 0]]);
      order[begin + k] = *to;
      *to = swap;
    }
    end = begin;
  }
}

static nd4c_status run_random_permutation(const nd4c_call *call) {
  random_call r = start(call);
  int64_t count = r.y->size;
  size_t bytes = (size_t)(count + 1) * sizeof(uint32_t);
  bool wide = nd4c_cpu_dtype_bytes(r.y->dtype) == 8;
  uint32_t *order = wide ? nd4c_cpu_host->allocate_pages(bytes) : r.y->data;
  ND4C_CPU_FAIL_IF(order == NULL && count > 0, ND4C_MEMORY, "no memory for an order of %lld elements",
                   (long long)count);
  make_order(&r.state, count, order);
  for (int64_t i = 0; wide && i < count; i++) {
    ((int64_t *)r.y->data)[i] = order[i];
  }
  if (wide) {
    nd4c_cpu_host->free_pages(order, bytes);
  }
  return ND4C_OK;
}

typedef struct shuffle_job {
  const char *x;
  char *y;
  const uint32_t *order;
  int64_t lines, count, bytes; /* of a block: what lies behind the axis */
} shuffle_job;

/* Blocks begin .. end - 1 of every line. */
static void shuffle_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const shuffle_job *job = user;
  const nd4c_indices order = {job->order + begin, false, job->count};
  const nd4c_pick_function pick = job->bytes <= 16 ? nd4c_simd.pick->pick[job->bytes] : NULL;
  (void)worker;
  for (int64_t line = 0; line < job->lines; line++) {
    const char *x = job->x + line * job->count * job->bytes;
    char *y = job->y + (line * job->count + begin) * job->bytes;
    if (pick != NULL) {
      pick(end - begin, &order, x, 1, 0, y);
    } else {
      nd4c_simd.pick->pick_blocks(end - begin, &order, job->bytes, x, y);
    }
  }
}

static int64_t shuffled_axis(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_random_shuffle_x];
  return nd4c_axis(ND4C_INT_OF(call, random_shuffle_axis), x->rank);
}

static nd4c_status run_random_shuffle(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_random_shuffle_x];
  const random_call r = start(call);
  const int64_t axis = shuffled_axis(call);
  shuffle_job job = {.x = x->data, .y = r.y->data, .order = call->scratch, .count = x->shape[axis]};
  if (x->size == 0) {
    return ND4C_OK;
  }
  job.bytes = nd4c_cpu_dtype_bytes(x->dtype);
  for (int32_t i = (int32_t)axis + 1; i < x->rank; i++) {
    job.bytes *= x->shape[i];
  }
  job.lines = x->size * nd4c_cpu_dtype_bytes(x->dtype) / job.bytes / job.count;
  make_order(&r.state, job.count, call->scratch);
  nd4c_cpu_parallel(job.count, 65536 / (job.lines * job.bytes) + 1, call->width, shuffle_range, &job);
  return ND4C_OK;
}

static int64_t shuffle_scratch_bytes(const nd4c_call *call) {
  return call->inputs[ND4C_IN_random_shuffle_x].shape[shuffled_axis(call)] * (int64_t)sizeof(uint32_t);
}

/* -- kernels ------------------------------------------------------------------------------------------------------ */

static bool is_dense(const nd4c_call *call, nd4c_dtype_set set, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0];
  const uint16_t probe = 1;
  ND4C_CPU_DECLINE_IF((y->flags & ND4C_TENSOR_CONTIGUOUS) == 0, "the output is not contiguous");
  ND4C_CPU_DECLINE_IF((ND4C_DTYPE_BIT(y->dtype) & set) == 0, "a dtype of fewer than 32 bits");
  ND4C_CPU_DECLINE_IF(*(const uint8_t *)&probe == 0, "words are pairs on little-endian machines");
  return true;
}

static bool usable_float(const nd4c_call *call, char *reason, size_t reason_size) {
  return is_dense(call, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), reason, reason_size);
}

static bool usable_bits(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_dtype_set words = ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_UINT32) | ND4C_DTYPE_BIT(ND4C_INT64) |
                         ND4C_DTYPE_BIT(ND4C_UINT64);
  return is_dense(call, words, reason, reason_size);
}

static bool usable_integers(const nd4c_call *call, char *reason, size_t reason_size) {
  uint64_t low = (uint64_t)ND4C_INT_OF(call, random_integers_low);
  uint64_t range = (uint64_t)ND4C_INT_OF(call, random_integers_high) - low;
  ND4C_CPU_DECLINE_IF(range == 0 || range >> 32 != 0, "a range of 2^32 or more");
  nd4c_dtype_set whole = ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64);
  return is_dense(call, whole, reason, reason_size);
}

static bool usable_order(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->outputs[0].size >= INT64_C(1) << 32, "2^32 elements or more");
  return usable_bits(call, reason, reason_size);
}

static bool usable_shuffle(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_random_shuffle_x];
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(x) || !nd4c_in_c_order(&call->outputs[0]), "not in C order");
  ND4C_CPU_DECLINE_IF(nd4c_cpu_dtype_bytes(x->dtype) == 0, ND4C_CPU_NO_STRINGS);
  ND4C_CPU_DECLINE_IF(x->shape[shuffled_axis(call)] > INT32_MAX, "2^31 places or more");
  return true;
}

#define STATES ND4C_CPU_INTS

const nd4c_kernel *const nd4c_cpu_simd_random_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(random_uniform, STATES, usable_float, run_random_uniform),
    ND4C_CPU_SIMD_KERNEL(random_normal, STATES, usable_float, run_random_normal),
    ND4C_CPU_SIMD_KERNEL(random_integers, STATES, usable_integers, run_random_integers),
    ND4C_CPU_SIMD_KERNEL(random_bits, STATES, usable_bits, run_random_bits),
    ND4C_CPU_SIMD_KERNEL(random_permutation, STATES, usable_order, run_random_permutation),
    ND4C_CPU_SIMD_KERNEL(random_shuffle, STATES, usable_shuffle, run_random_shuffle,
                         .scratch_bytes = shuffle_scratch_bytes),
    NULL};
