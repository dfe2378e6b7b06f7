/* Engine simd: sets. isin looks elements up in a table where keys (kernels/cpu/sorting/sort.h) are few, else among
 * sorted keys; intersect1d, setdiff1d and setxor1d merge the sorted different keys of both operands. Also lexsort,
 * which sorts by one key after the other. dispatch/choice.c asks these kernels before the reference's. */
#include <string.h>

#include "backends/cpu/simd/sorting/sorting_words.h"
#include "backends/cpu/support/moving.h"
#include "backends/cpu/support/nest.h"

enum { BLOCK = 1024, GRAIN_BLOCKS = 16, TABLE_MOST = 1 << 24, TABLE_LEAST = 1 << 16, ALIGNMENT = 64 };
/* Elements of so few bits are marked, not sorted, if they are MANY. */
enum { FEW_BITS = 16, MANY = 1 << 16 };

/* -- memory of a call ---------------------------------------------------------------------------------------------- */

static size_t round_up(size_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static size_t element_bytes(const nd4c_tensor *x) {
  return (size_t)nd4c_cpu_dtype_bytes(x->dtype);
}

/* x's elements in C order: where they are, or copied to `memory`. */
static const char *dense(const nd4c_tensor *x, char *memory, int32_t width) {
  if ((x->flags & ND4C_TENSOR_CONTIGUOUS) != 0 || x->size == 0) {
    return x->data;
  }
  int64_t strides[ND4C_CPU_MAX_RANK];
  nd4c_tensor to = *x;
  nd4c_dense_strides(x->rank, x->shape, strides);
  to.strides = strides;
  to.data = memory;
  nd4c_nest_copy_tensor(x, &to, width);
  return memory;
}

static uint64_t key_of(bool wide, const void *words, int64_t i) {
  return wide ? ((const uint64_t *)words)[i] : ((const uint32_t *)words)[i];
}

/* -- isin ---------------------------------------------------------------------------------------------------------- */

/* table: a byte for each key from `least` on, 1 for those of b; or `keys`: b's different keys, ascending. */
typedef struct membership {
  const nd4c_sort_dtype *dtype;
  const char *a, *b;
  int64_t count, b_count, bytes; /* count: of a */
  uint8_t *y;
  bool invert;
  uint8_t *table;
  uint64_t least, range;
  void *keys;
  int64_t key_count;
} membership;

static uint32_t b_source(const void *user, int64_t begin, int64_t n, void *words) {
  const membership *m = user;
  return m->dtype->keys(n, m->b + begin * m->bytes, 0, words);
}

/* Whether x, whose key is NaN's, can be in b: never. */
static bool is_nan_key(const membership *m, uint64_t key) {
  return m->dtype->has_special && key == m->dtype->flip;
}

/* Keys outside of the table take its last byte, 0. */
#define FIND_IN_TABLE(type)                                                                         \
  static void find_in_table_##type(const membership *m, const void *words, int64_t n, uint8_t *y) { \
    const type *keys = words, least = (type)m->least, range = (type)m->range;                       \
    const uint8_t *table = m->table, other = m->invert;                                             \
    for (int64_t i = 0; i < n; i++) {                                                               \
      const type place = keys[i] - least;                                                           \
      y[i] = table[place <= range ? place : (uint64_t)range + 1] ^ other;                           \
    }                                                                                               \
  }
FIND_IN_TABLE(uint32_t)
FIND_IN_TABLE(uint64_t)

static void find_among_keys(const membership *m, const void *words, int64_t n, uint8_t *y) {
  const bool wide = m->dtype->wide != 0;
  int64_t places[BLOCK];
  nd4c_simd.sort->words[wide].search(n, words, m->keys, m->key_count, false, places);
  for (int64_t i = 0; i < n; i++) {
    const uint64_t key = key_of(wide, words, i);
    const bool found = places[i] < m->key_count && key_of(wide, m->keys, places[i]) == key && !is_nan_key(m, key);
    y[i] = (uint8_t)(found != m->invert);
  }
}

