/* Engine simd: different elements, by sorting words (kernels/cpu/sorting/sort.h). Each NaN counts as a different
 * element. dispatch/choice.c asks these kernels before the reference's. */
#include <string.h>

#include "backends/cpu/simd/sorting/sorting_words.h"
#include "backends/cpu/support/nest.h"

enum { BLOCK = 1024, CHUNKS = 64, LEAST_CHUNK = 1 << 15 };

/* What is asked for; outputs are dense. */
typedef struct distinct {
  const nd4c_call *call;
  const nd4c_sort_dtype *dtype;
  const char *x; /* in C order */
  int64_t count, bytes;
  char *values;
  int64_t *first, *inverse, *counts; /* or NULL */
  uint64_t *words;
  nd4c_order_line line;
  int64_t nan_at, chunk, chunks;
  int64_t groups[CHUNKS]; /* that begin in a chunk, then before it */
} distinct;

static uint32_t key_source(const void *user, int64_t begin, int64_t n, void *words) {
  const distinct *d = user;
  return d->dtype->keys(n, d->x + begin * d->bytes, 0, words);
}

static uint64_t key_at(const distinct *d, int64_t i) {
  return d->dtype->wide ? d->words[i] : ((const uint32_t *)(const void *)d->words)[i];
}

/* -- values, and how many of each -------------------------------------------------------------------------------- */

/* Of sorted words: the first of each run goes to the front, counts[g] is where run g begins. */
static int64_t find_runs(const distinct *d, int64_t n) {
  int64_t group = 0;
  if (d->counts == NULL) {
    return nd4c_simd.sort->words[d->dtype->wide].distinct(d->words, n, d->words);
  }
  if (d->dtype->wide) {
    uint64_t before = n > 0 ? ~d->words[0] : 0;
    for (int64_t i = 0; i < n; i++) {
      uint64_t word = d->words[i];
      if (word != before) {
        d->words[group] = word;
        d->counts[group++] = i;
      }
      before = word;
    }
    return group;
  }
  uint32_t *words = (uint32_t *)(void *)d->words, before = n > 0 ? ~words[0] : 0;
  for (int64_t i = 0; i < n; i++) {
    uint32_t word = words[i];
    if (word != before) {
      words[group] = word;
      d->counts[group++] = i;
    }
    before = word;
  }
  return group;
}

/* Zeros of both signs have one key, and so do all NaN: restores the sign of the first zero and the bits of each NaN. */
static void restore_special(const distinct *d, int64_t groups) {
  uint64_t keys[BLOCK], zero = d->dtype->zero, nan = d->dtype->flip;
  int64_t nan_group = groups, zero_group = 0, zeros = 0;
  while (zero_group < groups && key_at(d, zero_group) != zero) {
    zero_group++;
  }
  for (int64_t i = 0; i < d->count; i += BLOCK) {
    int64_t n = d->count - i < BLOCK ? d->count - i : BLOCK;
    if (d->dtype->keys(n, d->x + i * d->bytes, 0, keys) == 0 && (zeros > 0 || zero_group == groups)) {
      continue;
    }
    for (int64_t k = 0; k < n; k++) {
      uint64_t key = d->dtype->wide ? keys[k] : ((const uint32_t *)(const void *)keys)[k];
      const char *from = d->x + (i + k) * d->bytes;
      if (key == nan) {
        memcpy(d->values + nan_group++ * d->bytes, from, (size_t)d->bytes);
      } else if (key == zero && zeros++ == 0) {
        memcpy(d->values + zero_group * d->bytes, from, (size_t)d->bytes);
      }
    }
  }
}

