/* A step of a scenario, for tests in which each call of it fails in turn. */
#ifndef TESTS_DEVICE_STEP_H
#define TESTS_DEVICE_STEP_H

#include "nd4c/nd4c.h"

/* Returns the status of the call that fails. */
#define STEP(expression)              \
  do {                                \
    nd4c_status step_ = (expression); \
    if (step_ != ND4C_OK) {           \
      return step_;                   \
    }                                 \
  } while (0)

#endif