static void member_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const membership *m = user;
  uint64_t words[BLOCK];
  (void)worker;
  for (int64_t block = begin; block < end; block++) {
    const int64_t first = block * BLOCK, n = m->count - first < BLOCK ? m->count - first : BLOCK;
    (void)m->dtype->keys(n, m->a + first * m->bytes, 0, words);
    if (m->table != NULL && m->dtype->wide) {
      find_in_table_uint64_t(m, words, n, m->y + first);
    } else if (m->table != NULL) {
      find_in_table_uint32_t(m, words, n, m->y + first);
    } else {
      find_among_keys(m, words, n, m->y + first);
    }
  }
}

/* The least and the largest of b's keys, without NaN's where `special`, into m; false if there are none. */
#define FIND_LIMITS(type)                                                          \
  static bool find_limits_##type(membership *m, const void *words, bool special) { \
    const type *keys = words, nan = (type)m->dtype->flip;                          \
    type least = (type) - 1, most = 0;                                             \
    for (int64_t i = 0; i < m->b_count; i++) {                                     \
      const bool out = special && keys[i] == nan;                                  \
      const type low = out ? (type) - 1 : keys[i], high = out ? 0 : keys[i];       \
      least = low < least ? low : least;                                           \
      most = high > most ? high : most;                                            \
    }                                                                              \
    m->least = least;                                                              \
    m->range = most >= least ? most - least : 0;                                   \
    return most >= least;                                                          \
  }
FIND_LIMITS(uint32_t)
FIND_LIMITS(uint64_t)

/* Finds the range of b's keys. False if it is too large for a table to pay. */
static bool find_range(membership *m, const void *words) {
  const bool special = m->dtype->has_special;
  const bool any = m->dtype->wide ? find_limits_uint64_t(m, words, special) : find_limits_uint32_t(m, words, special);
  const uint64_t pays = (uint64_t)(m->count + m->b_count) * 4 + TABLE_LEAST;
  return any && m->range < TABLE_MOST && m->range < pays;
}

/* Makes a table in `table` of find_range's range. */
static void fill_table(membership *m, const void *words, uint8_t *table) {
  memset(table, 0, (size_t)m->range + 2);
  for (int64_t i = 0; i < m->b_count; i++) {
    const uint64_t key = key_of(m->dtype->wide != 0, words, i);
    if (!is_nan_key(m, key)) {
      table[key - m->least] = 1;
    }
  }
  m->table = table;
}

/* words: room for b's keys. */
static nd4c_status find_members(membership *m, void *words, int32_t width) {
  const int64_t blocks = nd4c_cpu_divide_up(m->count, BLOCK);
  nd4c_status status = ND4C_OK;
  void *table = NULL;
  size_t table_bytes = 0;
  (void)b_source(m, 0, m->b_count, words);
  if (find_range(m, words)) {
    table_bytes = (size_t)m->range + 2;
    table = nd4c_cpu_host->allocate_pages(table_bytes);
  }
  if (table != NULL) {
    fill_table(m, words, table);
  } else {
    uint32_t special;
    const nd4c_words job = {.wide = m->dtype->wide != 0,
                            .count = m->b_count,
                            .to = m->b_count,
                            .source = b_source,
                            .user = m,
                            .words = words};
    status = nd4c_words_sort(&job, width, &special);
    m->keys = words;
    m->key_count = status == ND4C_OK ? nd4c_simd.sort->words[job.wide].distinct(words, m->b_count, words) : 0;
  }
  if (status == ND4C_OK) {
    nd4c_cpu_parallel(blocks, GRAIN_BLOCKS, width, member_range, m);
  }
  if (table != NULL) {
    nd4c_cpu_host->free_pages(table, table_bytes);
  }
  return status;
}

