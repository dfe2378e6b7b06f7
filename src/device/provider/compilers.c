/* Implements compilers.h. device/compute.c checks each compiler of a contribution here; device/kept.c asks whether
 * executables can be kept. */
#include "device/provider/compilers.h"

#include <stdio.h>

/* Functions that require each other. */
static bool has_all_or_none(const nd4c_compiler *compiler, char *reason, size_t reason_size) {
  if (!ND4C_HAS_FIELD(compiler, load)) {
    return true;
  }
  const int there = (compiler->fingerprint != NULL) + (compiler->serialise != NULL) + (compiler->load != NULL);
  if (there != 0 && there != 3) {
    (void)snprintf(reason, reason_size,
                   "compiler %.64s: fingerprint, serialise and load are there together or not at all",
                   compiler->engine);
    return false;
  }
  return true;
}

bool nd4c_compiler_is_complete(const nd4c_compiler *compiler, char *reason, size_t reason_size) {
  if (compiler == NULL) {
    (void)snprintf(reason, reason_size, "a compiler is NULL");
    return false;
  }
  if (!ND4C_HAS_FIELD(compiler, release)) {
    (void)snprintf(reason, reason_size, "struct nd4c_compiler has %u bytes, %zu are required", compiler->struct_size,
                   offsetof(nd4c_compiler, release) + sizeof compiler->release);
    return false;
  }
  if (compiler->engine == NULL || compiler->engine[0] == '\0' || compiler->partition == NULL ||
      compiler->compile == NULL || compiler->execute == NULL || compiler->release == NULL) {
    (void)snprintf(reason, reason_size, "compiler %.64s: engine, partition, compile, execute and release are required",
                   compiler->engine != NULL ? compiler->engine : "?");
    return false;
  }
  return has_all_or_none(compiler, reason, reason_size);
}

bool nd4c_compiler_keeps(const nd4c_compiler *compiler) {
  return ND4C_HAS_FIELD(compiler, load) && compiler->load != NULL;
}

bool nd4c_compiler_takes_any_strides(const nd4c_compiler *compiler) {
  return ND4C_HAS_FIELD(compiler, flags) && (compiler->flags & ND4C_COMPILER_ANY_STRIDES) != 0;
}

bool nd4c_compiler_reads_constants(const nd4c_compiler *compiler) {
  return !ND4C_HAS_FIELD(compiler, flags) || (compiler->flags & ND4C_COMPILER_ANY_CONTENTS) == 0;
}

bool nd4c_compiler_computes_in_place(const nd4c_compiler *compiler) {
  return ND4C_HAS_FIELD(compiler, flags) && (compiler->flags & ND4C_COMPILER_IN_PLACE) != 0;
}
