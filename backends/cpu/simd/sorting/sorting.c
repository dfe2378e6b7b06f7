/* Engine simd: sort and argsort. Elements become words that compare as the elements do (kernels/cpu/sorting/sort.h); an
 * index in the low bits of a word makes sorting stable and is what argsort returns. dispatch/choice.c asks these
 * kernels before the reference's. */
#include <stdatomic.h>
#include <string.h>

#include "backends/cpu/simd/sorting/sorting_words.h"

enum {
  BLOCK = 1024,
  BESIDE = 16,         /* neighbouring lines that are gathered together: a cache line of floats */
  LONG_LINE = 1 << 15, /* words that pay for sharing out a line */
  COUNTED_8 = 512,     /* elements of 8 bits, and of 16, that are counted instead of sorted */
  COUNTED_16 = 1 << 15
};

typedef struct sort_call {
  const nd4c_tensor *x, *y;
  const nd4c_sort_dtype *dtype;
  nd4c_word_lines lines;
  int64_t length, x_stride, y_stride;
  int64_t x_bytes, y_bytes;
  uint64_t flip;
  bool ordering; /* argsort */
  int32_t width; /* of one line */
  char *memory;  /* of all workers */
  size_t line_bytes, worker_bytes;
  atomic_bool failed;
} sort_call;

/* -- values of a line -------------------------------------------------------------------------------------------- */

typedef struct value_line {
  const nd4c_sort_dtype *dtype;
  const char *x;
  char *y;
  int64_t bytes;
  uint64_t flip;
} value_line;

static uint32_t value_source(const void *user, int64_t begin, int64_t n, void *words) {
  const value_line *line = user;
  return line->dtype->keys(n, line->x + begin * line->bytes, line->flip, words);
}

static void value_finish(const void *user, int64_t begin, int64_t n, void *words) {
  const value_line *line = user;
  line->dtype->elements(n, words, line->flip, line->y + begin * line->bytes);
}

static uint64_t word_at(const value_line *line, const void *words, int64_t i) {
  uint32_t narrow;
  uint64_t wide;
  if (line->dtype->wide) {
    memcpy(&wide, (const char *)words + i * 8, sizeof wide);
    return wide;
  }
  memcpy(&narrow, (const char *)words + i * 4, sizeof narrow);
  return narrow;
}

