/* Whether a program serves extents other than those that it was compiled for: a plan with dims then need not compile
 * its chains for each binding, and equal chains of a plan share one program. compiler.c calls it. */
#include "backends/cpu/tile/tile.h"

static bool broadcasts(const nd4c_tensor *x, const nd4c_tensor *y) {
  const int32_t missing = y->rank - x->rank;
  bool fits = missing >= 0;
  for (int32_t axis = 0; axis < x->rank && fits; axis++) {
    fits = x->shape[axis] == 1 || x->shape[axis] == y->shape[missing + axis];
  }
  return fits;
}

bool nd4c_tile_accepts(const nd4c_tile_program *program, const nd4c_tensor *inputs, int32_t input_count,
                       const nd4c_tensor *outputs, int32_t output_count) {
  if (input_count != program->input_count || output_count != program->output_count || output_count == 0) {
    return false;
  }
  const nd4c_tensor *y = &outputs[0];
  bool alike = y->rank == program->rank && (y->size == 1) == (program->size == 1);
  for (int32_t i = 1; i < output_count && alike; i++) {
    alike = nd4c_cpu_same_shape(&outputs[i], y);
  }
  for (int32_t i = 0; i < input_count && alike; i++) {
    alike = nd4c_tile_reach_of(&inputs[i], y->size) == program->ports[i].reach && broadcasts(&inputs[i], y);
  }
  return alike;
}
