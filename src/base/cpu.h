/* What this CPU, as the operating system lets us use it, can do (CPUID and XGETBV; HWCAP on Arm). */
#ifndef ND4C_BASE_CPU_H
#define ND4C_BASE_CPU_H

#include <stddef.h>
#include <stdint.h>

typedef enum nd4c_cpu_level {
  ND4C_CPU_BASE = 0,   /* x86-64-v2, or plain arm64 */
  ND4C_CPU_AVX2 = 1,   /* x86-64-v3: AVX2, FMA, F16C, BMI2 */
  ND4C_CPU_AVX512 = 2, /* x86-64-v4 */
  ND4C_CPU_NEON = 3
} nd4c_cpu_level;

/* Highest level usable, lowered by nd4c.cpu.level. */
nd4c_cpu_level nd4c_cpu_get_level(void);
const char *nd4c_cpu_level_name(nd4c_cpu_level level);
/* Space-separated names of the features found ("avx2 fma avx512f avx512_bf16 ..."). Static. */
const char *nd4c_cpu_features(void);
/* Model name as the CPU states it. Static. */
const char *nd4c_cpu_model(void);
/* Bytes of the last-level cache, 0 if unknown. */
int64_t nd4c_cpu_cache_bytes(void);

/* The part of it that this process can count on: a virtual machine of two processors sees the whole cache of a server,
 * which it shares with a hundred others. At most 16 MiB a processor. */
int64_t nd4c_cpu_cache_share(void);

#endif
