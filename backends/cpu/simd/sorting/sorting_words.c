/* Implements sorting_words.h: turns elements into unsigned words and sorts them line by line. sorting.c, sorting_top.c,
 * sorting_unique.c and statistics_median.c call it. */
#include "backends/cpu/simd/sorting/sorting_words.h"

#include <stdatomic.h>
#include <string.h>

enum { BLOCK = 1024, LIMITS = 15, SAMPLES = 128, LONG_RANGE = 1 << 15, SHARED_WORDS = 1 << 15 };

/* -- one thread ------------------------------------------------------------------------------------------------ */

static size_t word_bytes(const nd4c_words *job) {
  return job->wide ? 8 : 4;
}

static nd4c_status no_memory(size_t bytes) {
  return nd4c_cpu_host->fail(ND4C_MEMORY, "no memory for %zu bytes to sort in", bytes);
}

static nd4c_status sort_alone(const nd4c_words *job, uint32_t *special) {
  size_t bytes = (size_t)job->count * word_bytes(job);
  bool allocates = nd4c_simd.sort->needs_work && job->work == NULL;
  void *work = allocates ? nd4c_cpu_host->allocate_pages(bytes) : job->work;
  if (allocates && work == NULL) {
    return no_memory(bytes);
  }
  *special = job->source(job->user, 0, job->count, job->words);
  nd4c_simd.sort->words[job->wide].sort(job->words, job->count, job->from, job->to, work);
  if (job->finish != NULL) {
    job->finish(job->user, 0, job->count, job->words);
  }
  if (allocates) {
    nd4c_cpu_host->free_pages(work, bytes);
  }
  return ND4C_OK;
}

/* -- several ---------------------------------------------------------------------------------------------------- */

/* A sort by several threads: they scatter the words, chunk by chunk, into the buckets that `limits` separate, then sort
 * the buckets. */
typedef struct sharing {
  const nd4c_words *job;
  const nd4c_sort_words *loops;
  int32_t limit_count, chunks;
  int64_t chunk;                            /* words */
  _Alignas(64) uint64_t limits[LIMITS + 1]; /* of 32 bits, or of 64 */
  int64_t (*places)[LIMITS + 1];            /* for each chunk; counts until find_places */
  int64_t starts[LIMITS + 2];               /* of the buckets */
  char *work;
  size_t work_bytes; /* for each worker */
  _Atomic int32_t next;
  _Atomic uint32_t special;
} sharing;

static int64_t chunk_end(const sharing *s, int64_t chunk) {
  int64_t end = (chunk + 1) * s->chunk;
  return end < s->job->count ? end : s->job->count;
}

static void count_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  sharing *s = user;
  uint64_t block[BLOCK];
  uint32_t special = 0;
  (void)worker;
  for (int64_t chunk = begin; chunk < end; chunk++) {
    memset(s->places[chunk], 0, sizeof s->places[chunk]);
    for (int64_t i = chunk * s->chunk; i < chunk_end(s, chunk); i += BLOCK) {
      int64_t n = chunk_end(s, chunk) - i < BLOCK ? chunk_end(s, chunk) - i : BLOCK;
      special |= s->job->source(s->job->user, i, n, block);
      s->loops->count(block, n, s->limits, s->limit_count, s->places[chunk]);
    }
  }
  atomic_fetch_or(&s->special, special);
}

static void scatter_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  sharing *s = user;
  uint64_t block[BLOCK];
  (void)worker;
  for (int64_t chunk = begin; chunk < end; chunk++) {
    void *to[LIMITS + 1];
    for (int32_t bucket = 0; bucket <= s->limit_count; bucket++) {
      to[bucket] = (char *)s->job->words + (size_t)s->places[chunk][bucket] * word_bytes(s->job);
    }
    for (int64_t i = chunk * s->chunk; i < chunk_end(s, chunk); i += BLOCK) {
      int64_t n = chunk_end(s, chunk) - i < BLOCK ? chunk_end(s, chunk) - i : BLOCK;
      (void)s->job->source(s->job->user, i, n, block);
      s->loops->scatter(block, n, s->limits, s->limit_count, to);
    }
  }
}

