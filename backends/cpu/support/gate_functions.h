/* The activations that a call of rnn, lstm or gru names, with their parameters. The kernels of both engines
 * (reference/recurrent.c, simd/recurrent.c) read them by these functions. */
#ifndef ND4C_BACKENDS_CPU_SUPPORT_GATE_FUNCTIONS_H
#define ND4C_BACKENDS_CPU_SUPPORT_GATE_FUNCTIONS_H

#include "backends/cpu/cpu.h"

/* kernels/reference/recurrent and kernels/cpu/recurrent count activations as the op table does. */
_Static_assert(ND4C_RECURRENT_ACTIVATION_RELU == 0 && ND4C_RECURRENT_ACTIVATION_TANH == 1 &&
                   ND4C_RECURRENT_ACTIVATION_SIGMOID == 2 && ND4C_RECURRENT_ACTIVATION_AFFINE == 3 &&
                   ND4C_RECURRENT_ACTIVATION_LEAKY_RELU == 4 && ND4C_RECURRENT_ACTIVATION_THRESHOLDED_RELU == 5 &&
                   ND4C_RECURRENT_ACTIVATION_SCALED_TANH == 6 && ND4C_RECURRENT_ACTIVATION_HARD_SIGMOID == 7 &&
                   ND4C_RECURRENT_ACTIVATION_ELU == 8 && ND4C_RECURRENT_ACTIVATION_SOFTSIGN == 9 &&
                   ND4C_RECURRENT_ACTIVATION_SOFTPLUS == 10,
               "the enums of both recurrent.c");

/* One of the activations that attribute `activations` lists; `alpha` and `beta` are those given, or else the table's.
 */
typedef struct nd4c_cpu_gate_function {
  int64_t kind;
  double alpha, beta;
} nd4c_cpu_gate_function;

static inline int32_t nd4c_cpu_gate_functions_count(const nd4c_call *call) {
  return call->attrs[ND4C_ATTR_rnn_activations].count;
}

/* index: below nd4c_cpu_gate_functions_count. */
static inline nd4c_cpu_gate_function nd4c_cpu_gate_function_at(const nd4c_call *call, int32_t index) {
  static const struct {
    double alpha, beta;
  } presets[] = {
#define PRESET(NAME, number, name, alpha, beta) [number] = {alpha, beta},
      ND4C_RECURRENT_ACTIVATION_TABLE(PRESET)
#undef PRESET
  };
  const nd4c_attr_value *alpha = &call->attrs[ND4C_ATTR_rnn_alpha], *beta = &call->attrs[ND4C_ATTR_rnn_beta];
  const int64_t kind = call->attrs[ND4C_ATTR_rnn_activations].as.ints[index];
  return (nd4c_cpu_gate_function){kind, alpha->count > 0 ? alpha->as.floats[index] : presets[kind].alpha,
                                  beta->count > 0 ? beta->as.floats[index] : presets[kind].beta};
}

#endif
