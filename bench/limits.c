/* The loops written by hand that limits.h declares: element-wise ops, copies and reads on several threads. The programs
 * bench_*.c call them directly, bench/ours.py through ctypes; limits_peak.c has the multiply-adds. */
#include "limits.h"

#include <string.h>

#include "measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#endif

/* Elements from `begin` on, `count` of them. */
typedef void (*range_function)(const void *a, const void *b, void *y, int64_t begin, int64_t count, int64_t step);

/* -- plain loops ------------------------------------------------------------------------------------------------ */

#define PLAIN(name, T, op)                                                                              \
  static void name(const void *a, const void *b, void *y, int64_t begin, int64_t count, int64_t step) { \
    const T *left = (const T *)a + begin * step, *right = (const T *)b + begin * step;                  \
    T *restrict result = (T *)y + begin;                                                                \
    for (int64_t i = 0; i < count; i++) {                                                               \
      result[i] = left[i * step] op right[i * step];                                                    \
    }                                                                                                   \
  }
PLAIN(plain_add_f32, float, +)
PLAIN(plain_multiply_f32, float, *)
PLAIN(plain_add_f64, double, +)
PLAIN(plain_multiply_f64, double, *)

static inline float widen(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static inline uint16_t narrow(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

#define PLAIN_BF16(name, op)                                                                                \
  static void name(const void *a, const void *b, void *y, int64_t begin, int64_t count, int64_t step) {     \
    const uint16_t *left = (const uint16_t *)a + begin * step, *right = (const uint16_t *)b + begin * step; \
    uint16_t *restrict result = (uint16_t *)y + begin;                                                      \
    for (int64_t i = 0; i < count; i++) {                                                                   \
      result[i] = narrow(widen(left[i * step]) op widen(right[i * step]));                                  \
    }                                                                                                       \
  }
PLAIN_BF16(plain_add_bf16, +)
PLAIN_BF16(plain_multiply_bf16, *)

/* -- streaming loops -------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)

AVX512 static inline __m512 load_f32(const float *x, int64_t step) {
  if (step == 1) {
    return _mm512_loadu_ps(x);
  }
  const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
  return _mm512_permutex2var_ps(_mm512_loadu_ps(x), even, _mm512_loadu_ps(x + 16));
}

AVX512 static inline __m512d load_f64(const double *x, int64_t step) {
  if (step == 1) {
    return _mm512_loadu_pd(x);
  }
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
  return _mm512_permutex2var_pd(_mm512_loadu_pd(x), even, _mm512_loadu_pd(x + 8));
}

/* 16 numbers. Of every second one, the wanted halves are the low ones of 32-bit words. */
AVX512 static inline __m512 load_bf16(const uint16_t *x, int64_t step) {
  __m512i words = step == 1 ? _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x))
                            : _mm512_loadu_si512((const void *)x);
  return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}

#define STREAM(name, T, lanes, load, vector, op, store, rest)                                                  \
  AVX512 static inline void name##_at(const T *a, const T *b, T *y, int64_t count, int64_t step) {             \
    for (int64_t i = 0; i < count; i += lanes) {                                                               \
      vector result = op(load(a + i * step, step), load(b + i * step, step));                                  \
      store(y + i, result);                                                                                    \
    }                                                                                                          \
  }                                                                                                            \
  AVX512 static void name(const void *a, const void *b, void *y, int64_t begin, int64_t count, int64_t step) { \
    int64_t whole = count / lanes * lanes - (step > 1 ? lanes : 0);                                            \
    whole = whole > 0 ? whole : 0;                                                                             \
    const T *left = (const T *)a + begin * step, *right = (const T *)b + begin * step;                         \
    if (step == 1) {                                                                                           \
      name##_at(left, right, (T *)y + begin, whole, 1);                                                        \
    } else {                                                                                                   \
      name##_at(left, right, (T *)y + begin, whole, 2);                                                        \
    }                                                                                                          \
    _mm_sfence();                                                                                              \
    rest(a, b, y, begin + whole, count - whole, step);                                                         \
  }
STREAM(stream_add_f32, float, 16, load_f32, __m512, _mm512_add_ps, _mm512_stream_ps, plain_add_f32)
STREAM(stream_multiply_f32, float, 16, load_f32, __m512, _mm512_mul_ps, _mm512_stream_ps, plain_multiply_f32)
STREAM(stream_add_f64, double, 8, load_f64, __m512d, _mm512_add_pd, _mm512_stream_pd, plain_add_f64)
STREAM(stream_multiply_f64, double, 8, load_f64, __m512d, _mm512_mul_pd, _mm512_stream_pd, plain_multiply_f64)

/* A pair of vectors of 16, which one vector of 32 numbers holds. */
typedef struct bf16_pair {
  __m512 low, high;
} bf16_pair;

