/* Everything that depends on the compiler or the processor rather than on C: attributes, guard bytes, CPUID. No other
 * file of src names such things. Included by files of base, array, device, dispatch and submit. */
#ifndef ND4C_BASE_COMPILER_H
#define ND4C_BASE_COMPILER_H

#include <stdint.h>

#define ND4C_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define ND4C_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define ND4C_NOINLINE __attribute__((noinline))
/* For a few small thread-local variables on hot paths: they lie at a fixed distance from the thread pointer, so that
 * reading one needs no call, also in a library that was opened late. The loader keeps about a kilobyte for such
 * variables of all libraries. */
#define ND4C_FAST_THREAD_LOCAL _Thread_local __attribute__((tls_model("initial-exec")))
/* Runs when the library is unloaded or the process ends. */
#define ND4C_AT_UNLOAD __attribute__((destructor))

#if defined(__SANITIZE_THREAD__)
#define ND4C_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ND4C_THREAD_SANITIZER 1
#endif
#endif

/* Guard bytes between the parts of one allocation: AddressSanitizer reports any access to them, as it reports accesses
 * beyond the allocation. The poison is removed when the allocation is freed. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
enum { ND4C_RED_ZONE = 32 };
#define ND4C_FORBID(address, bytes) __asan_poison_memory_region(address, bytes)
#else
enum { ND4C_RED_ZONE = 0 };
#define ND4C_FORBID(address, bytes) ((void)(address), (void)(bytes))
#endif

#if defined(__x86_64__)
#define ND4C_X86_64 1
#include <cpuid.h>

/* Registers eax, ebx, ecx, edx of a CPUID leaf; zeros if the processor lacks it. */
static inline void nd4c_compiler_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t registers[4]) {
  registers[0] = registers[1] = registers[2] = registers[3] = 0;
  (void)__get_cpuid_count(leaf, subleaf, &registers[0], &registers[1], &registers[2], &registers[3]);
}

/* The register states that the operating system saves (XCR0). Only after CPUID said OSXSAVE. */
static inline uint64_t nd4c_compiler_xgetbv(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return ((uint64_t)high << 32) | low;
}

/* Tells the processor that this is a waiting loop. */
static inline void nd4c_compiler_pause(void) {
  __builtin_ia32_pause();
}
#elif defined(__aarch64__)
#define ND4C_ARM64 1
static inline void nd4c_compiler_pause(void) {
  __asm__ volatile("yield" ::: "memory");
}
#else
static inline void nd4c_compiler_pause(void) {
  __asm__ volatile("" ::: "memory");
}
#endif

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "nd4c needs a little-endian target"
#endif

#endif
