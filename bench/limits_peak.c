/* Peak multiply-adds of the processor (limits.h): chains on registers, without memory accesses. */
#include "limits.h"

#include <string.h>

#include "measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#define AVX512 __attribute__((noinline, target("avx512f,avx512bw,avx512dq,avx512vl")))
#define AVX512_BF16 __attribute__((noinline, target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))
#define AVX512_VNNI __attribute__((noinline, target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#define AVX2 __attribute__((noinline, target("avx2,fma")))
#define AMX __attribute__((noinline, target("amx-tile,amx-bf16,amx-int8")))

/* Twelve sums are enough to keep two units of four to five cycles' latency busy. Named one by one: as elements of an
 * array they would live in memory. The empty assembly keeps the compiler from computing the end at once. */
#define EACH_SUM(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define SUM_START(k) s##k = z,
#define SUM_STEP(k)  \
  s##k = STEP(s##k); \
  __asm__ volatile("" : "+x"(s##k));
#define SUM_ADD(k) total += (double)FIRST(s##k);
#define CHAINS(name, target, vector, operand, set, zero) \
  target static double name(int64_t rounds) {            \
    operand x = set;                                     \
    vector z = zero, EACH_SUM(SUM_START) last = z;       \
    double total = (double)FIRST(last);                  \
    for (int64_t i = 0; i < rounds; i++) {               \
      EACH_SUM(SUM_STEP)                                 \
    }                                                    \
    EACH_SUM(SUM_ADD)                                    \
    return total;                                        \
  }
#define STEP(s) _mm512_fmadd_ps(s, x, x)
#define FIRST _mm512_cvtss_f32
CHAINS(f32_avx512, AVX512, __m512, __m512, _mm512_set1_ps(0.5F), _mm512_set1_ps(1))
#undef STEP
#undef FIRST
#define STEP(s) _mm512_fmadd_pd(s, x, x)
#define FIRST _mm512_cvtsd_f64
CHAINS(f64_avx512, AVX512, __m512d, __m512d, _mm512_set1_pd(0.5), _mm512_set1_pd(1))
#undef STEP
#undef FIRST
#define STEP(s) _mm256_fmadd_ps(s, x, x)
#define FIRST _mm256_cvtss_f32
CHAINS(f32_avx2, AVX2, __m256, __m256, _mm256_set1_ps(0.5F), _mm256_set1_ps(1))
#undef STEP
#undef FIRST
#define STEP(s) _mm256_fmadd_pd(s, x, x)
#define FIRST _mm256_cvtsd_f64
CHAINS(f64_avx2, AVX2, __m256d, __m256d, _mm256_set1_pd(0.5), _mm256_set1_pd(1))
#undef STEP
#undef FIRST
#define STEP(s) _mm512_dpbf16_ps(s, (__m512bh)x, (__m512bh)x)
#define FIRST _mm512_cvtss_f32
CHAINS(bf16_avx512, AVX512_BF16, __m512, __m512i, _mm512_set1_epi32(0), _mm512_set1_ps(1))
#undef STEP
#undef FIRST
#define STEP(s) _mm512_dpbusd_epi32(s, x, x)
#define FIRST _mm512_cvtsi512_si32
CHAINS(int8_avx512, AVX512_VNNI, __m512i, __m512i, _mm512_set1_epi32(0x01010101), _mm512_set1_epi32(1))
#undef STEP
#undef FIRST

/* -- AMX: four sums of 16 x 16 ---------------------------------------------------------------------------------- */

typedef struct tile_config {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} tile_config;

/* A process must ask Linux for the state of the tiles before it uses them. */
static bool tiles_allowed(void) {
  enum { ASK = 0x1023, TILE_DATA = 18 };
  return syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
}

/* Not made on the stack: GCC 12 takes _tile_loadconfig to read eight bytes only and leaves the other stores out. */
static const tile_config eight_tiles = {
    .palette = 1, .row_bytes = {64, 64, 64, 64, 64, 64, 64, 64}, .rows = {16, 16, 16, 16, 16, 16, 16, 16}};

#define TILES(name, product)               \
  AMX static double name(int64_t rounds) { \
    _tile_loadconfig(&eight_tiles);        \
    for (int64_t i = 0; i < rounds; i++) { \
      product(0, 4, 6);                    \
      product(1, 4, 7);                    \
      product(2, 5, 6);                    \
      product(3, 5, 7);                    \
    }                                      \
    _tile_release();                       \
    return 1;                              \
  }
TILES(bf16_amx, _tile_dpbf16ps)
TILES(int8_amx, _tile_dpbssd)

/* -- choosing the loop ------------------------------------------------------------------------------------------ */

typedef struct chain {
  double (*run)(int64_t rounds);
  double flops; /* of one round */
} chain;

static bool has_amx(void) {
  unsigned a = 7, b = 0, c = 0, d = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  const unsigned bf16 = 1U << 22, tile = 1U << 24, int8 = 1U << 25;
  return (d & bf16) != 0 && (d & tile) != 0 && (d & int8) != 0 && tiles_allowed();
}

static chain find_chain(nd4c_dtype dtype) {
  bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  bool narrow = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const double sums = 12, tile = 4.0 * 16 * 16;
  switch ((int)dtype) {
    case ND4C_FLOAT32:
      return wide ? (chain){f32_avx512, sums * 32} : narrow ? (chain){f32_avx2, sums * 16} : (chain){0};
    case ND4C_FLOAT64:
      return wide ? (chain){f64_avx512, sums * 16} : narrow ? (chain){f64_avx2, sums * 8} : (chain){0};
    case ND4C_BFLOAT16:
      return has_amx()                                      ? (chain){bf16_amx, tile * 64}
             : wide && __builtin_cpu_supports("avx512bf16") ? (chain){bf16_avx512, sums * 64}
                                                            : (chain){0};
    case ND4C_INT8:
      return has_amx()                                      ? (chain){int8_amx, tile * 128}
             : wide && __builtin_cpu_supports("avx512vnni") ? (chain){int8_avx512, sums * 128}
                                                            : (chain){0};
    default:
      return (chain){0};
  }
}
#endif

double bench_limit_gflops_best(nd4c_dtype dtype, int width, int attempts) {
  double best = 0;
#if defined(__x86_64__)
  chain found = find_chain(dtype);
  const int64_t rounds = 100000;
  for (int attempt = 0; attempt < attempts && found.run != NULL; attempt++) {
    double total = 0, begin = bench_now();
#pragma omp parallel for num_threads(width) schedule(static, 1) reduction(+ : total)
    for (int part = 0; part < width; part++) {
      total += found.run(rounds);
    }
    double gflops = found.flops * (double)rounds * width / (bench_now() - begin);
    best = gflops > best && total != 0 ? gflops : best;
  }
#else
  (void)dtype;
  (void)width;
  (void)attempts;
#endif
  return best;
}

double bench_limit_gflops(nd4c_dtype dtype, int width) {
  enum { ATTEMPTS = 10 };
  return bench_limit_gflops_best(dtype, width, ATTEMPTS);
}

int bench_limit_threads(int width) {
#if defined(_OPENMP)
  return width;
#else
  (void)width;
  return 1;
#endif
}
