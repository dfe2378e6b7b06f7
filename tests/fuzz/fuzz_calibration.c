/* Any bytes as the file of a calibration: a status, or finite ranges whose names the calibration knows. */
#include <math.h>
#include <stdint.h>

#include "fuzz.h"
#include "nd4c/calibration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  nd4c_calibration *calibration = NULL;
  if (nd4c_calibration_load_memory(data, size, &calibration) != ND4C_OK) {
    return 0;
  }
  for (int32_t i = 0; i < nd4c_calibration_count(calibration); i++) {
    const char *name = NULL;
    double low = 0, high = 0;
    if (nd4c_calibration_get_range(calibration, i, &name, &low, &high) != ND4C_OK || !(low <= high) || isinf(low) ||
        isinf(high) || nd4c_calibration_keep(calibration, name) != ND4C_OK) {
      abort();
    }
  }
  nd4c_calibration_release(calibration);
  return 0;
}
