/* The features of this CPU that the operating system supports (CPUID and XGETBV; HWCAP on Arm), and the level by which
 * kernels are chosen. device/memory/host.c passes the level to backends through the host table; machine.c reports
 * it. */
#ifndef ND4C_BASE_THREADS_CPU_H
#define ND4C_BASE_THREADS_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Levels are counted from 0, the lowest of the processor's family: base (x86-64-v2), avx2 (x86-64-v3: AVX2, FMA, F16C,
 * BMI2), avx512 (x86-64-v4); on arm64 neon (every processor) and dotprod (ARMv8.2 with dot products and half
 * precision). */

/* Highest level usable. */
int nd4c_cpu_highest_level(void);
/* The same, lowered by nd4c.cpu.level. */
int nd4c_cpu_get_level(void);
/* Name of a level. Static; NULL beyond the highest of the family. */
const char *nd4c_cpu_level_name(int level);
/* Why nd4c_cpu_get_level is what it is. Static. */
const char *nd4c_cpu_level_reason(void);
/* Space-separated names of the features found ("avx2 fma avx512f avx512_bf16 ..."). Static. */
const char *nd4c_cpu_features(void);
/* Asks the system, once, to let this process use tile registers (AMX), which the features name wherever the processor
 * has them. Linux then refuses signal stacks (sigaltstack) of less than about 11 KiB in the whole process, so only a
 * kernel that is to use tiles asks. The first answer holds: results must not change in mid-program. */
bool nd4c_cpu_allow_tiles(void);
/* Model name as the CPU states it. Static. */
const char *nd4c_cpu_model(void);
/* Bytes of the last-level cache, 0 if unknown. */
int64_t nd4c_cpu_cache_bytes(void);

/* The part of the cache that this process can rely on, at most 16 MiB a processor: a virtual machine of two processors
 * sees the whole cache of a server that it shares with many others. */
int64_t nd4c_cpu_cache_share(void);

#endif
