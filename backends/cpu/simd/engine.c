/* Engine simd: nd4c's own vector kernels. cpu/backend.c calls nd4c_cpu_simd_open when it opens, which picks the tables
 * of this machine's instruction-set level; all kernels of the engine then read them. */
#include "backends/cpu/simd/simd.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kernel_levels.h" /* ND4C_KERNEL_LEVELS(X), lowest first: made by the build */

#define DECLARE_TABLE(part, level) extern const nd4c_##part##_table nd4c_##part##_table_##level;
#define DECLARE_LEVEL(level) ND4C_KERNEL_TABLES(DECLARE_TABLE, level)
ND4C_KERNEL_LEVELS(DECLARE_LEVEL)

#define ENTRY(part, level) .part = &nd4c_##part##_table_##level,
#define LEVEL_TABLES(level_name) {.level = #level_name, ND4C_KERNEL_TABLES(ENTRY, level_name)}
#define LISTED(level_name) LEVEL_TABLES(level_name),
static const nd4c_simd_tables levels[] = {ND4C_KERNEL_LEVELS(LISTED)};

nd4c_simd_tables nd4c_simd = ND4C_LOWEST_LEVEL(LEVEL_TABLES);
int64_t nd4c_simd_stream_bytes = INT64_C(32) << 20;
bool nd4c_simd_multiplies_pairs;
bool nd4c_simd_widens_bfloat16;
bool nd4c_simd_multiplies_tiles;
static _Atomic bool tiles_refused; /* by the system, when a kernel asked */

bool nd4c_cpu_decline(char *reason, size_t reason_size, const char *format, ...) {
  if (reason_size <= 1) { /* no text is wanted */
    memset(reason, 0, reason_size);
    return false;
  }
  va_list arguments;
  va_start(arguments, format);
  if (strcmp(format, "%s") == 0) { /* most refusals are a text as it is, and a binding of a plan asks for many */
    const char *text = va_arg(arguments, const char *);
    const size_t whole = strlen(text), length = whole < reason_size ? whole : reason_size - 1;
    memcpy(reason, text, length);
    reason[length] = '\0';
  } else {
    (void)vsnprintf(reason, reason_size, format, arguments);
  }
  va_end(arguments);
  return false;
}

/* Replaces float32 functions of the level by ones with shorter formulas (nd4c.cpu.math=fast). */
static void use_fast_loops(void) {
  static nd4c_unary_table unary;
  static nd4c_binary_table binary;
  unary = *nd4c_simd.unary;
  binary = *nd4c_simd.binary;
  for (int i = 0; i < ND4C_UNARY_COUNT; i++) {
    if (nd4c_simd.fast->unary[i] != NULL) {
      unary.loops[i][ND4C_FLOAT32] = nd4c_simd.fast->unary[i];
    }
  }
  if (nd4c_simd.fast->power.both != NULL) {
    binary.loops[ND4C_BINARY_power][ND4C_FLOAT32] = nd4c_simd.fast->power;
  }
  nd4c_simd.unary = &unary;
  nd4c_simd.binary = &binary;
}

static bool fast_is_wanted(void) {
  char math[16];
  return nd4c_cpu_host->config("nd4c.cpu.math", math, sizeof math) && strcmp(math, "fast") == 0;
}

/* The rank of a level: a higher level of the same processor family has a higher rank. */
static int rank_of(const char *level) {
  static const char *const order[] = {"base", "neon", "avx2", "dotprod", "avx512"};
  int rank = 0;
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    if (strcmp(order[i], level) == 0) {
      rank = (int)i;
    }
  }
  return rank;
}

/* The tables of the highest level of this build that is not above `level`. */
static const nd4c_simd_tables *tables_of(const char *level) {
  const nd4c_simd_tables *tables = &levels[0];
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    if (rank_of(levels[i].level) <= rank_of(level)) {
      tables = &levels[i];
    }
  }
  return tables;
}

/* Whether the processor has a feature, of which `name` is no part of another one's name. */
static bool has_feature(const char *name) {
  return ND4C_HAS_FIELD(nd4c_cpu_host, cpu_features) && strstr(nd4c_cpu_host->cpu_features(), name) != NULL;
}

bool nd4c_simd_may_use_tiles(void) {
  if (!nd4c_simd_multiplies_tiles || !ND4C_HAS_FIELD(nd4c_cpu_host, allow_tiles)) {
    return false;
  }
  const bool allowed = nd4c_cpu_host->allow_tiles();
  atomic_store_explicit(&tiles_refused, !allowed, memory_order_relaxed);
  return allowed;
}

void nd4c_cpu_simd_open(void) {
  nd4c_simd = *tables_of(nd4c_cpu_host->cpu_level());
  nd4c_simd_multiplies_pairs = has_feature("avx512_bf16");
  nd4c_simd_multiplies_tiles = has_feature("amx_bf16");
  nd4c_simd_widens_bfloat16 = (nd4c_simd_level_is("avx512") || nd4c_simd_level_is("avx2")) &&
                              !nd4c_simd_multiplies_pairs && !has_feature("avx_ne_convert");
  if (fast_is_wanted()) {
    use_fast_loops();
  }
  int64_t bytes = 0;
  (void)nd4c_cpu_host->config_number("nd4c.cpu.stream_bytes", &bytes);
  if (bytes == 0) {
    bytes = nd4c_cpu_host->cache_bytes() / 2;
  }
  if (bytes > 0) {
    nd4c_simd_stream_bytes = bytes;
  }
}

static bool engine_state(bool verify, char *text, size_t text_size) {
  const nd4c_simd_tables *tables = tables_of(nd4c_cpu_host->cpu_level());
  bool has = tables->fast->power.both != NULL;
  (void)verify;
  (void)snprintf(text, text_size, "part of this library, level %s%s%s", tables->level,
                 !fast_is_wanted() ? ""
                 : has             ? ", fast math"
                                   : ", which has no fast math of its own",
                 atomic_load_explicit(&tiles_refused, memory_order_relaxed)
                     ? "; the system lets this process use no tiles (AMX)"
                     : "");
  return true;
}

const nd4c_engine nd4c_cpu_simd_engine = {
    .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "simd", .state = engine_state};