static nd4c_status run_isin(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[0], *b = &call->inputs[1];
  const size_t each = element_bytes(a), words = round_up((size_t)b->size * sizeof(uint64_t) + 1);
  const size_t copy = round_up((size_t)a->size * each), bytes = words + copy + round_up((size_t)b->size * each);
  char *memory = nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(memory == NULL, ND4C_MEMORY, "isin: no memory for %zu bytes to search in", bytes);
  membership m = {.dtype = &nd4c_simd.sort->dtypes[a->dtype],
                  .a = dense(a, memory + words, call->width),
                  .b = dense(b, memory + words + copy, call->width),
                  .count = a->size,
                  .b_count = b->size,
                  .bytes = (int64_t)each,
                  .y = call->outputs[0].data,
                  .invert = ND4C_FLAG_OF(call, isin_invert)};
  nd4c_status status = find_members(&m, memory, call->width);
  nd4c_cpu_host->free_pages(memory, bytes);
  return status;
}

/* -- operations on two sets ---------------------------------------------------------------------------------------- */

/* Which elements are wanted. */
enum { OF_A = 1, OF_B = 2, OF_BOTH = 4 };

/* One operand's different keys, ascending, without NaN. */
typedef struct set_keys {
  const nd4c_sort_dtype *dtype;
  const char *x;
  int64_t count, bytes;
  void *words;
  int64_t found;
  uint32_t special;
} set_keys;

static uint32_t set_source(const void *user, int64_t begin, int64_t n, void *words) {
  const set_keys *s = user;
  return s->dtype->keys(n, s->x + begin * s->bytes, 0, words);
}

/* The different keys of elements of up to 16 bits, which have words of 32, found by marking them. */
static void mark_set(set_keys *s) {
  uint8_t marks[1 << FEW_BITS];
  uint32_t words[2 * BLOCK], *to = s->words;
  const int64_t values = INT64_C(1) << s->dtype->bits;
  memset(marks, 0, (size_t)values);
  for (int64_t i = 0; i < s->count; i += BLOCK) {
    const int64_t n = s->count - i < BLOCK ? s->count - i : BLOCK;
    s->special |= set_source(s, i, n, words);
    for (int64_t k = 0; k < n; k++) {
      marks[words[k]] = 1;
    }
  }
  for (int64_t key = 0; key < values; key++) {
    to[s->found] = (uint32_t)key;
    s->found += marks[key];
  }
}

/* Leaves NaN, which is the last key, to append_nan. */
static void drop_nan(set_keys *s) {
  if (s->dtype->has_special && s->found > 0 && key_of(s->dtype->wide != 0, s->words, s->found - 1) == s->dtype->flip) {
    s->found--;
  }
}

static bool is_marked(const set_keys *s) {
  return s->dtype->bits <= FEW_BITS && s->count > MANY;
}

static nd4c_status find_set(set_keys *s, int32_t width) {
  const bool wide = s->dtype->wide != 0;
  if (is_marked(s)) {
    mark_set(s);
    drop_nan(s);
    return ND4C_OK;
  }
  const nd4c_words job = {
      .wide = wide, .count = s->count, .to = s->count, .source = set_source, .user = s, .words = s->words};
  ND4C_BACKEND_TRY(nd4c_words_sort(&job, width, &s->special));
  s->found = nd4c_simd.sort->words[wide].distinct(s->words, s->count, s->words);
  drop_nan(s);
  return ND4C_OK;
}