AVX512 static inline bf16_pair load_bf16_pair(const uint16_t *x, int64_t step) {
  return (bf16_pair){load_bf16(x, step), load_bf16(x + 16 * step, step)};
}
AVX512 static inline bf16_pair add_bf16_pair(bf16_pair a, bf16_pair b) {
  return (bf16_pair){_mm512_add_ps(a.low, b.low), _mm512_add_ps(a.high, b.high)};
}
AVX512 static inline bf16_pair multiply_bf16_pair(bf16_pair a, bf16_pair b) {
  return (bf16_pair){_mm512_mul_ps(a.low, b.low), _mm512_mul_ps(a.high, b.high)};
}
AVX512 static inline void stream_bf16_pair(uint16_t *y, bf16_pair x) {
  __m512bh result = _mm512_cvtne2ps_pbh(x.high, x.low);
  __m512i bits;
  memcpy(&bits, &result, sizeof bits);
  _mm512_stream_si512((__m512i *)(void *)y, bits);
}
STREAM(stream_add_bf16, uint16_t, 32, load_bf16_pair, bf16_pair, add_bf16_pair, stream_bf16_pair, plain_add_bf16)
STREAM(stream_multiply_bf16, uint16_t, 32, load_bf16_pair, bf16_pair, multiply_bf16_pair, stream_bf16_pair,
       plain_multiply_bf16)

static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512bf16");
}
#endif

/* -- on all threads --------------------------------------------------------------------------------------------- */

static range_function find_range(int op, nd4c_dtype dtype, bool stream) {
  int row = dtype == ND4C_FLOAT32 ? 0 : dtype == ND4C_FLOAT64 ? 1 : dtype == ND4C_BFLOAT16 ? 2 : -1;
  if (row < 0 || (op != BENCH_LIMIT_ADD && op != BENCH_LIMIT_MULTIPLY)) {
    return NULL;
  }
#if defined(__x86_64__)
  static const range_function streaming[3][2] = {{stream_add_f32, stream_multiply_f32},
                                                 {stream_add_f64, stream_multiply_f64},
                                                 {stream_add_bf16, stream_multiply_bf16}};
  if (stream && has_avx512()) {
    return streaming[row][op];
  }
#else
  (void)stream; /* stores past the caches are written for x86-64 alone */
#endif
  static const range_function plain[3][2] = {
      {plain_add_f32, plain_multiply_f32}, {plain_add_f64, plain_multiply_f64}, {plain_add_bf16, plain_multiply_bf16}};
  return plain[row][op];
}

/* Where part `part` of `parts` begins, on a cache line of any dtype. */
static int64_t begin_of(int64_t count, int part, int parts) {
  return part == parts ? count : count / parts * part / 64 * 64;
}

bool bench_limit_binary(int op, nd4c_dtype dtype, const void *a, const void *b, void *y, int64_t count, int64_t step,
                        bool stream, int width) {
  range_function range = find_range(op, dtype, stream);
  if (range == NULL || (step != 1 && step != 2) || count < 64 * (int64_t)width) {
    return false;
  }
#pragma omp parallel for num_threads(width) schedule(static, 1)
  for (int part = 0; part < width; part++) {
    int64_t begin = begin_of(count, part, width);
    range(a, b, y, begin, begin_of(count, part + 1, width) - begin, step);
  }
  return true;
}

void bench_limit_copy(void *to, const void *from, size_t bytes, int width) {
#pragma omp parallel for num_threads(width) schedule(static, 1)
  for (int part = 0; part < width; part++) {
    int64_t begin = begin_of((int64_t)bytes, part, width), end = begin_of((int64_t)bytes, part + 1, width);
    memcpy((char *)to + begin, (const char *)from + begin, (size_t)(end - begin));
  }
}

/* The fastest reading loop: four vectors at a time, each added to a separate sum. */
#if defined(__x86_64__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
static uint64_t
read_range(const uint64_t *x, int64_t count) {
  typedef uint64_t line __attribute__((vector_size(64), aligned(8), may_alias));
  line sums[4] = {{0}};
  int64_t i = 0;
  for (; i + 32 <= count; i += 32) {
    for (int k = 0; k < 4; k++) {
      sums[k] += *(const line *)(const void *)(x + i + 8 * k);
    }
  }
  line all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  uint64_t total = 0;
  for (int k = 0; k < 8; k++) {
    total += all[k];
  }
  for (; i < count; i++) {
    total += x[i];
  }
  return total;
}

double bench_limit_read(const void *from, size_t bytes, int width) {
  uint64_t total = 0;
  int64_t words = (int64_t)bytes / 8;
#pragma omp parallel for num_threads(width) schedule(static, 1) reduction(+ : total)
  for (int part = 0; part < width; part++) {
    int64_t begin = begin_of(words, part, width);
    total += read_range((const uint64_t *)from + begin, begin_of(words, part + 1, width) - begin);
  }
  return (double)total;
}