/* The first place in the sorted line whose key is not below `key`. */
static int64_t find_key(const value_line *line, int64_t count, uint64_t key) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    uint64_t word[1];
    (void)line->dtype->keys(1, line->y + middle * line->bytes, line->flip, word);
    if (word_at(line, word, 0) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Zeros of both signs have one key, and so do all NaN: writes them to y in the order and with the bits of x. */
static void restore_special(const value_line *line, int64_t count) {
  uint64_t zero = line->dtype->zero ^ line->flip, nan = line->dtype->flip ^ line->flip, keys[BLOCK];
  int64_t zero_at = find_key(line, count, zero), nan_at = find_key(line, count, nan);
  for (int64_t i = 0; i < count; i += BLOCK) {
    int64_t n = count - i < BLOCK ? count - i : BLOCK;
    (void)line->dtype->keys(n, line->x + i * line->bytes, line->flip, keys);
    for (int64_t k = 0; k < n; k++) {
      uint64_t key = word_at(line, keys, k);
      if (key == zero || key == nan) {
        int64_t *at = key == zero ? &zero_at : &nan_at;
        memcpy(line->y + (*at)++ * line->bytes, line->x + (i + k) * line->bytes, (size_t)line->bytes);
      }
    }
  }
}

/* Few different values: each is written as often as it was found. counts: four times as many as there are values. */
static uint32_t sort_by_counting(const value_line *line, int64_t count, uint32_t *counts) {
  int64_t values = INT64_C(1) << line->dtype->bits, place = 0;
  uint32_t keys[BLOCK], special = 0;
  memset(counts, 0, (size_t)values * 4 * sizeof *counts);
  for (int64_t i = 0; i < count; i += BLOCK) {
    int64_t n = count - i < BLOCK ? count - i : BLOCK, k = 0;
    special |= line->dtype->keys(n, line->x + i * line->bytes, line->flip, keys);
    for (; k + 4 <= n; k += 4) {
      for (int64_t part = 0; part < 4; part++) {
        counts[part * values + keys[k + part]]++;
      }
    }
    for (; k < n; k++) {
      counts[keys[k]]++;
    }
  }
  for (int64_t value = 0; value < values; value++) {
    int64_t found = 0;
    for (int64_t part = 0; part < 4; part++) {
      found += counts[part * values + value];
    }
    uint32_t key = (uint32_t)value;
    uint16_t element = 0;
    if (found == 0) {
      continue;
    }
    line->dtype->elements(1, &key, line->flip, &element);
    if (line->bytes == 1) {
      memset(line->y + place, *(uint8_t *)&element, (size_t)found);
    }
    for (int64_t k = 0; line->bytes == 2 && k < found; k++) {
      ((uint16_t *)(void *)line->y)[place + k] = element;
    }
    place += found;
  }
  return special;
}

static bool is_counted(const sort_call *s) {
  return !s->ordering && s->length <= INT32_MAX &&
         ((s->dtype->bits <= 8 && s->length >= COUNTED_8) || (s->dtype->bits == 16 && s->length >= COUNTED_16));
}

/* words: memory for words if elements are narrower, and for counts. work: memory for the sort. */
static nd4c_status sort_values(const sort_call *s, const char *x, char *y, void *words, void *work) {
  value_line line = {s->dtype, x, y, s->x_bytes, s->flip};
  uint32_t special = 0;
  nd4c_status status = ND4C_OK;
  if (is_counted(s)) {
    special = sort_by_counting(&line, s->length, words);
  } else {
    nd4c_words job = {.wide = s->dtype->wide != 0, .count = s->length, .to = s->length, .source = value_source};
    job.finish = value_finish;
    job.user = &line;
    job.words = s->x_bytes >= 4 ? y : words;
    job.work = work;
    status = nd4c_words_sort(&job, s->width, &special);
  }
  if (status == ND4C_OK && special != 0) {
    restore_special(&line, s->length);
  }
  return status;
}

/* -- order of a line --------------------------------------------------------------------------------------------- */

static nd4c_status sort_order(const sort_call *s, const char *x, int64_t *y, void *work) {
  nd4c_order_line line = {.dtype = s->dtype, .x = x, .bytes = s->x_bytes, .flip = s->flip};
  return nd4c_order_sort(&line, s->length, s->length, s->width, work, y);
}

/* -- lines ------------------------------------------------------------------------------------------------------- */

/* A worker's memory: lines of x, lines of y, words, work. */
typedef struct parts {
  char *x, *y;
  void *words, *work;
} parts;

static size_t round_up(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

static size_t words_bytes(const sort_call *s) {
  if (is_counted(s)) {
    return (sizeof(uint32_t[4])) << s->dtype->bits;
  }
  return s->ordering || s->x_bytes >= 4 ? 0 : (size_t)s->length * sizeof(uint32_t);
}

static parts parts_of(const sort_call *s, int32_t worker) {
  char *memory = s->memory + (size_t)worker * s->worker_bytes;
  parts p = {.x = memory};
  p.y = p.x + (s->x_stride != 1 ? round_up((size_t)(s->length * s->x_bytes) * BESIDE) : 0);
  p.words = p.y + (s->y_stride != 1 ? round_up((size_t)(s->length * s->y_bytes) * BESIDE) : 0);
  p.work = (char *)p.words + round_up(words_bytes(s));
  if (!nd4c_simd.sort->needs_work || s->width > 1) {
    p.work = NULL;
  }
  return p;
}

static void size_parts(sort_call *s) {
  size_t element = s->ordering || s->dtype->wide ? 8 : 4;
  s->worker_bytes = round_up(words_bytes(s));
  if (s->x_stride != 1) {
    s->worker_bytes += round_up((size_t)(s->length * s->x_bytes) * BESIDE);
  }
  if (s->y_stride != 1) {
    s->worker_bytes += round_up((size_t)(s->length * s->y_bytes) * BESIDE);
  }
  if (nd4c_simd.sort->needs_work && s->width == 1) {
    s->worker_bytes += round_up((size_t)s->length * element);
  }
}

static nd4c_status sort_beside(const sort_call *s, int64_t line, int64_t beside, const parts *p) {
  int64_t offsets[3], n = s->length;
  nd4c_word_lines_at(&s->lines, line, offsets);
  const char *x = (const char *)s->x->data + offsets[0] * s->x_bytes;
  char *y = (char *)s->y->data + offsets[1] * s->y_bytes;
  if (s->x_stride != 1) {
    nd4c_simd.move->move[s->x_bytes](beside, n, x, 1, s->x_stride, p->x, n, 1);
  }
  for (int64_t i = 0; i < beside; i++) {
    const char *from = s->x_stride != 1 ? p->x + i * n * s->x_bytes : x + i * s->x_bytes;
    char *to = s->y_stride != 1 ? p->y + i * n * s->y_bytes : y;
    nd4c_status status =
        s->ordering ? sort_order(s, from, (int64_t *)(void *)to, p->work) : sort_values(s, from, to, p->words, p->work);
    if (status != ND4C_OK) {
      return status;
    }
  }
  if (s->y_stride != 1) {
    nd4c_simd.move->move[s->y_bytes](n, beside, p->y, 1, n, y, s->y_stride, 1);
  }
  return ND4C_OK;
}

static void sort_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  sort_call *s = user;
  parts p = parts_of(s, worker);
  for (int64_t line = begin; line < end;) {
    bool strided = s->x_stride != 1 && s->y_stride != 1;
    int64_t most = end - line < BESIDE ? end - line : BESIDE;
    int64_t beside = strided ? nd4c_word_lines_beside(&s->lines, line, most) : 1;
    if (sort_beside(s, line, beside, &p) != ND4C_OK) {
      atomic_store(&s->failed, true);
    }
    line += beside;
  }
}

static nd4c_status sort_lines(sort_call *s, int32_t axis, int32_t width) {
  s->dtype = &nd4c_simd.sort->dtypes[s->x->dtype];
  s->lines = nd4c_word_lines_of(s->x, axis, s->y, NULL);
  s->length = s->x->shape[axis];
  s->x_bytes = nd4c_cpu_dtype_bytes(s->x->dtype);
  s->y_bytes = nd4c_cpu_dtype_bytes(s->y->dtype);
  s->x_stride = s->x->strides[axis];
  s->y_stride = s->y->strides[axis];
  if (s->length == 0 || s->lines.count == 0) {
    return ND4C_OK;
  }
  bool shared = s->length < LONG_LINE || s->lines.count >= 4 * (int64_t)width;
  s->width = shared ? 1 : width;
  int32_t workers = !shared || width < 1 ? 1 : width;
  size_parts(s);
  size_t bytes = s->worker_bytes * (size_t)workers;
  if (bytes > 0) {
    s->memory = nd4c_cpu_host->allocate_pages(bytes);
  }
  ND4C_CPU_FAIL_IF(bytes > 0 && s->memory == NULL, ND4C_MEMORY, "no memory for %zu bytes to sort in", bytes);
  nd4c_cpu_parallel(s->lines.count, 2048 / s->length + 1, workers, sort_range, s);
  if (bytes > 0) {
    nd4c_cpu_host->free_pages(s->memory, bytes);
  }
  return atomic_load(&s->failed) ? nd4c_cpu_host->fail(ND4C_MEMORY, "no memory to sort in") : ND4C_OK;
}

static nd4c_status run_sort(const nd4c_call *call) {
  sort_call s = {.x = &call->inputs[0], .y = &call->outputs[0]};
  int64_t axis = ND4C_INT_OF(call, sort_axis);
  s.flip = ND4C_FLAG_OF(call, sort_descending) ? nd4c_simd.sort->dtypes[s.x->dtype].flip : 0;
  return sort_lines(&s, nd4c_axis(axis, s.x->rank), call->width);
}

static nd4c_status run_argsort(const nd4c_call *call) {
  sort_call s = {.x = &call->inputs[0], .y = &call->outputs[0], .ordering = true};
  int64_t axis = ND4C_INT_OF(call, argsort_axis);
  s.flip = ND4C_FLAG_OF(call, argsort_descending) ? nd4c_simd.sort->dtypes[s.x->dtype].flip : 0;
  return sort_lines(&s, nd4c_axis(axis, s.x->rank), call->width);
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].size >= INT64_C(1) << 32, "2^32 elements or more");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_sorting_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(sort, ND4C_CPU_BOOLS | ND4C_CPU_REALS, usable, run_sort),
    ND4C_CPU_SIMD_KERNEL(argsort, ND4C_CPU_BOOLS | ND4C_CPU_REALS, usable, run_argsort), NULL};