/* A worker that has finished a bucket takes the next one. */
static void sort_buckets(void *user, int64_t begin, int64_t end, int32_t worker) {
  sharing *s = user;
  (void)begin;
  (void)end;
  for (;;) {
    int32_t bucket = atomic_fetch_add(&s->next, 1);
    if (bucket > s->limit_count) {
      return;
    }
    int64_t start = s->starts[bucket], n = s->starts[bucket + 1] - start;
    char *words = (char *)s->job->words + (size_t)start * word_bytes(s->job);
    if (n > 0 && s->job->from < start + n && s->job->to > start) {
      s->loops->sort(words, n, s->job->from - start, s->job->to - start, s->work + (size_t)worker * s->work_bytes);
      if (s->job->finish != NULL) {
        s->job->finish(s->job->user, start, n, words);
      }
    }
  }
}

/* Limits between equal parts of a sample. */
static void choose_limits(sharing *s) {
  uint64_t sample[(LIMITS + 1) * SAMPLES], buffer[(LIMITS + 1) * SAMPLES];
  int32_t buckets = s->limit_count + 1;
  int64_t count = (int64_t)buckets * SAMPLES, step = s->job->count / count;
  size_t bytes = word_bytes(s->job);
  for (int64_t i = 0; i < count; i++) {
    (void)s->job->source(s->job->user, i * step + step / 2, 1, (char *)sample + (size_t)i * bytes);
  }
  s->loops->sort(sample, count, 0, count, buffer);
  for (int32_t j = 0; j < s->limit_count; j++) {
    uint32_t narrow;
    uint64_t wide;
    const char *from = (const char *)sample + (size_t)(j + 1) * SAMPLES * bytes;
    if (s->job->wide) {
      memcpy(&wide, from, sizeof wide);
      wide &= ~s->job->apart_from;
      memcpy(&s->limits[j], &wide, sizeof wide);
    } else {
      memcpy(&narrow, from, sizeof narrow);
      narrow &= ~(uint32_t)s->job->apart_from;
      memcpy((char *)s->limits + (size_t)j * bytes, &narrow, sizeof narrow);
    }
  }
}

/* Turns the counts of words that reach each limit into places, ordered by bucket and, within a bucket, by chunk. */
static void find_places(sharing *s) {
  int64_t place = 0;
  for (int32_t chunk = 0; chunk < s->chunks; chunk++) {
    int64_t *counts = s->places[chunk], reach = chunk_end(s, chunk) - chunk * s->chunk;
    for (int32_t bucket = 0; bucket <= s->limit_count; bucket++) {
      int64_t further = bucket < s->limit_count ? counts[bucket] : 0;
      counts[bucket] = reach - further;
      reach = further;
    }
  }
  for (int32_t bucket = 0; bucket <= s->limit_count; bucket++) {
    s->starts[bucket] = place;
    for (int32_t chunk = 0; chunk < s->chunks; chunk++) {
      int64_t count = s->places[chunk][bucket];
      s->places[chunk][bucket] = place;
      place += count;
    }
  }
  s->starts[s->limit_count + 1] = place;
}

static nd4c_status sort_shared(sharing *s, int32_t width) {
  choose_limits(s);
  nd4c_cpu_parallel(s->chunks, 1, width, count_range, s);
  find_places(s);
  nd4c_cpu_parallel(s->chunks, 1, width, scatter_range, s);
  int64_t longest = 0;
  for (int32_t bucket = 0; bucket <= s->limit_count; bucket++) {
    int64_t n = s->starts[bucket + 1] - s->starts[bucket];
    longest = n > longest ? n : longest;
  }
  s->work_bytes = nd4c_simd.sort->needs_work ? (size_t)longest * word_bytes(s->job) : 0;
  size_t bytes = s->work_bytes * (size_t)width;
  if (bytes > 0) {
    s->work = nd4c_cpu_host->allocate_pages(bytes);
  }
  if (bytes > 0 && s->work == NULL) {
    return no_memory(bytes);
  }
  nd4c_cpu_parallel(width, 1, width, sort_buckets, s);
  if (bytes > 0) {
    nd4c_cpu_host->free_pages(s->work, bytes);
  }
  return ND4C_OK;
}

nd4c_status nd4c_words_sort(const nd4c_words *job, int32_t width, uint32_t *special) {
  if (width <= 1 || job->count < SHARED_WORDS) {
    return sort_alone(job, special);
  }
  /* Two buckets for each thread. More would not pay: scattering costs as much for each bucket as one partition of it
   * saves. */
  int64_t buckets = 2 * (int64_t)width < LIMITS + 1 ? 2 * (int64_t)width : LIMITS + 1;
  sharing s = {.job = job,
               .loops = &nd4c_simd.sort->words[job->wide],
               .limit_count = (int32_t)buckets - 1,
               .chunks = width,
               .chunk = (job->count + width - 1) / width};
  size_t bytes = (size_t)width * sizeof *s.places;
  s.places = nd4c_cpu_host->allocate(bytes);
  if (s.places == NULL) {
    return no_memory(bytes);
  }
  nd4c_status status = sort_shared(&s, width);
  *special = atomic_load(&s.special);
  nd4c_cpu_host->free(s.places);
  return status;
}

