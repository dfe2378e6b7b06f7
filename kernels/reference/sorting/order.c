/* Keys and stable sorting (order.h). Engine reference calls these, and the files of this folder. */
#include "kernels/reference/sorting/order.h"

#include <stddef.h>
#include <string.h>

#include "kernels/types.h"

/* -- items --------------------------------------------------------------------------------------------------------- */

/* Sorted items [first, middle) and [middle, end) become one sorted run. */
static void merge_runs(const char *first, const char *middle, const char *end, size_t size,
                       int (*compare)(const void *, const void *), char *to) {
  const char *left = first, *right = middle;
  while (left < middle && right < end) {
    const char **next = compare(left, right) <= 0 ? &left : &right;
    memcpy(to, *next, size);
    *next += size;
    to += size;
  }
  memcpy(to, left, (size_t)(middle - left));
  memcpy(to + (middle - left), right, (size_t)(end - right));
}

void nd4c_ref_sort(void *items, int64_t count, size_t size, int (*compare)(const void *, const void *), void *room) {
  char *from = items, *to = room;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * run) {
      int64_t middle = count - begin < run ? count : begin + run, end = count - middle < run ? count : middle + run;
      merge_runs(from + (size_t)begin * size, from + (size_t)middle * size, from + (size_t)end * size, size, compare,
                 to + (size_t)begin * size);
    }
    char *sorted = to;
    to = from;
    from = sorted;
  }
  if (from != (char *)items) {
    memcpy(items, from, (size_t)count * size);
  }
}

/* -- keys ---------------------------------------------------------------------------------------------------------- */

/* `wide`: of float64. Narrower floats are float32 of the same order: their keys have half as many digits. */
static uint64_t key_of_float(double x, bool wide) {
  const uint64_t sign = UINT64_C(1) << (wide ? 63 : 31), all = 2 * sign - 1;
  uint64_t bits = nd4c_float_bits((float)x);
  if (wide) {
    memcpy(&bits, &x, sizeof bits);
  }
  return x != x ? all : x == 0 ? sign : bits & sign ? ~bits & all : bits | sign;
}

void nd4c_ref_keys(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count, uint64_t *keys) {
  nd4c_dtype_kind kind = nd4c_reference_kind(dtype);
  double numbers[ND4C_REF_BLOCK];
  if (kind != ND4C_KIND_FLOAT) {
    nd4c_ref_read_words(dtype, data, start, stride, count, keys);
  }
  /* The dtype's least number becomes 0: digits above its bytes are equal, and the sort passes over them. */
  const int64_t bytes = nd4c_reference_bytes(dtype), bits = bytes > 0 ? 8 * bytes : 64;
  for (int64_t i = 0; kind == ND4C_KIND_INT && i < count; i++) {
    keys[i] += UINT64_C(1) << (bits - 1);
  }
  for (int64_t done = 0; kind == ND4C_KIND_FLOAT && done < count; done += ND4C_REF_BLOCK) {
    int64_t part = count - done < ND4C_REF_BLOCK ? count - done : ND4C_REF_BLOCK;
    nd4c_ref_read_doubles(dtype, data, start + done * stride, stride, part, numbers);
    for (int64_t i = 0; i < part; i++) {
      keys[done + i] = key_of_float(numbers[i], dtype == ND4C_FLOAT64);
    }
  }
}

/* Of complex numbers: part 0 is the class of NaN imaginary parts, 1 the real part, 2 the imaginary part. */
static void complex_keys(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t count, int part,
                         uint64_t *keys) {
  for (int64_t i = 0; i < count; i++) {
    double complex x = nd4c_value_load(dtype, data, start + i * stride).c;
    double real = creal(x), imaginary = cimag(x);
    keys[i] = part == 1   ? key_of_float(real, true)
              : part == 2 ? key_of_float(imaginary, true)
                          : (uint64_t)(2 * (real != real) + (imaginary != imaginary));
  }
}

/* -- sorting by keys ----------------------------------------------------------------------------------------------- */

/* Keys, and where they came from; `order` may be NULL. */
typedef struct keyed {
  uint64_t *keys;
  int64_t *order;
} keyed;

static void insertion_sort(keyed row, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    uint64_t key = row.keys[i];
    int64_t from = row.order != NULL ? row.order[i] : 0, place = i;
    for (; place > 0 && row.keys[place - 1] > key; place--) {
      row.keys[place] = row.keys[place - 1];
      if (row.order != NULL) {
        row.order[place] = row.order[place - 1];
      }
    }
    row.keys[place] = key;
    if (row.order != NULL) {
      row.order[place] = from;
    }
  }
}

enum { DIGITS = 256, INSERTION_COUNT = 48 };

