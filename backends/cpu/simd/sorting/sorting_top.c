/* Engine simd: top_k and kth_value. One pass finds a few best elements: it keeps candidates up to a bound, which falls
 * as better ones turn up. Candidates are words of key and index or, where keys have 64 bits, indices. dispatch/choice.c
 * asks these kernels before the reference's. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/simd/sorting/sorting_words.h"

enum {
  BLOCK = 1024,
  FEW = 16,            /* k is few if the line is this many times longer */
  LONG_LINE = 1 << 17, /* elements that pay for sharing out a line */
  LEAST_ROOM = 128,
  PARTS = 4
};

typedef struct top_call {
  const nd4c_tensor *x, *y, *indices;
  const nd4c_sort_dtype *dtype;
  nd4c_word_lines lines;
  int64_t length, x_stride, y_stride, index_stride, bytes;
  int64_t k; /* how many, or which one */
  uint64_t flip;
  bool one; /* kth_value */
  int32_t width, chunks;
  int64_t room; /* words of candidates a chunk */
  char *memory;
  size_t worker_bytes;
  atomic_bool failed;
} top_call;

static size_t round_up(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static nd4c_order_line line_of(const top_call *t, const char *x) {
  return (nd4c_order_line){.dtype = t->dtype, .x = x, .bytes = t->bytes, .flip = t->flip};
}

/* -- candidates ---------------------------------------------------------------------------------------------------- */

typedef struct search {
  const top_call *t;
  const char *x;
  uint64_t *candidates; /* PARTS times `room` of each chunk: candidates, then what sorts them */
  int64_t found[64];
  int64_t chunk;
} search;

/* The k best words of begin .. end - 1, as the first of `words`, sorted; returns how many. */
static int64_t find_best(const search *s, int64_t begin, int64_t end, uint64_t *words, uint64_t *work) {
  const top_call *t = s->t;
  const nd4c_sort_table *sort = nd4c_simd.sort;
  uint32_t keys[BLOCK], bound = UINT32_MAX;
  int64_t count = 0;
  bool open = true;
  for (int64_t i = begin; i < end && open; i += BLOCK) {
    int64_t n = end - i < BLOCK ? end - i : BLOCK, seen = 0;
    (void)t->dtype->keys(n, s->x + i * t->bytes, t->flip, keys);
    while (seen < n && open) {
      seen += sort->filter(n - seen, keys + seen, i + seen, bound, words, t->room, &count);
      if (count + ND4C_SORT_FILTER_ROOM <= t->room) {
        continue;
      }
      sort->words[1].sort(words, count, 0, t->k, work);
      count = t->k;
      /* An equal one that comes later is not among the best. */
      open = words[count - 1] >> 32 > 0;
      bound = (uint32_t)(words[count - 1] >> 32) - 1;
    }
  }
  sort->words[1].sort(words, count, 0, t->k, work);
  return count < t->k ? count : t->k;
}

/* The k best of `count` elements whose indices ascend among equals: their indices, in order. rest: 3 rooms. */
static int64_t choose_best(const top_call *t, const char *x, int64_t count, int64_t room, int64_t *indices,
                           uint64_t *rest) {
  nd4c_order_line line = {.dtype = t->dtype, .x = (const char *)rest, .bytes = t->bytes, .flip = t->flip};
  int64_t *order = (int64_t *)rest + room, best = count < t->k ? count : t->k;
  for (int64_t i = 0; i < count; i++) {
    memcpy(&rest[i], x + indices[i] * t->bytes, sizeof *rest);
  }
  (void)nd4c_order_sort(&line, count, best, 1, rest + 2 * room, order); /* cannot fail: it has its memory */
  for (int64_t i = 0; i < best; i++) {
    order[i] = indices[order[i]];
  }
  memcpy(indices, order, (size_t)best * sizeof *indices);
  return best;
}

/* find_best for keys of 64 bits: indices instead of words. */
static int64_t find_best_wide(const search *s, int64_t begin, int64_t end, int64_t *indices) {
  const top_call *t = s->t;
  uint64_t keys[BLOCK], bound = UINT64_MAX, *rest = (uint64_t *)indices + t->room;
  int64_t count = 0;
  bool open = true;
  for (int64_t i = begin; i < end && open; i += BLOCK) {
    int64_t n = end - i < BLOCK ? end - i : BLOCK, seen = 0;
    (void)t->dtype->keys(n, s->x + i * t->bytes, t->flip, keys);
    while (seen < n && open) {
      seen += nd4c_simd.sort->filter_wide(n - seen, keys + seen, i + seen, bound, indices, t->room, &count);
      if (count + ND4C_SORT_FILTER_ROOM <= t->room) {
        continue;
      }
      count = choose_best(t, s->x, count, t->room, indices, rest);
      (void)t->dtype->keys(1, s->x + indices[count - 1] * t->bytes, t->flip, &bound);
      open = bound-- > 0; /* an equal one that comes later is not among the best */
    }
  }
  return choose_best(t, s->x, count, t->room, indices, rest);
}

static void find_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  search *s = user;
  const top_call *t = s->t;
  (void)worker;
  for (int64_t chunk = begin; chunk < end; chunk++) {
    int64_t from = chunk * s->chunk, to = from + s->chunk < t->length ? from + s->chunk : t->length;
    uint64_t *words = s->candidates + chunk * PARTS * t->room;
    if (from >= to) {
      s->found[chunk] = 0;
    } else if (t->dtype->wide) {
      s->found[chunk] = find_best_wide(s, from, to, (int64_t *)words);
    } else {
      s->found[chunk] = find_best(s, from, to, words, words + t->room);
    }
  }
}

