#include "device/compilers.h"

#include <stdio.h>

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
  return true;
}