/* Without branches, which no processor would predict. */
#define MERGE(type)                                                                                            \
  static int64_t merge_##type(const set_keys *a, const set_keys *b, int wanted, void *to) {                    \
    const type *x = a->words, *y = b->words;                                                                   \
    type *z = to;                                                                                              \
    int64_t i = 0, k = 0, n = 0;                                                                               \
    const int64_t of_a = (wanted & OF_A) != 0, of_b = (wanted & OF_B) != 0, of_both = (wanted & OF_BOTH) != 0; \
    const int64_t x_count = a->found, y_count = b->found;                                                      \
    while (i < x_count && k < y_count) {                                                                       \
      const type p = x[i], q = y[k];                                                                           \
      const int64_t down = p <= q, up = q <= p;                                                                \
      z[n] = down ? p : q;                                                                                     \
      n += (down & (up ^ 1) & of_a) | (up & (down ^ 1) & of_b) | (down & up & of_both);                        \
      i += down;                                                                                               \
      k += up;                                                                                                 \
    }                                                                                                          \
    for (; i < x_count && of_a; i++) {                                                                         \
      z[n++] = x[i];                                                                                           \
    }                                                                                                          \
    for (; k < y_count && of_b; k++) {                                                                         \
      z[n++] = y[k];                                                                                           \
    }                                                                                                          \
    return n;                                                                                                  \
  }
MERGE(uint32_t)
MERGE(uint64_t)

/* The first zero of x, NULL if there is none; zeros of both signs have one key. */
static const char *first_zero(const set_keys *s) {
  uint64_t words[BLOCK];
  for (int64_t i = 0; i < s->count; i += BLOCK) {
    const int64_t n = s->count - i < BLOCK ? s->count - i : BLOCK;
    (void)s->dtype->keys(n, s->x + i * s->bytes, 0, words);
    for (int64_t k = 0; k < n; k++) {
      if (key_of(s->dtype->wide != 0, words, k) == s->dtype->zero) {
        return s->x + (i + k) * s->bytes;
      }
    }
  }
  return NULL;
}

/* Gives the zero among `n` results the sign of the first one. */
static void restore_zero(const set_keys *sets, const void *words, int64_t n, char *y) {
  const bool wide = sets->dtype->wide != 0;
  int64_t at = 0;
  while (at < n && key_of(wide, words, at) != sets->dtype->zero) {
    at++;
  }
  const char *zero = at == n ? NULL : first_zero(&sets[0]);
  zero = at < n && zero == NULL ? first_zero(&sets[1]) : zero;
  if (zero != NULL) {
    memcpy(y + at * sets->bytes, zero, (size_t)sets->bytes);
  }
}

/* Appends each NaN of x to `n` results, since none is equal to another. */
static int64_t append_nan(const set_keys *s, int64_t n, char *y) {
  uint64_t words[BLOCK];
  for (int64_t i = 0; i < s->count; i += BLOCK) {
    const int64_t some = s->count - i < BLOCK ? s->count - i : BLOCK;
    (void)s->dtype->keys(some, s->x + i * s->bytes, 0, words);
    for (int64_t k = 0; k < some; k++) {
      if (key_of(s->dtype->wide != 0, words, k) == s->dtype->flip) {
        memcpy(y + n++ * s->bytes, s->x + (i + k) * s->bytes, (size_t)s->bytes);
      }
    }
  }
  return n;
}

/* Keys of a's elements, then of b's. */
static uint32_t both_source(const void *user, int64_t begin, int64_t n, void *words) {
  const set_keys *sets = user;
  const int64_t left = sets->count - begin, first = left < 0 ? 0 : left < n ? left : n;
  const size_t word = sets->dtype->wide ? sizeof(uint64_t) : sizeof(uint32_t);
  uint32_t special = first > 0 ? set_source(&sets[0], begin, first, words) : 0;
  if (first < n) {
    special |= set_source(&sets[1], begin + first - sets->count, n - first, (char *)words + (size_t)first * word);
  }
  return special;
}

/* The different keys of both operands by one sort, which takes less time than two and a merge. */
static nd4c_status unite(set_keys *sets, void *merged, int32_t width, int64_t *found) {
  set_keys both = {.dtype = sets->dtype, .count = sets[0].count + sets[1].count, .words = merged};
  const bool wide = both.dtype->wide != 0;
  const nd4c_words job = {
      .wide = wide, .count = both.count, .to = both.count, .source = both_source, .user = sets, .words = merged};
  ND4C_BACKEND_TRY(nd4c_words_sort(&job, width, &both.special));
  both.found = nd4c_simd.sort->words[wide].distinct(merged, both.count, merged);
  drop_nan(&both);
  sets[0].special = sets[1].special = both.special;
  *found = both.found;
  return ND4C_OK;
}

