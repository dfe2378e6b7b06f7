/* Fourier transforms, short-time transforms, windows, mel filters; determinants and Einstein's sums. ONNX writes
 * complex numbers as pairs of reals on a last axis. emission/scope.c calls the emit functions through the rows
 * below. */
#include <inttypes.h>

#include "base/status.h"
#include "import/onnx/family.h"
#include "import/onnx/file/dtype.h"
#include "ops/compose/compose.h"

/* -- transforms ------------------------------------------------------------------------------------------------- */

/* The axis to transform. It is not the input's last axis, which holds real and imaginary parts. */
static nd4c_status dft_axis(nd4c_onnx_emission *emission, int32_t rank, int64_t *axis) {
  enum { AXIS_IS_INPUT = 20 };
  if (emission->opset >= AXIS_IS_INPUT) {
    ND4C_TRY(nd4c_onnx_read_int(emission, 2, "the axis", -2, axis));
  } else {
    ND4C_TRY(nd4c_onnx_get_int(emission, "axis", 1, axis));
  }
  int64_t given = *axis;
  *axis = given < 0 ? given + rank : given;
  if (*axis < 0 || *axis > rank - 2) {
    return nd4c_fail(ND4C_INDEX, "axis %" PRId64 " of rank %d, the last of which holds real and imaginary parts", given,
                     (int)rank);
  }
  return ND4C_OK;
}

static nd4c_status emit_dft(nd4c_onnx_emission *emission) {
  int64_t inverse = 0, onesided = 0, axis = 0, length = -1;
  bool is_complex = false;
  nd4c_onnx_operand x = ND4C_ONNX_OPERAND_NONE;
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_get_int(emission, "inverse", 0, &inverse));
  ND4C_TRY(nd4c_onnx_get_int(emission, "onesided", 0, &onesided));
  ND4C_TRY(dft_axis(emission, info.rank, &axis));
  ND4C_TRY(nd4c_onnx_read_int(emission, 1, "the transform's length", -1, &length));
  ND4C_TRY(nd4c_compose_numbers(&emission->emitter, emission->inputs[0], &is_complex, &x));
  const nd4c_attr attrs[] = {nd4c_attr_of_int("n", length), nd4c_attr_of_int("axis", axis)};
  bool real_result = inverse != 0 && onesided != 0;
  nd4c_op op = real_result ? ND4C_OP_irfft : inverse != 0 ? ND4C_OP_ifft : ND4C_OP_fft;
  if (onesided != 0 && inverse == 0 && !is_complex) {
    op = ND4C_OP_rfft;
  }
  ND4C_TRY(nd4c_emit(&emission->emitter, op, &x, 1, attrs, 2, &x));
  if (onesided != 0 && inverse == 0 && is_complex) { /* undefined in ONNX; its reference cuts the result */
    int64_t points = nd4c_emitted_get(&emission->emitter, x).shape[axis];
    ND4C_TRY(nd4c_onnx_check_number(emission, points, "the transform's length"));
    ND4C_TRY(nd4c_emit_slice(&emission->emitter, x, axis, 0, points / 2 + 1, 1, &x));
  }
  if (real_result) {
    nd4c_emitted_info result = nd4c_emitted_get(&emission->emitter, x);
    result.shape[result.rank++] = 1;
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, x, result.rank, result.shape, &x));
    return nd4c_emit_cast(&emission->emitter, x, info.dtype, &emission->outputs[0]);
  }
  return nd4c_compose_pairs(&emission->emitter, x, info.dtype, &emission->outputs[0]);
}

static nd4c_status emit_stft(nd4c_onnx_emission *emission) {
  int64_t onesided = 0, step = 0, length = -1;
  bool is_complex = false;
  nd4c_onnx_operand operands[2] = {ND4C_ONNX_OPERAND_NONE, nd4c_onnx_input(emission, 2)};
  nd4c_emitted_info info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  ND4C_TRY(nd4c_onnx_get_int(emission, "onesided", 1, &onesided));
  ND4C_TRY(nd4c_onnx_read_int(emission, 1, "the frames' distance", 1, &step));
  ND4C_TRY(nd4c_onnx_read_int(emission, 3, "the frames' length", -1, &length));
  ND4C_TRY(nd4c_compose_numbers(&emission->emitter, emission->inputs[0], &is_complex, &operands[0]));
  if (operands[1] != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, operands[1], info.dtype == ND4C_FLOAT64 ? ND4C_FLOAT64 : ND4C_FLOAT32,
                            &operands[1]));
  }
  const nd4c_attr attrs[] = {nd4c_attr_of_int("frame_length", length), nd4c_attr_of_int("frame_step", step),
                             nd4c_attr_of_bool("onesided", onesided != 0)};
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_stft, operands, 2, attrs, 3, &operands[0]));
  return nd4c_compose_pairs(&emission->emitter, operands[0], info.dtype, &emission->outputs[0]);
}

