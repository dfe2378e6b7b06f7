/* Implements cpu.h: detects the features once and takes the level from them and from nd4c.cpu.level.
 * device/memory/host.c gives the level to backends; machine.c reports it. */
#include "base/threads/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/config/config.h"
#include "base/os.h"
#include "base/os_lock.h"

enum { FEATURES_SIZE = 512, MODEL_SIZE = 128, REASON_SIZE = 160 };

/* Written once by cpu_detect. */
static nd4c_once detected = ND4C_ONCE_INIT;
static int highest_level;
static char highest_reason[REASON_SIZE];
static char feature_text[FEATURES_SIZE];
static char model_text[MODEL_SIZE];
static int64_t cache_bytes;

static void feature_add(const char *name) {
  size_t length = strlen(feature_text);
  (void)snprintf(feature_text + length, sizeof feature_text - length, "%s%s", length > 0 ? " " : "", name);
}

/* -- levels ----------------------------------------------------------------------------------------------------- */

/* Lowest first. */
static const char *const level_names[] = {
#if defined(ND4C_X86_64)
    "base", "avx2", "avx512"
#elif defined(ND4C_ARM64)
    "neon", "dotprod"
#else
    "base"
#endif
};
enum { LEVELS = sizeof level_names / sizeof level_names[0] };

/* For each level the first required feature that is not usable; NULL if there is none. */
static const char *lacking[LEVELS];

/* Records a feature that `level` requires (0: no level does, it is only reported). */
static void feature_found(const char *name, bool usable, int level) {
  if (usable) {
    feature_add(name);
  } else if (level > 0 && lacking[level] == NULL) {
    lacking[level] = name;
  }
}

static void find_highest_level(void) {
  while (highest_level + 1 < LEVELS && lacking[highest_level + 1] == NULL) {
    highest_level++;
  }
  if (highest_level + 1 < LEVELS) {
    (void)snprintf(highest_reason, sizeof highest_reason,
                   "%s needs %s, which the processor or the operating system lacks", level_names[highest_level + 1],
                   lacking[highest_level + 1]);
  } else {
    (void)snprintf(highest_reason, sizeof highest_reason, "the highest that nd4c has for this processor's family");
  }
}

/* -- detection -------------------------------------------------------------------------------------------------- */

#if defined(ND4C_X86_64)

enum { EAX, EBX, ECX, EDX };

/* Register states that the system must save before a feature may be used. */
enum { STATE_NONE = 0, STATE_AVX = 0x6, STATE_AVX512 = 0xe6, STATE_AMX = 0x60000 };

/* The features that x86-64-v3 and v4 require, by level; the rest is only reported. */
enum { IN_NONE = 0, IN_AVX2 = 1, IN_AVX512 = 2 };

typedef struct feature {
  const char *name;
  uint32_t leaf, subleaf;
  int reg, bit;
  uint64_t state;
  int level;
} feature;

static const feature features[] = {
    {"sse4.2", 1, 0, ECX, 20, STATE_NONE, IN_NONE},
    {"popcnt", 1, 0, ECX, 23, STATE_NONE, IN_NONE},
    {"avx", 1, 0, ECX, 28, STATE_AVX, IN_AVX2},
    {"f16c", 1, 0, ECX, 29, STATE_AVX, IN_AVX2},
    {"fma", 1, 0, ECX, 12, STATE_AVX, IN_AVX2},
    {"movbe", 1, 0, ECX, 22, STATE_NONE, IN_AVX2},
    {"lzcnt", 0x80000001, 0, ECX, 5, STATE_NONE, IN_AVX2},
    {"bmi1", 7, 0, EBX, 3, STATE_NONE, IN_AVX2},
    {"bmi2", 7, 0, EBX, 8, STATE_NONE, IN_AVX2},
    {"avx2", 7, 0, EBX, 5, STATE_AVX, IN_AVX2},
    {"avx_vnni", 7, 1, EAX, 4, STATE_AVX, IN_NONE},
    {"avx_ne_convert", 7, 1, EDX, 5, STATE_AVX, IN_NONE},
    {"avx512f", 7, 0, EBX, 16, STATE_AVX512, IN_AVX512},
    {"avx512dq", 7, 0, EBX, 17, STATE_AVX512, IN_AVX512},
    {"avx512cd", 7, 0, EBX, 28, STATE_AVX512, IN_AVX512},
    {"avx512bw", 7, 0, EBX, 30, STATE_AVX512, IN_AVX512},
    {"avx512vl", 7, 0, EBX, 31, STATE_AVX512, IN_AVX512},
    {"avx512_vnni", 7, 0, ECX, 11, STATE_AVX512, IN_NONE},
    {"avx512_bf16", 7, 1, EAX, 5, STATE_AVX512, IN_NONE},
    {"avx512_fp16", 7, 0, EDX, 23, STATE_AVX512, IN_NONE},
    {"amx_tile", 7, 0, EDX, 24, STATE_AMX, IN_NONE},
    {"amx_int8", 7, 0, EDX, 25, STATE_AMX, IN_NONE},
    {"amx_bf16", 7, 0, EDX, 22, STATE_AMX, IN_NONE},
};