/* The wanted keys of a and b into `merged`, which has room for those of both. */
static nd4c_status find_keys(set_keys *sets, int wanted, void *merged, int32_t width, int64_t *found) {
  if (wanted == (OF_A | OF_B | OF_BOTH) && !is_marked(&sets[0]) && !is_marked(&sets[1])) {
    return unite(sets, merged, width, found);
  }
  ND4C_BACKEND_TRY(find_set(&sets[0], width));
  ND4C_BACKEND_TRY(find_set(&sets[1], width));
  *found = sets->dtype->wide ? merge_uint64_t(&sets[0], &sets[1], wanted, merged)
                             : merge_uint32_t(&sets[0], &sets[1], wanted, merged);
  return ND4C_OK;
}

/* Writes the elements of n keys, and NaN, to y; returns how many these are. */
static int64_t write_set(const set_keys *sets, int wanted, int64_t n, const void *merged, char *y) {
  sets->dtype->elements(n, merged, 0, y);
  if ((sets[0].special | sets[1].special) & ND4C_SORT_NEGATIVE_ZERO) {
    restore_zero(sets, merged, n, y);
  }
  for (int i = 0; i < 2; i++) {
    if ((sets[i].special & ND4C_SORT_NAN) && (wanted & (i == 0 ? OF_A : OF_B))) {
      n = append_nan(&sets[i], n, y);
    }
  }
  return n;
}