/* -- order ------------------------------------------------------------------------------------------------------- */

static int32_t bit_length(uint64_t x) {
  int32_t bits = 0;
  for (; x > 0; x >>= 1) {
    bits++;
  }
  return bits;
}

static uint32_t order_source(const void *user, int64_t begin, int64_t n, void *words) {
  const nd4c_order_line *line = user;
  const char *x = line->x + begin * line->bytes;
  uint64_t *to = words;
  uint32_t keys[BLOCK];
  if (line->dtype->wide) {
    (void)line->dtype->keys(n, x, line->flip, to);
    nd4c_simd.sort->pack(n, to, line->least, line->shift, line->low_bits, begin, to);
    return 0;
  }
  for (int64_t i = 0; i < n; i += BLOCK) {
    int64_t some = n - i < BLOCK ? n - i : BLOCK;
    (void)line->dtype->keys(some, x + i * line->bytes, line->flip, keys);
    nd4c_simd.sort->pair(some, keys, begin + i, to + i);
  }
  return 0;
}

uint64_t nd4c_order_key(const nd4c_order_line *line, int64_t index) {
  uint64_t wide;
  uint32_t narrow;
  if (line->dtype->wide) {
    (void)line->dtype->keys(1, line->x + index * line->bytes, line->flip, &wide);
    return wide;
  }
  (void)line->dtype->keys(1, line->x + index * line->bytes, line->flip, &narrow);
  return narrow;
}

/* Used if there is no memory for the sort with work space. */
static void insertion_sort(int64_t n, uint64_t *words) {
  for (int64_t i = 1; i < n; i++) {
    uint64_t word = words[i];
    int64_t place = i;
    for (; place > 0 && words[place - 1] > word; place--) {
      words[place] = words[place - 1];
    }
    words[place] = word;
  }
}

/* Sorts n words that are equal except for the index: they have no room for the last `dropped` bits of their keys. New
 * words are made of these bits and the index and sorted; then each gets its upper bits back. */
static void part_run(const nd4c_order_line *line, int64_t n, uint64_t *words) {
  uint64_t index_mask = (UINT64_C(1) << line->low_bits) - 1, upper = words[0] & ~index_mask;
  uint64_t dropped = (UINT64_C(1) << line->dropped) - 1;
  for (int64_t i = 0; i < n; i++) {
    uint64_t index = words[i] & index_mask, key = nd4c_order_key(line, (int64_t)index) - line->least;
    words[i] = (key >> (line->shift - line->dropped) & dropped) << line->low_bits | index;
  }
  void *work = NULL;
  bool is_long = n > 32 && nd4c_simd.sort->needs_work;
  if (is_long) {
    work = nd4c_cpu_host->allocate_pages((size_t)n * sizeof *words);
  }
  if (!is_long || work != NULL) {
    nd4c_simd.sort->words[1].sort(words, n, 0, n, work);
  } else {
    insertion_sort(n, words);
  }
  if (work != NULL) {
    nd4c_cpu_host->free_pages(work, (size_t)n * sizeof *words);
  }
  for (int64_t i = 0; i < n; i++) {
    words[i] = upper | (words[i] & index_mask);
  }
}

static void order_finish(const void *user, int64_t begin, int64_t n, void *vwords) {
  const nd4c_order_line *line = user;
  uint64_t *words = vwords;
  (void)begin;
  for (int64_t i = 0; line->dropped > 0 && i < n;) {
    int64_t end = i + 1;
    while (end < n && words[end] >> line->low_bits == words[i] >> line->low_bits) {
      end++;
    }
    if (end - i > 1) {
      part_run(line, end - i, words + i);
    }
    i = end;
  }
  if (!line->keeps_words) {
    nd4c_simd.sort->mask(n, words, UINT64_MAX >> (64 - line->low_bits), vwords);
  }
}

/* The range of the keys, and in which bits they differ from the first one. */
typedef struct key_range {
  const nd4c_order_line *line;
  uint64_t first, least, most, differ;
  _Atomic uint64_t shared[3]; /* ~least, most and differ of all workers */
} key_range;

