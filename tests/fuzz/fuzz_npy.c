/* Any bytes as a .npy file: a status, or an array that can be read whole. */
#include <stdint.h>
#include <stdlib.h>

#include "fuzz.h"
#include "nd4c/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nd4c_array *array = NULL;
  if (nd4c_npy_read_memory(data, size, &array) == ND4C_OK) {
    fuzz_read_array(array);
    nd4c_array_release(array);
  }
  return 0;
}