static nd4c_status run_set(const nd4c_call *call, int wanted) {
  set_keys sets[2];
  size_t words[2], copies[2];
  for (int i = 0; i < 2; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    sets[i] =
        (set_keys){.dtype = &nd4c_simd.sort->dtypes[x->dtype], .count = x->size, .bytes = (int64_t)element_bytes(x)};
    words[i] = round_up((size_t)x->size * sizeof(uint64_t) + 1);
    copies[i] = round_up((size_t)x->size * element_bytes(x));
  }
  const size_t bytes = 2 * (words[0] + words[1]) + copies[0] + copies[1];
  char *memory = nd4c_cpu_host->allocate_pages(bytes), *at = memory;
  ND4C_CPU_FAIL_IF(memory == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes to sort in", call->op->name, bytes);
  for (int i = 0; i < 2; i++) {
    sets[i].words = at;
    sets[i].x = dense(&call->inputs[i], at + words[i], call->width);
    at += words[i] + copies[i];
  }
  int64_t found = 0;
  nd4c_status status = find_keys(sets, wanted, at, call->width, &found);
  if (status == ND4C_OK) {
    call->true_shapes[0][0] = write_set(sets, wanted, found, at, call->outputs[0].data);
  }
  nd4c_cpu_host->free_pages(memory, bytes);
  return status;
}

static nd4c_status run_union1d(const nd4c_call *call) {
  return run_set(call, OF_A | OF_B | OF_BOTH);
}
static nd4c_status run_intersect1d(const nd4c_call *call) {
  return run_set(call, OF_BOTH);
}
static nd4c_status run_setdiff1d(const nd4c_call *call) {
  return run_set(call, OF_A);
}
static nd4c_status run_setxor1d(const nd4c_call *call) {
  return run_set(call, OF_A | OF_B);
}

/* -- lexsort ------------------------------------------------------------------------------------------------------- */

/* Sorts one line by each key in turn, the last key last; each key is read in the order that the earlier ones gave.
 * work: two orders, and a key of up to 8 bytes an element. */
static nd4c_status lexsort_line(const nd4c_call *call, int64_t line, int64_t n, int64_t *work) {
  int64_t *order = (int64_t *)call->outputs[0].data + line * n, *next = work, *step = work + n;
  char *key = (char *)(work + 2 * n);
  for (int32_t k = 0; k < call->input_count; k++) {
    const nd4c_tensor *x = &call->inputs[k];
    const int64_t bytes = (int64_t)element_bytes(x);
    const char *from = (const char *)x->data + line * n * bytes;
    const nd4c_indices places = {order, true, n};
    if (k > 0) {
      nd4c_simd.pick->pick[bytes](n, &places, from, 1, 0, key);
    }
    nd4c_order_line keys = {.dtype = &nd4c_simd.sort->dtypes[x->dtype], .x = k > 0 ? key : from, .bytes = bytes};
    ND4C_BACKEND_TRY(nd4c_order_sort(&keys, n, n, call->width, NULL, k > 0 ? step : order));
    if (k > 0) {
      const nd4c_indices steps = {step, true, n};
      nd4c_simd.pick->pick[sizeof *order](n, &steps, (const char *)order, 1, 0, (char *)next);
      memcpy(order, next, (size_t)n * sizeof *order);
    }
  }
  return ND4C_OK;
}

static nd4c_status run_lexsort(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  const int64_t n = y->size > 0 ? y->shape[y->rank - 1] : 0, lines = n > 0 ? y->size / n : 0;
  const size_t bytes = (size_t)n * 3 * sizeof(int64_t) + 1;
  int64_t *work = nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(work == NULL, ND4C_MEMORY, "lexsort: no memory for %zu bytes to sort in", bytes);
  nd4c_status status = ND4C_OK;
  for (int64_t line = 0; line < lines && status == ND4C_OK; line++) {
    status = lexsort_line(call, line, n, work);
  }
  nd4c_cpu_host->free_pages(work, bytes);
  return status;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static bool usable_pair(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->inputs[0].dtype != call->inputs[1].dtype, "operands of different dtypes");
  ND4C_CPU_DECLINE_IF(call->inputs[0].size + call->inputs[1].size >= INT64_C(1) << 32, "2^32 elements or more");
  ND4C_CPU_DECLINE_IF((call->outputs[0].flags & ND4C_TENSOR_CONTIGUOUS) == 0, "the output is not contiguous");
  return true;
}

static bool usable_lexsort(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(y->rank == 0 || nd4c_axis(ND4C_INT_OF(call, lexsort_axis), y->rank) != y->rank - 1,
                      "lines do not lie along the last axis");
  ND4C_CPU_DECLINE_IF((y->flags & ND4C_TENSOR_CONTIGUOUS) == 0, "the output is not contiguous");
  ND4C_CPU_DECLINE_IF(y->size >= INT64_C(1) << 32, "2^32 elements or more");
  for (int32_t i = 0; i < call->input_count; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    ND4C_CPU_DECLINE_IF((x->flags & ND4C_TENSOR_CONTIGUOUS) == 0 || !nd4c_cpu_same_shape(x, y) ||
                            nd4c_simd.sort->dtypes[x->dtype].keys == NULL,
                        "a key is not contiguous, is broadcast, or has no order of words");
  }
  return true;
}

#define SORTED (ND4C_CPU_BOOLS | ND4C_CPU_REALS)

const nd4c_kernel *const nd4c_cpu_simd_sorting_sets_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(isin, SORTED, usable_pair, run_isin),
    ND4C_CPU_SIMD_KERNEL(union1d, SORTED, usable_pair, run_union1d),
    ND4C_CPU_SIMD_KERNEL(intersect1d, SORTED, usable_pair, run_intersect1d),
    ND4C_CPU_SIMD_KERNEL(setdiff1d, SORTED, usable_pair, run_setdiff1d),
    ND4C_CPU_SIMD_KERNEL(setxor1d, SORTED, usable_pair, run_setxor1d),
    ND4C_CPU_SIMD_KERNEL(lexsort, SORTED, usable_lexsort, run_lexsort),
    NULL};