static void gather_maximum(_Atomic uint64_t *to, uint64_t value) {
  uint64_t seen = atomic_load(to);
  while (seen < value && !atomic_compare_exchange_weak(to, &seen, value)) {
  }
}

static void range_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  key_range *r = user;
  uint64_t least = UINT64_MAX, most = 0, differ = 0, keys[BLOCK];
  (void)worker;
  for (int64_t i = begin; i < end; i += BLOCK) {
    int64_t n = end - i < BLOCK ? end - i : BLOCK;
    (void)r->line->dtype->keys(n, r->line->x + i * r->line->bytes, r->line->flip, keys);
    nd4c_simd.sort->range(n, keys, r->first, &least, &most, &differ);
  }
  gather_maximum(&r->shared[0], ~least);
  gather_maximum(&r->shared[1], most);
  atomic_fetch_or(&r->shared[2], differ);
}

/* Lays out a word of key and index. The key is stored less the least key and without the low bits that all keys share.
 * If it is still too long, its last bits are dropped, and part_run sorts by them. */
static void plan_words(nd4c_order_line *line, int64_t count, int32_t width) {
  if (!line->dtype->wide) {
    line->low_bits = 32;
    return;
  }
  key_range r = {.line = line, .first = nd4c_order_key(line, 0)};
  nd4c_cpu_parallel(count, LONG_RANGE, width, range_range, &r);
  line->least = ~atomic_load(&r.shared[0]);
  uint64_t apart = atomic_load(&r.shared[1]) - line->least, differ = atomic_load(&r.shared[2]);
  int32_t common = 0;
  while (common < 63 && differ != 0 && (differ >> common & 1) == 0) {
    common++;
  }
  line->low_bits = bit_length((uint64_t)count - 1);
  line->low_bits = line->low_bits > 0 ? line->low_bits : 1;
  int32_t bits = bit_length(apart >> common);
  line->dropped = bits + line->low_bits > 64 ? bits + line->low_bits - 64 : 0;
  line->shift = common + line->dropped;
}

nd4c_status nd4c_order_sort(nd4c_order_line *line, int64_t count, int64_t to, int32_t width, void *work,
                            int64_t *order) {
  if (count == 0) {
    return ND4C_OK;
  }
  plan_words(line, count, width);
  nd4c_words job = {.wide = true, .count = count, .source = order_source, .finish = order_finish, .user = line};
  uint32_t special;
  job.to = line->dropped > 0 ? count : to; /* part_run needs all words of a run */
  job.words = order;
  job.work = work;
  job.apart_from = UINT64_MAX >> (64 - line->low_bits);
  return nd4c_words_sort(&job, width, &special);
}

/* -- lines ------------------------------------------------------------------------------------------------------ */

nd4c_word_lines nd4c_word_lines_of(const nd4c_tensor *x, int32_t axis, const nd4c_tensor *first,
                                   const nd4c_tensor *second) {
  const nd4c_tensor *tensors[3] = {x, first, second};
  nd4c_word_lines lines = {.count = 1};
  for (int32_t i = 0; i < x->rank; i++) {
    if (i == axis || x->shape[i] == 1) {
      continue;
    }
    lines.shape[lines.rank] = x->shape[i];
    lines.count *= x->shape[i];
    for (int t = 0; t < 3; t++) {
      int32_t place = t > 0 && tensors[t] != NULL && tensors[t]->rank < x->rank && i > axis ? i - 1 : i;
      lines.strides[t][lines.rank] = tensors[t] != NULL ? tensors[t]->strides[place] : 0;
    }
    lines.rank++;
  }
  return lines;
}

void nd4c_word_lines_at(const nd4c_word_lines *lines, int64_t line, int64_t offsets[3]) {
  offsets[0] = offsets[1] = offsets[2] = 0;
  for (int32_t i = lines->rank - 1; i >= 0; i--) {
    int64_t position = i > 0 ? line % lines->shape[i] : line;
    line /= lines->shape[i];
    for (int t = 0; t < 3; t++) {
      offsets[t] += position * lines->strides[t][i];
    }
  }
}

int64_t nd4c_word_lines_beside(const nd4c_word_lines *lines, int64_t line, int64_t most) {
  int32_t last = lines->rank - 1;
  if (last < 0 || lines->strides[0][last] != 1 || lines->strides[1][last] != 1) {
    return 1;
  }
  int64_t left = lines->shape[last] - line % lines->shape[last];
  return left < most ? left : most;
}