static nd4c_status find_values(distinct *d, int64_t *groups) {
  nd4c_words job = {.wide = d->dtype->wide != 0, .count = d->count, .to = d->count, .source = key_source, .user = d};
  uint32_t special;
  job.words = d->words;
  ND4C_BACKEND_TRY(nd4c_words_sort(&job, d->call->width, &special));
  int64_t numbers = d->count;
  while (d->dtype->has_special && numbers > 0 && key_at(d, numbers - 1) == d->dtype->flip) {
    numbers--;
  }
  int64_t found = find_runs(d, numbers);
  d->dtype->elements(found, d->words, 0, d->values);
  *groups = found + d->count - numbers;
  for (int64_t g = found; d->counts != NULL && g < *groups; g++) {
    d->counts[g] = numbers + g - found;
  }
  if (special != 0) {
    restore_special(d, found);
  }
  return ND4C_OK;
}

/* -- with places --------------------------------------------------------------------------------------------------- */

static int64_t index_at(const distinct *d, int64_t i) {
  return (int64_t)(d->words[i] & UINT64_MAX >> (64 - d->line.low_bits));
}

/* Whether place i of the order begins a group. */
static inline bool begins(const distinct *d, int64_t i) {
  if (i == 0 || i >= d->nan_at || d->words[i] >> d->line.low_bits != d->words[i - 1] >> d->line.low_bits) {
    return true;
  }
  return d->line.dropped > 0 &&
         nd4c_order_key(&d->line, index_at(d, i)) != nd4c_order_key(&d->line, index_at(d, i - 1));
}

static int64_t chunk_end(const distinct *d, int64_t chunk) {
  int64_t end = (chunk + 1) * d->chunk;
  return end < d->count ? end : d->count;
}

static void count_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  distinct *d = user;
  (void)worker;
  for (int64_t chunk = begin; chunk < end; chunk++) {
    int64_t groups = 0;
    for (int64_t i = chunk * d->chunk; i < chunk_end(d, chunk); i++) {
      groups += begins(d, i);
    }
    d->groups[chunk] = groups;
  }
}

static void fill_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const distinct *d = user;
  (void)worker;
  for (int64_t chunk = begin; chunk < end; chunk++) {
    int64_t group = d->groups[chunk] - 1;
    for (int64_t i = chunk * d->chunk; i < chunk_end(d, chunk); i++) {
      int64_t index = index_at(d, i);
      if (begins(d, i)) {
        group++;
        memcpy(d->values + group * d->bytes, d->x + index * d->bytes, (size_t)d->bytes);
        if (d->first != NULL) {
          d->first[group] = index;
        }
        if (d->counts != NULL) {
          d->counts[group] = i;
        }
      }
      d->inverse[index] = group;
    }
  }
}

static nd4c_status find_places(distinct *d, int64_t *groups) {
  int32_t width = d->call->width;
  d->line = (nd4c_order_line){.dtype = d->dtype, .x = d->x, .bytes = d->bytes, .keeps_words = true};
  nd4c_status status = nd4c_order_sort(&d->line, d->count, d->count, width, NULL, (int64_t *)d->words);
  *groups = 0;
  if (status != ND4C_OK || d->count == 0) {
    return status;
  }
  for (d->nan_at = d->count; d->dtype->has_special && d->nan_at > 0; d->nan_at--) {
    if (nd4c_order_key(&d->line, index_at(d, d->nan_at - 1)) != d->dtype->flip) {
      break;
    }
  }
  d->chunks = d->count / LEAST_CHUNK < 1 ? 1 : d->count / LEAST_CHUNK < CHUNKS ? d->count / LEAST_CHUNK : CHUNKS;
  d->chunk = (d->count + d->chunks - 1) / d->chunks;
  nd4c_cpu_parallel(d->chunks, 1, width, count_range, d);
  for (int64_t chunk = 0; chunk < d->chunks; chunk++) {
    int64_t here = d->groups[chunk];
    d->groups[chunk] = *groups;
    *groups += here;
  }
  nd4c_cpu_parallel(d->chunks, 1, width, fill_range, d);
  return ND4C_OK;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/* x in C order in `memory`. */
static void copy_dense(const nd4c_tensor *x, void *memory, int32_t width) {
  nd4c_tensor dense = *x;
  nd4c_nest nest;
  int64_t strides[ND4C_CPU_MAX_RANK], stride = 1;
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= x->shape[axis];
  }
  dense.strides = strides;
  dense.data = memory;
  nd4c_nest_start(&nest, &dense);
  nd4c_nest_add(&nest, x, &dense);
  nd4c_nest_finish(&nest);
  nd4c_nest_copy(&nest, width);
}

