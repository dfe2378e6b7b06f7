/* Recurrent layers. emission/scope.c calls the emit functions through the rows below. */
#include "base/status.h"
#include "import/onnx/emission/fused.h"
#include "import/onnx/family.h"

enum { FUNCTIONS_MOST = 6 };

/* What ONNX calls each activation, and the parameters that it takes from activation_alpha and activation_beta. */
typedef struct activation {
  const char *name;
  int64_t number;
  bool alpha, beta;
} activation;

static const activation activations[] = {{"Relu", ND4C_RECURRENT_ACTIVATION_RELU, false, false},
                                         {"Tanh", ND4C_RECURRENT_ACTIVATION_TANH, false, false},
                                         {"Sigmoid", ND4C_RECURRENT_ACTIVATION_SIGMOID, false, false},
                                         {"Affine", ND4C_RECURRENT_ACTIVATION_AFFINE, true, true},
                                         {"LeakyRelu", ND4C_RECURRENT_ACTIVATION_LEAKY_RELU, true, false},
                                         {"ThresholdedRelu", ND4C_RECURRENT_ACTIVATION_THRESHOLDED_RELU, true, false},
                                         {"ScaledTanh", ND4C_RECURRENT_ACTIVATION_SCALED_TANH, true, true},
                                         {"HardSigmoid", ND4C_RECURRENT_ACTIVATION_HARD_SIGMOID, true, true},
                                         {"Elu", ND4C_RECURRENT_ACTIVATION_ELU, true, false},
                                         {"Softsign", ND4C_RECURRENT_ACTIVATION_SOFTSIGN, false, false},
                                         {"Softplus", ND4C_RECURRENT_ACTIVATION_SOFTPLUS, false, false}};

static const struct {
  double alpha, beta;
} presets[] = {
#define PRESET(NAME, number, name, alpha, beta) [number] = {alpha, beta},
    ND4C_RECURRENT_ACTIVATION_TABLE(PRESET)
#undef PRESET
};

/* Names differ in case from file to file. */
static const activation *find_activation(nd4c_span name) {
  for (size_t i = 0; i < sizeof activations / sizeof activations[0]; i++) {
    const char *known = activations[i].name;
    size_t length = strlen(known);
    bool same = length == name.size;
    for (size_t j = 0; same && j < length; j++) {
      same = (name.bytes[j] | 0x20) == (known[j] | 0x20);
    }
    if (same) {
      return &activations[i];
    }
  }
  return NULL;
}

/* The activations of a layer as attributes of the nd4c op. */
typedef struct functions {
  int64_t numbers[FUNCTIONS_MOST];
  double alpha[FUNCTIONS_MOST], beta[FUNCTIONS_MOST];
} functions;

/* activation_alpha and activation_beta list the parameters of those activations that have them, in their order. */
static nd4c_status read_activations(nd4c_onnx_emission *emission, functions *f, nd4c_onnx_attrs *attrs) {
  const nd4c_span *names = NULL;
  const double *alpha = NULL, *beta = NULL;
  int32_t count = 0, alphas = 0, betas = 0, next_alpha = 0, next_beta = 0;
  ND4C_TRY(nd4c_onnx_get_strings(emission, "activations", &names, &count));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "activation_alpha", &alpha, &alphas));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "activation_beta", &beta, &betas));
  if (count > FUNCTIONS_MOST) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'activations' has %d values; expected at most %d", (int)count,
                     FUNCTIONS_MOST);
  }
  for (int32_t i = 0; i < count; i++) {
    const activation *found = find_activation(names[i]);
    if (found == NULL) {
      return nd4c_fail(ND4C_FORMAT, "activation %s is not one of ONNX's", nd4c_span_show(names[i]).text);
    }
    f->numbers[i] = found->number;
    f->alpha[i] = found->alpha && next_alpha < alphas ? alpha[next_alpha++] : presets[found->number].alpha;
    f->beta[i] = found->beta && next_beta < betas ? beta[next_beta++] : presets[found->number].beta;
  }
  if (count > 0) {
    nd4c_onnx_attrs_add(attrs, nd4c_attr_of_ints("activations", f->numbers, count));
    nd4c_onnx_attrs_add(attrs, nd4c_attr_of_floats("alpha", f->alpha, count));
    nd4c_onnx_attrs_add(attrs, nd4c_attr_of_floats("beta", f->beta, count));
  }
  return ND4C_OK;
}