static void detect_features(void) {
  uint32_t registers[4];
  nd4c_compiler_cpuid(1, 0, registers);
  /* Without OSXSAVE the system saves no wide registers, whatever CPUID says about the rest. */
  uint64_t saved = (registers[ECX] >> 27 & 1) != 0 ? nd4c_compiler_xgetbv() : 0;
  for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
    const feature *f = &features[i];
    nd4c_compiler_cpuid(f->leaf, f->subleaf, registers);
    bool usable = (registers[f->reg] >> f->bit & 1) != 0 && (saved & f->state) == f->state;
    feature_found(f->name, usable, f->level);
  }
}

static void detect_model(void) {
  uint32_t registers[4];
  nd4c_compiler_cpuid(0x80000000, 0, registers);
  if (registers[EAX] < 0x80000004) {
    nd4c_os_cpu_model(model_text, sizeof model_text);
    return;
  }
  char brand[49] = "";
  for (uint32_t leaf = 0; leaf < 3; leaf++) {
    nd4c_compiler_cpuid(0x80000002 + leaf, 0, registers);
    memcpy(brand + 16 * leaf, registers, 16);
  }
  const char *begin = brand + strspn(brand, " ");
  size_t length = strlen(begin);
  while (length > 0 && begin[length - 1] == ' ') {
    length--;
  }
  memcpy(model_text, begin, length);
}

#else

#if defined(ND4C_ARM64)

typedef struct feature {
  const char *name;
  int word, bit;
  int level;
} feature;

enum { IN_NONE = 0, IN_DOTPROD = 1 };

/* Bits as Linux numbers them in AT_HWCAP (word 0) and AT_HWCAP2 (word 1). */
static const feature features[] = {
    {"asimd", 0, 1, IN_NONE},       {"crc32", 0, 7, IN_DOTPROD},    {"atomics", 0, 8, IN_DOTPROD},
    {"fphp", 0, 9, IN_DOTPROD},     {"asimdhp", 0, 10, IN_DOTPROD}, {"asimdrdm", 0, 12, IN_DOTPROD},
    {"asimddp", 0, 20, IN_DOTPROD}, {"sve", 0, 22, IN_NONE},        {"sve2", 1, 1, IN_NONE},
    {"i8mm", 1, 13, IN_NONE},       {"bf16", 1, 14, IN_NONE},
};

static void detect_features(void) {
  for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
    bool usable = (nd4c_os_hardware_capabilities(features[i].word) >> features[i].bit & 1) != 0;
    feature_found(features[i].name, usable, features[i].level);
  }
}

#else

static void detect_features(void) {}

#endif

static void detect_model(void) {
  nd4c_os_cpu_model(model_text, sizeof model_text);
}

#endif

static void cpu_detect(void) {
  detect_features();
  find_highest_level();
  detect_model();
  cache_bytes = nd4c_os_cache_bytes();
}

const char *nd4c_cpu_level_name(int level) {
  return level >= 0 && level < LEVELS ? level_names[level] : NULL;
}

int nd4c_cpu_highest_level(void) {
  nd4c_once_run(&detected, cpu_detect);
  return highest_level;
}

/* The level that nd4c.cpu.level names; -1 if it is empty or names a level of another family. "base" is the lowest of
 * every family. */
static int wanted_level(void) {
  char wanted[16];
  (void)nd4c_config_string(ND4C_CONFIG_CPU_LEVEL, wanted, sizeof wanted);
  if (strcmp(wanted, "base") == 0) {
    return 0;
  }
  for (int level = LEVELS - 1; level >= 0; level--) {
    if (strcmp(wanted, level_names[level]) == 0) {
      return level;
    }
  }
  return -1;
}

int nd4c_cpu_get_level(void) {
  int highest = nd4c_cpu_highest_level(), wanted = wanted_level();
  return wanted >= 0 && wanted < highest ? wanted : highest;
}

const char *nd4c_cpu_level_reason(void) {
  int highest = nd4c_cpu_highest_level(), wanted = wanted_level();
  if (nd4c_config_string(ND4C_CONFIG_CPU_LEVEL, NULL, 0) == 0 || wanted == highest) {
    return highest_reason;
  }
  return wanted < 0 ? "nd4c.cpu.level names a level of another processor family: not applied"
         : wanted > highest
             ? "nd4c.cpu.level names a level that the processor or the operating system lacks: not applied"
             : "nd4c.cpu.level asks for it";
}

const char *nd4c_cpu_features(void) {
  nd4c_once_run(&detected, cpu_detect);
  return feature_text;
}

static nd4c_once tiles_asked = ND4C_ONCE_INIT;
static bool tiles_allowed; /* written once by ask_for_tiles */

static void ask_for_tiles(void) {
  tiles_allowed = strstr(nd4c_cpu_features(), "amx_tile") != NULL && nd4c_os_allow_tiles();
}

bool nd4c_cpu_allow_tiles(void) {
  nd4c_once_run(&tiles_asked, ask_for_tiles);
  return tiles_allowed;
}

const char *nd4c_cpu_model(void) {
  nd4c_once_run(&detected, cpu_detect);
  return model_text;
}

int64_t nd4c_cpu_cache_bytes(void) {
  nd4c_once_run(&detected, cpu_detect);
  return cache_bytes;
}

int64_t nd4c_cpu_cache_share(void) {
  enum { CORE_SHARE = 16 << 20 };
  int64_t most = (int64_t)nd4c_os_processors() * CORE_SHARE;
  int64_t whole = nd4c_cpu_cache_bytes();
  return whole < most ? whole : most;
}
