/* Recurrent layers. */
#include "base/status.h"
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

/* A layer as nd4c's ops take it. */
typedef struct layer {
  nd4c_attr attrs[8];
  int32_t count;
  int64_t numbers[FUNCTIONS_MOST];
  double alpha[FUNCTIONS_MOST], beta[FUNCTIONS_MOST];
} layer;

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

/* activation_alpha and activation_beta list the parameters of those activations that have them, in their order. */
static nd4c_status read_activations(nd4c_onnx_emission *emission, layer *l) {
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
    l->numbers[i] = found->number;
    l->alpha[i] = found->alpha && next_alpha < alphas ? alpha[next_alpha++] : presets[found->number].alpha;
    l->beta[i] = found->beta && next_beta < betas ? beta[next_beta++] : presets[found->number].beta;
  }
  if (count > 0) {
    l->attrs[l->count++] = nd4c_attr_of_ints("activations", l->numbers, count);
    l->attrs[l->count++] = nd4c_attr_of_floats("alpha", l->alpha, count);
    l->attrs[l->count++] = nd4c_attr_of_floats("beta", l->beta, count);
  }
  return ND4C_OK;
}

static nd4c_status read_layer(nd4c_onnx_emission *emission, layer *l) {
  static const char *const directions[] = {"forward", "reverse", "bidirectional"};
  double clip = 0;
  int64_t layout = 0, direction = 0;
  nd4c_span name;
  nd4c_onnx_ignore(emission, "hidden_size"); /* what the weights' shapes say */
  nd4c_onnx_ignore(emission, "output_sequence");
  ND4C_TRY(nd4c_onnx_get_float(emission, "clip", 0, &clip));
  ND4C_TRY(nd4c_onnx_get_int(emission, "layout", 0, &layout));
  ND4C_TRY(nd4c_onnx_get_text(emission, "direction", "forward", &name));
  while (direction < 3 && !nd4c_span_is(name, directions[direction])) {
    direction++;
  }
  if (direction == 3) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'direction' is %s, expected forward, reverse or bidirectional",
                     nd4c_span_show(name).text);
  }
  l->count = 0;
  l->attrs[l->count++] = nd4c_attr_of_float("clip", clip);
  l->attrs[l->count++] = nd4c_attr_of_int("direction", direction);
  l->attrs[l->count++] = nd4c_attr_of_bool("batch_first", layout != 0);
  return read_activations(emission, l);
}

static nd4c_status emit_layer(nd4c_onnx_emission *emission, const char *flag, const char *name, int32_t outputs) {
  int64_t value = 0;
  layer l;
  ND4C_TRY(read_layer(emission, &l));
  if (flag != NULL) {
    ND4C_TRY(nd4c_onnx_get_int(emission, flag, 0, &value));
    l.attrs[l.count++] = nd4c_attr_of_bool(name, value != 0);
  }
  return nd4c_emit_outputs(&emission->emitter, emission->node->mapping->op, emission->inputs, emission->input_count,
                           l.attrs, l.count, emission->outputs, outputs);
}

static nd4c_status emit_rnn(nd4c_onnx_emission *emission) {
  return emit_layer(emission, NULL, NULL, 2);
}

static nd4c_status emit_gru(nd4c_onnx_emission *emission) {
  return emit_layer(emission, "linear_before_reset", "linear_before_reset", 2);
}

static nd4c_status emit_lstm(nd4c_onnx_emission *emission) {
  return emit_layer(emission, "input_forget", "input_forget", 3);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                          \
  OP(RNN, 1, LAST, 3, 6, 2, rnn, rnn) \
  OP(GRU, 1, LAST, 3, 6, 2, gru, gru) \
  OP(LSTM, 1, LAST, 3, 8, 3, lstm, lstm)

ND4C_ONNX_FAMILY(recurrent, "", ROWS)
