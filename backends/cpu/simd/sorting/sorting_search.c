/* Engine simd: searchsorted and digitize. Keys (kernels/cpu/sorting/sort.h) of a block of values are searched side by
 * side, without branches. dispatch/choice.c asks these kernels before the reference's. */
#include <string.h>

#include "backends/cpu/simd/simd.h"

enum { BLOCK = 1024, GRAIN_BLOCKS = 4 };

typedef struct search_call {
  const nd4c_sort_dtype *dtype;
  const nd4c_tensor *values, *y;
  const void *keys; /* of the sorted row */
  int64_t count;
  bool after, downwards;
} search_call;

static void search_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const search_call *s = user;
  int64_t bytes = nd4c_cpu_dtype_bytes(s->values->dtype), *y = s->y->data;
  uint64_t block[BLOCK];
  (void)worker;
  for (int64_t b = begin; b < end; b++) {
    int64_t first = b * BLOCK, n = s->values->size - first < BLOCK ? s->values->size - first : BLOCK;
    (void)s->dtype->keys(n, (const char *)s->values->data + first * bytes, 0, block);
    nd4c_simd.sort->words[s->dtype->wide].search(n, block, s->keys, s->count, s->after, y + first);
    for (int64_t i = first; s->downwards && i < first + n; i++) {
      y[i] = s->count - y[i];
    }
  }
}

static uint64_t key_at(const search_call *s, const void *keys, int64_t i) {
  return s->dtype->wide ? ((const uint64_t *)keys)[i] : ((const uint32_t *)keys)[i];
}

static bool is_monotone(const search_call *s, const void *keys, bool downwards) {
  for (int64_t i = 1; i < s->count; i++) {
    if (downwards ? key_at(s, keys, i) > key_at(s, keys, i - 1) : key_at(s, keys, i) < key_at(s, keys, i - 1)) {
      return false;
    }
  }
  return true;
}

static void turn(const search_call *s, void *keys) {
  for (int64_t i = 0, k = s->count - 1; i < k; i++, k--) {
    uint64_t low = key_at(s, keys, i), high = key_at(s, keys, k);
    if (s->dtype->wide) {
      ((uint64_t *)keys)[i] = high;
      ((uint64_t *)keys)[k] = low;
    } else {
      ((uint32_t *)keys)[i] = (uint32_t)high;
      ((uint32_t *)keys)[k] = (uint32_t)low;
    }
  }
}

static nd4c_status run(const nd4c_call *call, const nd4c_tensor *row, search_call *s, bool is_digitize) {
  size_t bytes = (size_t)row->size * sizeof(uint64_t) + 64;
  void *keys = nd4c_cpu_host->allocate_pages(bytes);
  nd4c_status status = ND4C_OK;
  ND4C_CPU_FAIL_IF(keys == NULL, ND4C_MEMORY, "no memory for %zu bytes", bytes);
  s->y = &call->outputs[0];
  s->dtype = &nd4c_simd.sort->dtypes[row->dtype];
  s->count = row->size;
  s->keys = keys;
  (void)s->dtype->keys(row->size, row->data, 0, keys);
  if (is_digitize && !is_monotone(s, keys, false)) {
    s->downwards = true;
    if (is_monotone(s, keys, true)) {
      turn(s, keys);
    } else {
      status = nd4c_cpu_host->fail(ND4C_ARGUMENT, "digitize: bins neither ascend nor descend");
    }
  }
  if (status == ND4C_OK) {
    nd4c_cpu_parallel((s->values->size + BLOCK - 1) / BLOCK, GRAIN_BLOCKS, call->width, search_range, s);
  }
  nd4c_cpu_host->free_pages(keys, bytes);
  return status;
}

static nd4c_status run_searchsorted(const nd4c_call *call) {
  search_call s = {.values = &call->inputs[1], .after = ND4C_FLAG_OF(call, searchsorted_right)};
  return run(call, &call->inputs[0], &s, false);
}

static nd4c_status run_digitize(const nd4c_call *call) {
  search_call s = {.values = &call->inputs[0], .after = ND4C_INT_OF(call, digitize_right) == 0};
  return run(call, &call->inputs[ND4C_IN_digitize_bins], &s, true);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->input_count > 2 && call->inputs[2].dtype != ND4C_DTYPE_NONE, "a sorter is given");
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(
      (call->inputs[0].flags & call->inputs[1].flags & call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0,
      "an operand is not contiguous");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_sorting_search_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(searchsorted, ND4C_CPU_REALS, usable, run_searchsorted),
    ND4C_CPU_SIMD_KERNEL(digitize, ND4C_CPU_REALS, usable, run_digitize), NULL};
