/* Random numbers. Each node has a state, which begins with its seed or an unpredictable number of the system. The state
 * is a constant of the model, so a node gives the same numbers every time that the imported model is run.
 * emission/scope.c calls the emit functions through the rows below. */
#include <string.h>

#include "base/os.h"
#include "base/status.h"
#include "import/onnx/family.h"
#include "import/onnx/file/dtype.h"

/* The state {key, counter} as an operand. Dropout's seed is an integer, the others' a float. */
static nd4c_status emit_state(nd4c_onnx_emission *emission, nd4c_onnx_operand *state) {
  double seed = 0;
  int64_t words[2] = {0, 0};
  if (nd4c_onnx_attribute_find(emission, "seed") == NULL) {
    words[0] = (int64_t)nd4c_os_entropy();
  } else if (nd4c_span_is(emission->node->op, "Dropout")) {
    ND4C_TRY(nd4c_onnx_get_int(emission, "seed", 0, &words[0]));
  } else {
    ND4C_TRY(nd4c_onnx_get_float(emission, "seed", 0, &seed));
    memcpy(&words[0], &seed, sizeof seed);
  }
  return nd4c_onnx_int64s(emission, 1, 2, words, state);
}

/* Uniform or normal numbers. */
static nd4c_status emit_shaped(nd4c_onnx_emission *emission, int32_t rank, const int64_t *shape, nd4c_dtype preset) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  nd4c_onnx_operand state = ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_get_dtype(emission, "dtype", preset, &dtype));
  ND4C_TRY(emit_state(emission, &state));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints("shape", shape, rank));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_dtype("dtype", dtype));
  return nd4c_onnx_emit_attrs(emission, emission->node->mapping->op, &state, 1, &attrs);
}

static nd4c_status emit_random(nd4c_onnx_emission *emission) {
  const int64_t *shape = NULL;
  int32_t rank = 0;
  if (nd4c_onnx_attribute_find(emission, "shape") == NULL) {
    return nd4c_fail(ND4C_FORMAT, "attribute 'shape' is missing");
  }
  ND4C_TRY(nd4c_onnx_get_ints(emission, "shape", &shape, &rank));
  return emit_shaped(emission, rank, shape, ND4C_FLOAT32);
}

static nd4c_status emit_random_like(nd4c_onnx_emission *emission) {
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  return emit_shaped(emission, info.rank, info.shape, info.dtype);
}

/* Bernoulli, of x's dtype, and Multinomial, of int32, unless the node names another. */
static nd4c_status emit_drawn(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand inputs[2] = {ND4C_ONNX_OPERAND_NONE, emission->inputs[0]};
  nd4c_op op = emission->node->mapping->op;
  nd4c_dtype dtype = ND4C_INT32;
  nd4c_onnx_attrs attrs;
  if (op == ND4C_OP_random_bernoulli) {
    dtype = nd4c_emitted_get(&emission->emitter, inputs[1]).dtype;
  }
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_get_dtype(emission, "dtype", dtype, &dtype));
  ND4C_TRY(emit_state(emission, &inputs[0]));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_dtype("dtype", dtype));
  if (op == ND4C_OP_random_categorical) {
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_bool("logarithms", true));
  }
  return nd4c_onnx_emit_attrs(emission, op, inputs, 2, &attrs);
}

/* -- Dropout ---------------------------------------------------------------------------------------------------- */

enum { TEST_FLAG_UNTIL = 6, MASK_IS_BOOL = 10, RATIO_IS_INPUT = 12 };

/* y and the mask: one op. */
static nd4c_status emit_training(nd4c_onnx_emission *emission, double ratio) {
  nd4c_onnx_operand inputs[2] = {ND4C_ONNX_OPERAND_NONE, emission->inputs[0]};
  nd4c_attr attr = nd4c_attr_of_float("rate", ratio);
  ND4C_TRY(emit_state(emission, &inputs[0]));
  ND4C_TRY(nd4c_emit_outputs(&emission->emitter, ND4C_OP_random_dropout, inputs, 2, &attr, 1, emission->outputs, 2));
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, emission->inputs[0]).dtype;
  return emission->opset >= MASK_IS_BOOL
             ? ND4C_OK
             : nd4c_emit_cast(&emission->emitter, emission->outputs[1], dtype, &emission->outputs[1]);
}

/* At inference nothing is dropped: y is x, and the mask is true everywhere (before opset 10: of x's dtype). */
static nd4c_status emit_dropout(nd4c_onnx_emission *emission) {
  int64_t test = 0;
  double ratio = 0.5;
  nd4c_onnx_operand x = emission->inputs[0];
  nd4c_onnx_operand training = nd4c_onnx_input(emission, 2);
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, x);
  nd4c_onnx_ignore(emission, "seed");
  nd4c_onnx_ignore(emission, "consumed_inputs");
  ND4C_TRY(nd4c_onnx_get_float(emission, "ratio", 0.5, &ratio));
  ND4C_TRY(nd4c_onnx_get_int(emission, "is_test", emission->opset <= TEST_FLAG_UNTIL ? 0 : 1, &test));
  double trains = test == 0 ? 1 : 0;
  if (training != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_number(emission, training, "input 'training_mode'", &trains));
  }
  if (trains != 0) {
    nd4c_onnx_operand given = emission->opset >= RATIO_IS_INPUT ? nd4c_onnx_input(emission, 1) : ND4C_ONNX_OPERAND_NONE;
    if (given != ND4C_ONNX_OPERAND_NONE) {
      ND4C_TRY(nd4c_onnx_read_number(emission, given, "input 'ratio'", &ratio));
    }
    return emit_training(emission, ratio);
  }
  emission->outputs[0] = x;
  if (emission->node->output_count < 2) {
    return ND4C_OK;
  }
  return nd4c_emit_full(&emission->emitter, emission->opset < MASK_IS_BOOL ? info.dtype : ND4C_BOOL, 1, info.rank,
                        info.shape, &emission->outputs[1]);
}

#define UNIFORM_RULES ATTR("low", FLOAT, "low", 0), ATTR("high", FLOAT, "high", 1)
#define NORMAL_RULES ATTR("mean", FLOAT, "mean", 0), ATTR("scale", FLOAT, "scale", 1)

/* -- rows ------------------------------------------------------------------------------------------------------- */

#define ROWS                                                                                                           \
  READ(RandomUniform, 1, LAST, 0, 0, 1, random, random_uniform, UNIFORM_RULES)                                         \
  READ(RandomNormal, 1, LAST, 0, 0, 1, random, random_normal, NORMAL_RULES)                                            \
  ND4C_ONNX_ROW(RandomUniformLike, 1, LAST, 1, 1, 1, emit_random_like, random_uniform, ND4C_ONNX_RULES(UNIFORM_RULES), \
                "random_uniform of the input's shape")                                                                 \
  ND4C_ONNX_ROW(RandomNormalLike, 1, LAST, 1, 1, 1, emit_random_like, random_normal, ND4C_ONNX_RULES(NORMAL_RULES),    \
                "random_normal of the input's shape")                                                                  \
  READ(Bernoulli, 15, LAST, 1, 1, 1, drawn, random_bernoulli, IGNORE("seed"))                                          \
  READ(Multinomial, 7, LAST, 1, 1, 1, drawn, random_categorical, ATTR("sample_size", INT, "samples", 1))               \
  OP(Dropout, 1, LAST, 1, 3, 2, dropout, NONE)

ND4C_ONNX_FAMILY(random, "", ROWS)