/* Moves every element to its place by one digit. counts: of each value of the digit. */
static void radix_pass(keyed from, keyed to, int64_t count, int shift, int64_t *counts) {
  int64_t place = 0;
  for (int digit = 0; digit < DIGITS; digit++) {
    int64_t size = counts[digit];
    counts[digit] = place;
    place += size;
  }
  for (int64_t i = 0; i < count; i++) {
    int64_t at = counts[from.keys[i] >> shift & (DIGITS - 1)]++;
    to.keys[at] = from.keys[i];
    if (from.order != NULL) {
      to.order[at] = from.order[i];
    }
  }
}

/* By the last digit first; digits that all keys share are passed over. */
static void radix_sort(keyed row, keyed other, int64_t count) {
  int64_t counts[8][DIGITS] = {{0}};
  keyed from = row, to = other;
  for (int64_t i = 0; i < count; i++) {
    for (int digit = 0; digit < 8; digit++) {
      counts[digit][row.keys[i] >> (8 * digit) & (DIGITS - 1)]++;
    }
  }
  for (int digit = 0; digit < 8; digit++) {
    if (counts[digit][row.keys[0] >> (8 * digit) & (DIGITS - 1)] == count) {
      continue;
    }
    radix_pass(from, to, count, 8 * digit, counts[digit]);
    keyed swap = from;
    from = to;
    to = swap;
  }
  if (from.keys != row.keys) {
    memcpy(row.keys, from.keys, (size_t)count * sizeof *row.keys);
    if (row.order != NULL) {
      memcpy(row.order, from.order, (size_t)count * sizeof *row.order);
    }
  }
}

static void sort_by_keys(keyed row, keyed other, int64_t count) {
  if (count <= INSERTION_COUNT) {
    insertion_sort(row, count);
  } else {
    radix_sort(row, other, count);
  }
}

void nd4c_ref_argsort(nd4c_dtype dtype, const char *data, int64_t start, int64_t stride, int64_t columns, int64_t count,
                      bool descending, uint64_t *work, int64_t *order) {
  bool is_complex = nd4c_reference_kind(dtype) == ND4C_KIND_COMPLEX;
  int parts = is_complex ? 3 : 1;
  keyed row = {work, order}, other = {work + count, NULL};
  /* The third part of the work: the order while it is rearranged. uint64_t and int64_t may alias. */
  other.order = (int64_t *)(void *)(work + 2 * count);
  for (int64_t i = 0; i < count; i++) {
    order[i] = i;
  }
  /* Sorting is stable: the last column first leaves the first one in charge. */
  for (int64_t step = columns * parts - 1; step >= 0; step--) {
    int64_t column = start + step / parts;
    if (is_complex) {
      complex_keys(dtype, data, column, stride, count, (int)(step % parts), other.keys);
    } else {
      nd4c_ref_keys(dtype, data, column, stride, count, other.keys);
    }
    for (int64_t i = 0; i < count; i++) {
      row.keys[i] = descending ? ~other.keys[order[i]] : other.keys[order[i]];
    }
    sort_by_keys(row, other, count);
  }
}

void nd4c_ref_sort_doubles(double *row, int64_t count, uint64_t *work) {
  nd4c_ref_keys(ND4C_FLOAT64, (const char *)row, 0, 1, count, work);
  sort_by_keys((keyed){work, NULL}, (keyed){work + count, NULL}, count);
  for (int64_t i = 0; i < count; i++) {
    uint64_t sign = UINT64_C(1) << 63, bits = work[i] & sign ? work[i] ^ sign : ~work[i];
    memcpy(&row[i], &bits, sizeof bits);
  }
}

/* -- elements ------------------------------------------------------------------------------------------------------ */

void nd4c_ref_flatten(const nd4c_ref_tensor *x, void *to) {
  int64_t bytes = nd4c_reference_bytes(x->dtype);
  char *at = to;
  nd4c_ref_walk walk;
  for (bool more = nd4c_ref_walk_start(&walk, x->rank, x->shape, 1, &x->strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    nd4c_ref_read_raw(bytes, x->data, walk.at[0], walk.step[0], walk.length, at);
    at += walk.length * bytes;
  }
}

bool nd4c_ref_equal(nd4c_dtype dtype, const char *data, int64_t a, int64_t b) {
  nd4c_value x = nd4c_value_load(dtype, data, a), y = nd4c_value_load(dtype, data, b);
  switch (nd4c_reference_kind(dtype)) {
    case ND4C_KIND_FLOAT:
      return x.f == y.f;
    case ND4C_KIND_COMPLEX:
      return x.c == y.c;
    default:
      return x.u == y.u;
  }
}