/* Indices of the k best elements, in order, in the first k places of `words`. */
static void find_few(const top_call *t, const char *x, uint64_t *words) {
  search s = {.t = t, .x = x, .candidates = words, .chunk = (t->length + t->chunks - 1) / t->chunks};
  nd4c_cpu_parallel(t->chunks, 1, t->chunks, find_range, &s);
  int64_t count = s.found[0];
  for (int32_t chunk = 1; chunk < t->chunks; chunk++) {
    memmove(words + count, words + chunk * PARTS * t->room, (size_t)s.found[chunk] * sizeof *words);
    count += s.found[chunk];
  }
  if (t->dtype->wide) {
    if (t->chunks > 1) {
      (void)choose_best(t, x, count, t->chunks * t->room, (int64_t *)words, words + t->chunks * t->room);
    }
    return;
  }
  if (t->chunks > 1) {
    nd4c_simd.sort->words[1].sort(words, count, 0, t->k, words + t->chunks * t->room);
  }
  nd4c_simd.sort->mask(t->k, words, UINT32_MAX, (int64_t *)words);
}

/* -- one place ----------------------------------------------------------------------------------------------------- */

typedef struct key_line {
  const top_call *t;
  const char *x;
} key_line;

static uint32_t key_source(const void *user, int64_t begin, int64_t n, void *words) {
  const key_line *line = user;
  return line->t->dtype->keys(n, line->x + begin * line->t->bytes, line->t->flip, words);
}

/* How many of n words are below a key, and how many are equal to it. */
static void compare_words(const void *vwords, bool wide, int64_t n, uint64_t key, int64_t *below, int64_t *equal) {
  int64_t less = 0, same = 0;
  if (wide) {
    const uint64_t *words = vwords;
    for (int64_t i = 0; i < n; i++) {
      less += words[i] < key;
      same += words[i] == key;
    }
  } else {
    const uint32_t *words = vwords;
    uint32_t narrow = (uint32_t)key;
    for (int64_t i = 0; i < n; i++) {
      less += words[i] < narrow;
      same += words[i] == narrow;
    }
  }
  *below += less;
  *equal += same;
}

/* The index of the element that is number `rank` (from 0) among those with this key. */
static int64_t find_equal(const top_call *t, const char *x, uint64_t key, int64_t rank) {
  uint64_t block[BLOCK];
  for (int64_t i = 0; i < t->length; i += BLOCK) {
    int64_t n = t->length - i < BLOCK ? t->length - i : BLOCK, below = 0, equal = 0;
    (void)t->dtype->keys(n, x + i * t->bytes, t->flip, block);
    compare_words(block, t->dtype->wide != 0, n, key, &below, &equal);
    for (int64_t k = 0; rank < equal && k < n; k++) {
      uint64_t word = t->dtype->wide ? block[k] : ((const uint32_t *)(const void *)block)[k];
      if (word == key && rank-- == 0) {
        return i + k;
      }
    }
    rank -= equal;
  }
  return 0;
}

/* Partitions the keys, without indices, around place k; then looks for the element with that key. */
static nd4c_status find_one(const top_call *t, const char *x, void *words, void *work, int64_t *index) {
  key_line line = {t, x};
  nd4c_words job = {.wide = t->dtype->wide != 0, .count = t->length, .from = t->k, .to = t->k + 1};
  uint32_t special;
  int64_t below = 0, equal = 0;
  job.source = key_source;
  job.user = &line;
  job.words = words;
  job.work = work;
  nd4c_status status = nd4c_words_sort(&job, t->width, &special);
  if (status == ND4C_OK) {
    uint64_t key = job.wide ? ((const uint64_t *)words)[t->k] : ((const uint32_t *)words)[t->k];
    compare_words(words, job.wide, t->length, key, &below, &equal);
    *index = find_equal(t, x, key, t->k - below);
  }
  return status;
}

/* -- lines --------------------------------------------------------------------------------------------------------- */

static bool is_few(const top_call *t) {
  return !t->one && t->k <= t->length / FEW;
}