/* Places where group g begins become lengths. */
static void lengths_of(int64_t groups, int64_t count, int64_t *starts) {
  for (int64_t g = 0; g < groups; g++) {
    starts[g] = (g + 1 < groups ? starts[g + 1] : count) - starts[g];
  }
}

static nd4c_status run(distinct *d, const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  bool is_dense = (x->flags & ND4C_TENSOR_CONTIGUOUS) != 0;
  d->call = call;
  d->dtype = &nd4c_simd.sort->dtypes[x->dtype];
  d->count = x->size;
  d->bytes = nd4c_cpu_dtype_bytes(x->dtype);
  d->values = call->outputs[0].data;
  size_t words = round_up((size_t)d->count * sizeof(uint64_t));
  size_t bytes = words + (is_dense ? 0 : (size_t)(d->count * d->bytes)) + 64;
  int64_t groups = 0;
  char *memory = nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(memory == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes to sort in", call->op->name, bytes);
  d->words = (uint64_t *)(void *)memory;
  d->x = is_dense ? x->data : memory + words;
  if (!is_dense && d->count > 0) {
    copy_dense(x, memory + words, call->width);
  }
  nd4c_status status = d->inverse != NULL ? find_places(d, &groups) : find_values(d, &groups);
  nd4c_cpu_host->free_pages(memory, bytes);
  if (status != ND4C_OK) {
    return status;
  }
  if (d->counts != NULL) {
    lengths_of(groups, d->count, d->counts);
  }
  call->true_shapes[0][0] = groups;
  return ND4C_OK;
}

static nd4c_status run_unique_values(const nd4c_call *call) {
  distinct d = {.count = 0};
  return run(&d, call);
}

static nd4c_status run_unique_counts(const nd4c_call *call) {
  distinct d = {.counts = call->outputs[1].data};
  nd4c_status status = run(&d, call);
  if (status == ND4C_OK) {
    call->true_shapes[1][0] = call->true_shapes[0][0];
  }
  return status;
}

static nd4c_status run_unique_inverse(const nd4c_call *call) {
  distinct d = {.inverse = call->outputs[1].data};
  return run(&d, call);
}

static nd4c_status run_unique_all(const nd4c_call *call) {
  distinct d = {.first = call->outputs[1].data, .inverse = call->outputs[2].data, .counts = call->outputs[3].data};
  nd4c_status status = run(&d, call);
  if (status == ND4C_OK) {
    call->true_shapes[1][0] = call->true_shapes[3][0] = call->true_shapes[0][0];
  }
  return status;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size >= INT64_C(1) << 32, "2^32 elements or more");
  for (int32_t i = 0; i < call->output_count; i++) {
    ND4C_CPU_DECLINE_IF((call->outputs[i].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "an output is not contiguous");
  }
  return true;
}

static bool usable_flat(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->attrs[ND4C_ATTR_unique_axis].count > 0, "slices along an axis");
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, unique_sorted) == 0, "in the order of first places");
  return usable(call, reason, reason_size);
}

#define SORTED (ND4C_CPU_BOOLS | ND4C_CPU_REALS)

const nd4c_kernel *const nd4c_cpu_simd_sorting_unique_kernels[] = {

    ND4C_CPU_SIMD_KERNEL(unique_values, SORTED, usable, run_unique_values),
    ND4C_CPU_SIMD_KERNEL(unique_counts, SORTED, usable, run_unique_counts),
    ND4C_CPU_SIMD_KERNEL(unique_inverse, SORTED, usable, run_unique_inverse),
    ND4C_CPU_SIMD_KERNEL(unique_all, SORTED, usable, run_unique_all),
    ND4C_CPU_SIMD_KERNEL(unique, SORTED, usable_flat, run_unique_all),
    NULL};
