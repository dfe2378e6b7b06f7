/* Any bytes as a .npz file: a status, or arrays of which each gives a status or can be read whole. */
#include <stdint.h>

#include "fuzz.h"
#include "nd4c/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nd4c_archive *archive = NULL;
  if (nd4c_npz_open_memory(data, size, &archive) == ND4C_OK) {
    fuzz_read_archive(archive);
  }
  return 0;
}