static nd4c_status emit_layer(nd4c_onnx_emission *emission) {
  functions f;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(read_activations(emission, &f, &attrs));
  return nd4c_onnx_emit_attrs(emission, emission->node->mapping->op, emission->inputs, emission->input_count, &attrs);
}

/* -- dynamically quantised ----------------------------------------------------------------------------------------- */

/* Weights [directions, inputs, rows] of codes as those of an lstm, [directions, rows, inputs]. Scale and zero point are
 * inputs `scale` and behind it, one for each direction or for each row. */
static nd4c_status weights_of(nd4c_onnx_emission *emission, nd4c_onnx_operand codes, int32_t scale,
                              nd4c_onnx_operand *weights) {
  static const int64_t order[] = {0, 2, 1};
  nd4c_onnx_operand given[2];
  for (int32_t i = 0; i < 2; i++) {
    int64_t shape[3] = {0, 1, 1};
    ND4C_TRY(nd4c_onnx_require_input(emission, scale + i, &given[i]));
    const nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, given[i]);
    if (info.rank < 1 || info.rank > 2) {
      return nd4c_fail(ND4C_SHAPE, "input %d has rank %d; expected [directions] or [directions, 4 * hidden]",
                       (int)(scale + i), (int)info.rank);
    }
    shape[0] = info.shape[0];
    shape[2] = info.rank == 2 ? info.shape[1] : 1;
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, given[i], 3, shape, &given[i]));
  }
  const nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, given[0]).dtype;
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, codes, dtype, weights));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, given[1], dtype, &given[1]));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_subtract, *weights, given[1], weights));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_multiply, *weights, given[0], weights));
  return nd4c_emit_axes(&emission->emitter, ND4C_OP_transpose, *weights, 3, order, weights);
}

/* ONNX Runtime rounds x and the states to 8 bits, so that it can multiply integers. Here they stay as they are: the
 * results are nearer to those of the model before it was quantised. Constant weights become numbers once. */
static nd4c_status emit_quantized_lstm(nd4c_onnx_emission *emission) {
  enum { W = 1, R = 2, INPUTS = 8, W_SCALE = 8, R_SCALE = 10 };
  nd4c_onnx_operand inputs[INPUTS];
  functions f;
  nd4c_onnx_attrs attrs;
  for (int32_t i = 0; i < INPUTS; i++) {
    inputs[i] = nd4c_onnx_input(emission, i);
  }
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(read_activations(emission, &f, &attrs));
  ND4C_TRY(weights_of(emission, inputs[W], W_SCALE, &inputs[W]));
  ND4C_TRY(weights_of(emission, inputs[R], R_SCALE, &inputs[R]));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_lstm, inputs, INPUTS, &attrs);
}

static const char *const directions[] = {ND4C_DIRECTION_TABLE(ND4C_ONNX_WORD) NULL};

/* hidden_size is ignored: it follows from the weights' shapes. */
#define LAYER_RULES                                                       \
  ATTR("clip", FLOAT, "clip", 0), ATTR("layout", BOOL, "batch_first", 0), \
      WORDS("direction", "direction", 0, directions), IGNORE("hidden_size"), IGNORE("output_sequence")

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define LSTM_RULES LAYER_RULES, ATTR("input_forget", BOOL, "input_forget", 0)

#define ROWS                                                                                                        \
  READ(RNN, 1, LAST, 3, 6, 2, layer, rnn, LAYER_RULES)                                                              \
  READ(GRU, 1, LAST, 3, 6, 2, layer, gru, LAYER_RULES, ATTR("linear_before_reset", BOOL, "linear_before_reset", 0)) \
  READ(LSTM, 1, LAST, 3, 8, 3, layer, lstm, LSTM_RULES)

ND4C_ONNX_FAMILY(recurrent, "", ROWS)

#define MICROSOFT_ROWS                                                                                          \
  ND4C_ONNX_ROW(DynamicQuantizeLSTM, 1, LAST, 3, 12, 3, emit_quantized_lstm, NONE, ND4C_ONNX_RULES(LSTM_RULES), \
                "cast, subtract, multiply, transpose, lstm")

ND4C_ONNX_FAMILY(recurrent_microsoft, "com.microsoft", MICROSOFT_ROWS)
