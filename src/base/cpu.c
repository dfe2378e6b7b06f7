#include "base/cpu.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/config.h"
#include "base/lock.h"
#include "base/os.h"

enum { FEATURES_SIZE = 512, MODEL_SIZE = 128 };

/* Written once by cpu_detect. */
static nd4c_once detected = ND4C_ONCE_INIT;
static nd4c_cpu_level highest_level;
static char feature_text[FEATURES_SIZE];
static char model_text[MODEL_SIZE];
static int64_t cache_bytes;

static void feature_add(const char *name) {
  size_t length = strlen(feature_text);
  (void)snprintf(feature_text + length, sizeof feature_text - length, "%s%s", length > 0 ? " " : "", name);
}

#if defined(ND4C_X86_64)

enum { EAX, EBX, ECX, EDX };

/* Register states that the system must save before a feature may be used. */
enum { STATE_NONE = 0, STATE_AVX = 0x6, STATE_AVX512 = 0xe6, STATE_AMX = 0x60000 };

/* What x86-64-v3 and v4 ask for; the rest is only reported. */
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
  bool avx2 = true, avx512 = true;
  for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
    const feature *f = &features[i];
    nd4c_compiler_cpuid(f->leaf, f->subleaf, registers);
    bool usable = (registers[f->reg] >> f->bit & 1) != 0 && (saved & f->state) == f->state;
    if (usable) {
      feature_add(f->name);
    }
    avx2 = avx2 && (usable || f->level != IN_AVX2);
    avx512 = avx512 && (usable || f->level == IN_NONE);
  }
  highest_level = avx512 ? ND4C_CPU_AVX512 : avx2 ? ND4C_CPU_AVX2 : ND4C_CPU_BASE;
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
  bool required; /* by level neon: armv8.2-a with dot products and half precision */
} feature;

/* Bits as Linux numbers them in AT_HWCAP (word 0) and AT_HWCAP2 (word 1). */
static const feature features[] = {
    {"asimd", 0, 1, true},    {"atomics", 0, 8, true},  {"fphp", 0, 9, true},
    {"asimdhp", 0, 10, true}, {"asimddp", 0, 20, true}, {"sve", 0, 22, false},
    {"sve2", 1, 1, false},    {"i8mm", 1, 13, false},   {"bf16", 1, 14, false},
};

static void detect_features(void) {
  bool neon = true;
  for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
    bool usable = (nd4c_os_hardware_capabilities(features[i].word) >> features[i].bit & 1) != 0;
    if (usable) {
      feature_add(features[i].name);
    }
    neon = neon && (usable || !features[i].required);
  }
  highest_level = neon ? ND4C_CPU_NEON : ND4C_CPU_BASE;
}

#else

static void detect_features(void) {
  highest_level = ND4C_CPU_BASE;
}

#endif

static void detect_model(void) {
  nd4c_os_cpu_model(model_text, sizeof model_text);
}

#endif

static void cpu_detect(void) {
  detect_features();
  detect_model();
  cache_bytes = nd4c_os_cache_bytes();
}

const char *nd4c_cpu_level_name(nd4c_cpu_level level) {
  switch (level) {
    case ND4C_CPU_BASE:
      return "base";
    case ND4C_CPU_AVX2:
      return "avx2";
    case ND4C_CPU_AVX512:
      return "avx512";
    case ND4C_CPU_NEON:
      return "neon";
  }
  return "?";
}

nd4c_cpu_level nd4c_cpu_get_level(void) {
  nd4c_once_run(&detected, cpu_detect);
  char wanted[16];
  (void)nd4c_config_string(ND4C_CONFIG_CPU_LEVEL, wanted, sizeof wanted);
  /* Only lowering is possible: a level of another processor family, or one the machine lacks, changes nothing. */
  for (int level = ND4C_CPU_BASE; level < (int)highest_level; level++) {
    bool family = highest_level == ND4C_CPU_NEON ? level == ND4C_CPU_BASE : true;
    if (family && strcmp(wanted, nd4c_cpu_level_name((nd4c_cpu_level)level)) == 0) {
      return (nd4c_cpu_level)level;
    }
  }
  return highest_level;
}

const char *nd4c_cpu_features(void) {
  nd4c_once_run(&detected, cpu_detect);
  return feature_text;
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