static nd4c_status find(const top_call *t, const char *x, int64_t *order, void *work) {
  if (t->one) {
    return find_one(t, x, order, work, order);
  }
  if (is_few(t)) {
    find_few(t, x, (uint64_t *)order);
    return ND4C_OK;
  }
  nd4c_order_line line = line_of(t, x);
  return nd4c_order_sort(&line, t->length, t->k, t->width, work, order);
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  top_call *t = user;
  char *memory = t->memory + (size_t)worker * t->worker_bytes, *row = memory;
  size_t row_bytes = t->x_stride != 1 ? round_up((size_t)(t->length * t->bytes)) : 0;
  int64_t *order = (int64_t *)(void *)(memory + row_bytes), taken = t->one ? 1 : t->k, offsets[3];
  int64_t *work = nd4c_simd.sort->needs_work && t->width == 1 ? order + t->length : NULL;
  for (int64_t i = begin; i < end; i++) {
    nd4c_word_lines_at(&t->lines, i, offsets);
    const char *x = (const char *)t->x->data + offsets[0] * t->bytes;
    if (t->x_stride != 1) {
      nd4c_simd.move->move[t->bytes](1, t->length, x, 0, t->x_stride, row, 0, 1);
      x = row;
    }
    if (find(t, x, order, work) != ND4C_OK) {
      atomic_store(&t->failed, true);
      return;
    }
    char *y = (char *)t->y->data + offsets[1] * t->bytes;
    int64_t *indices = (int64_t *)t->indices->data + offsets[2];
    for (int64_t k = 0; k < taken; k++) {
      memcpy(y + k * t->y_stride * t->bytes, x + order[k] * t->bytes, (size_t)t->bytes);
      indices[k * t->index_stride] = order[k];
    }
  }
}

static size_t order_words(const top_call *t) {
  size_t sorted = (size_t)t->length * (nd4c_simd.sort->needs_work && t->width == 1 ? 2 : 1);
  return is_few(t) ? (size_t)(t->room * PARTS * t->chunks) : sorted;
}

static nd4c_status run(const nd4c_call *call, int64_t axis, top_call *t) {
  t->x = &call->inputs[0];
  t->y = &call->outputs[0];
  t->indices = &call->outputs[1];
  axis = nd4c_axis(axis, t->x->rank);
  t->dtype = &nd4c_simd.sort->dtypes[t->x->dtype];
  t->lines = nd4c_word_lines_of(t->x, (int32_t)axis, t->y, t->indices);
  t->length = t->x->shape[axis];
  t->bytes = nd4c_cpu_dtype_bytes(t->x->dtype);
  t->x_stride = t->x->strides[axis];
  t->y_stride = t->one ? 0 : t->y->strides[axis];
  t->index_stride = t->one ? 0 : t->indices->strides[axis];
  if (t->length == 0 || t->lines.count == 0 || (!t->one && t->k == 0)) {
    return ND4C_OK;
  }
  bool shared = t->length < LONG_LINE || t->lines.count >= 4 * (int64_t)call->width;
  int32_t workers = shared && call->width > 1 ? call->width : 1;
  t->width = shared || call->width < 1 ? 1 : call->width;
  t->chunks = t->width < 64 ? t->width : 64;
  t->room = 2 * t->k + ND4C_SORT_FILTER_ROOM > LEAST_ROOM ? 2 * t->k + ND4C_SORT_FILTER_ROOM : LEAST_ROOM;
  t->worker_bytes = order_words(t) * sizeof(uint64_t);
  if (t->x_stride != 1) {
    t->worker_bytes += round_up((size_t)(t->length * t->bytes));
  }
  t->worker_bytes = round_up(t->worker_bytes);
  size_t bytes = t->worker_bytes * (size_t)workers;
  t->memory = nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(t->memory == NULL, ND4C_MEMORY, "no memory for %zu bytes to sort in", bytes);
  nd4c_cpu_parallel(t->lines.count, 4096 / t->length + 1, workers, lines_range, t);
  nd4c_cpu_host->free_pages(t->memory, bytes);
  return atomic_load(&t->failed) ? nd4c_cpu_host->fail(ND4C_MEMORY, "no memory to sort in") : ND4C_OK;
}

static nd4c_status run_top_k(const nd4c_call *call) {
  top_call t = {.k = ND4C_INT_OF(call, top_k_k)};
  bool largest = ND4C_FLAG_OF(call, top_k_largest);
  t.flip = largest ? nd4c_simd.sort->dtypes[call->inputs[0].dtype].flip : 0;
  return run(call, ND4C_INT_OF(call, top_k_axis), &t);
}

static nd4c_status run_kth_value(const nd4c_call *call) {
  top_call t = {.k = ND4C_INT_OF(call, kth_value_k), .one = true};
  return run(call, ND4C_INT_OF(call, kth_value_axis), &t);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size >= INT64_C(1) << 32, "2^32 elements or more");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_sorting_top_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(top_k, ND4C_CPU_BOOLS | ND4C_CPU_REALS, usable, run_top_k),
    ND4C_CPU_SIMD_KERNEL(kth_value, ND4C_CPU_BOOLS | ND4C_CPU_REALS, usable, run_kth_value), NULL};
