/* Any bytes as an ONNX TensorProto: a status, or an array that can be read whole. */
#include <stdint.h>

#include "fuzz.h"
#include "nd4c/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nd4c_array *array = NULL;
  char *name = NULL;
  if (nd4c_tensor_read_memory(data, size, &array, &name) == ND4C_OK) {
    fuzz_read_array(array);
    nd4c_array_release(array);
    nd4c_free(name);
  }
  return 0;
}
