/* Any bytes as an ONNX SequenceProto and as an OptionalProto: a status, or data that can be read whole. */
#include <stdint.h>

#include "fuzz.h"
#include "nd4c/datum.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const nd4c_datum_kind kinds[] = {ND4C_DATUM_SEQUENCE, ND4C_DATUM_OPTIONAL};
  for (int i = 0; i < 2; i++) {
    nd4c_datum *datum = NULL;
    if (nd4c_datum_read_memory(data, size, kinds[i], &datum) == ND4C_OK) {
      fuzz_read_datum(datum);
      nd4c_datum_release(datum);
    }
  }
  return 0;
}