/* -- made of numbers -------------------------------------------------------------------------------------------- */

/* The dtype of the attribute output_datatype, and the floating dtype of the result before the cast to it. */
static nd4c_status output_dtype(nd4c_onnx_emission *emission, nd4c_dtype *dtype, nd4c_dtype *computed) {
  int64_t number = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "output_datatype", 1, &number));
  ND4C_TRY(nd4c_onnx_dtype_resolve(number, dtype));
  *computed = nd4c_dtype_get_info(*dtype)->kind == ND4C_KIND_FLOAT && *dtype <= ND4C_FLOAT64 ? *dtype : ND4C_FLOAT64;
  return ND4C_OK;
}

static nd4c_status emit_window(nd4c_onnx_emission *emission) {
  static const double hamming_alpha = 25.0 / 46.0;
  int64_t size = 0;
  nd4c_dtype dtype, computed;
  nd4c_op op = emission->node->mapping->op;
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  ND4C_TRY(nd4c_onnx_read_int(emission, 0, "the window's size", 0, &size));
  ND4C_TRY(output_dtype(emission, &dtype, &computed));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_int("size", size));
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_dtype("dtype", computed));
  if (op == ND4C_OP_hamming_window) {
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_float("alpha", hamming_alpha));
  }
  ND4C_TRY(nd4c_onnx_emit_attrs(emission, op, NULL, 0, &attrs));
  return nd4c_emit_cast(&emission->emitter, emission->outputs[0], dtype, &emission->outputs[0]);
}

static nd4c_status emit_mel_weight_matrix(nd4c_onnx_emission *emission) {
  static const char *const what[] = {"the sample rate", "the lower edge", "the upper edge"};
  int64_t filters = 0, length = 0;
  double hertz[3] = {0, 0, 0};
  nd4c_dtype dtype, computed;
  ND4C_TRY(nd4c_onnx_read_int(emission, 0, "the number of filters", 0, &filters));
  ND4C_TRY(nd4c_onnx_read_int(emission, 1, "the transform's length", 0, &length));
  for (int32_t i = 0; i < 3; i++) {
    ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[2 + i], what[i], &hertz[i]));
  }
  ND4C_TRY(output_dtype(emission, &dtype, &computed));
  const nd4c_attr attrs[] = {nd4c_attr_of_int("mel_bins", filters),       nd4c_attr_of_int("dft_length", length),
                             nd4c_attr_of_float("sample_rate", hertz[0]), nd4c_attr_of_float("lower", hertz[1]),
                             nd4c_attr_of_float("upper", hertz[2]),       nd4c_attr_of_dtype("dtype", computed)};
  ND4C_TRY(nd4c_emit(&emission->emitter, ND4C_OP_mel_weight_matrix, NULL, 0, attrs, 6, &emission->outputs[0]));
  return nd4c_emit_cast(&emission->emitter, emission->outputs[0], dtype, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------- */

#define ROWS                                                                                              \
  OP(DFT, 17, LAST, 1, 3, 1, dft, NONE)                                                                   \
  OP(STFT, 17, LAST, 2, 4, 1, stft, NONE)                                                                 \
  READ(HannWindow, 17, LAST, 1, 1, 1, window, hann_window, ATTR("periodic", BOOL, "periodic", 1))         \
  READ(HammingWindow, 17, LAST, 1, 1, 1, window, hamming_window, ATTR("periodic", BOOL, "periodic", 1))   \
  READ(BlackmanWindow, 17, LAST, 1, 1, 1, window, blackman_window, ATTR("periodic", BOOL, "periodic", 1)) \
  OP(MelWeightMatrix, 17, LAST, 5, 5, 1, mel_weight_matrix, NONE)                                         \
  OP(Det, 11, LAST, 1, 1, 1, direct, det)                                                                 \
  MAP(Einsum, 12, LAST, 1, ANY, 1, einsum, ATTR("equation", TEXT, "equation", 0))

ND4C_ONNX_FAMILY(signal, "", ROWS)
