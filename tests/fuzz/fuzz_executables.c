/* Any bytes as a file of executables: a status, or entries whose texts and bytes can be read whole. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "device/provider/executables.h"
#include "fuzz.h"

/* A fuzzer does not find checksums, so half of its inputs get the right one. */
static void mend_checksum(uint8_t *file, size_t size) {
  enum { HEADER = 64, AT_DIGEST = 24 };
  nd4c_hasher hasher;
  nd4c_hasher_begin(&hasher);
  nd4c_hasher_add(&hasher, file + HEADER, size - HEADER);
  const nd4c_digest digest = nd4c_hasher_end(&hasher);
  memcpy(file + AT_DIGEST, digest.bytes, sizeof digest.bytes);
}

static void read_entries(const uint8_t *file, size_t size) {
  nd4c_executable_entry entry;
  uint8_t sum = 0;
  for (int64_t at = 0; nd4c_executables_next(file, (int64_t)size, &at, &entry);) {
    for (int64_t i = 0; i < entry.size; i++) {
      sum ^= ((const uint8_t *)entry.bytes)[i];
    }
    if (strlen(entry.engine) == 0 || strlen(entry.fingerprint) == 0 || at > (int64_t)size) {
      abort();
    }
  }
  (void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint8_t *file = malloc(size + 1);
  if (file == NULL) {
    return 0;
  }
  for (int round = 0; round < 2; round++) {
    memcpy(file, data, size);
    if (round == 1 && size >= 64) {
      mend_checksum(file, size);
    }
    if (nd4c_executables_check(file, (int64_t)size) == ND4C_OK) {
      read_entries(file, size);
    }
  }
  free(file);
  return 0;
}
