/* Elements at indices and where a condition is true, and arrays made from indices. emission/scope.c calls the emit
 * functions through the rows below. */
#include "base/status.h"
#include "import/onnx/family.h"

/* In the order of ND4C_SCATTER_TABLE, whose further values ONNX lacks. */
static const char *const reductions[] = {"none", "add", "mul", "max", "min", NULL};
static const char *const cache_modes[] = {"linear", "circular", NULL};

/* -- what indices make ----------------------------------------------------------------------------------------- */

/* Indices of any number's dtype; the depth is known at import. */
static nd4c_status emit_one_hot(nd4c_onnx_emission *emission) {
  enum { DEEPEST = 1 << 30 };
  double depth = 0;
  int64_t extent = 0;
  int32_t count = 0;
  nd4c_onnx_attrs attrs;
  nd4c_onnx_operand inputs[2] = {emission->inputs[0], emission->inputs[2]};
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  if (nd4c_onnx_is_extents(emission, emission->inputs[1])) {
    ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'depth'", 1, &extent, &count));
  } else {
    ND4C_TRY(nd4c_onnx_read_number(emission, emission->inputs[1], "input 'depth'", &depth));
    if (!(depth >= 0) || depth > DEEPEST) {
      return nd4c_fail(ND4C_FORMAT, "a depth of %g; expected 0 to %d", depth, (int)DEEPEST);
    }
    extent = (int64_t)depth;
  }
  if (nd4c_emitted_get(&emission->emitter, inputs[0]).dtype != ND4C_INT32) {
    ND4C_TRY(nd4c_emit_cast(&emission->emitter, inputs[0], ND4C_INT64, &inputs[0]));
  }
  nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_int("depth", extent));
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_one_hot, inputs, 2, &attrs);
}

static nd4c_status emit_trilu(nd4c_onnx_emission *emission) {
  int64_t upper = 0;
  int64_t k = 0;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_int(emission, "upper", 1, &upper));
  if (nd4c_onnx_input(emission, 1) != ND4C_ONNX_OPERAND_NONE) {
    ND4C_TRY(nd4c_onnx_read_extents(emission, emission->inputs[1], "input 'k'", 1, &k, &count));
  }
  nd4c_attr attr = nd4c_attr_of_int("k", k);
  return nd4c_emit(&emission->emitter, upper != 0 ? ND4C_OP_triu : ND4C_OP_tril, emission->inputs, 1, &attr, 1,
                   &emission->outputs[0]);
}

static nd4c_status emit_col2im(nd4c_onnx_emission *emission) {
  static const char *const onnx[] = {"input 'image_shape'", "input 'block_shape'"}, *const names[] = {"image",
                                                                                                      "kernel"};
  int64_t lists[2][ND4C_MAX_RANK];
  nd4c_onnx_attrs attrs;
  ND4C_TRY(nd4c_onnx_read_attrs(emission, &attrs));
  for (int32_t i = 0; i < 2; i++) {
    int32_t count = 0;
    ND4C_TRY(nd4c_onnx_read_ints(emission, emission->inputs[1 + i], onnx[i], ND4C_MAX_RANK, lists[i], &count));
    nd4c_onnx_attrs_add(&attrs, nd4c_attr_of_ints(names[i], lists[i], count));
  }
  return nd4c_onnx_emit_attrs(emission, ND4C_OP_col2im, emission->inputs, 1, &attrs);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                                        \
  MAP(GatherElements, 11, LAST, 2, 2, 1, gather_elements, ATTR("axis", INT, "axis", 0))                             \
  MAP(GatherND, 11, LAST, 2, 2, 1, gather_nd, ATTR("batch_dims", INT, "batch_dims", 0))                             \
  MAP(Scatter, 9, 10, 3, 3, 1, scatter_elements, ATTR("axis", INT, "axis", 0))                                      \
  MAP(ScatterElements, 11, LAST, 3, 3, 1, scatter_elements, ATTR("axis", INT, "axis", 0),                           \
      WORDS("reduction", "reduction", 0, reductions))                                                               \
  MAP(ScatterND, 11, LAST, 3, 3, 1, scatter_nd, WORDS("reduction", "reduction", 0, reductions))                     \
  MAP(TensorScatter, 24, LAST, 2, 3, 1, tensor_scatter, ATTR("axis", INT, "axis", -2),                              \
      WORDS("mode", "circular", 0, cache_modes))                                                                    \
  MAP(Compress, 9, LAST, 2, 2, 1, compress, ATTR("axis", ONE, "axes", 0))                                           \
  MAP(ReverseSequence, 10, LAST, 2, 2, 1, reverse_sequence, ATTR("batch_axis", INT, "batch_axis", 1),               \
      ATTR("time_axis", INT, "time_axis", 0))                                                                       \
  READ(OneHot, 9, LAST, 3, 3, 1, one_hot, NONE, ATTR("axis", INT, "axis", -1))                                      \
  OP(Trilu, 14, LAST, 1, 2, 1, trilu, NONE)                                                                         \
  READ(Col2Im, 18, LAST, 3, 3, 1, col2im, NONE, ATTR("strides", INTS, "strides", 0), ATTR("pads", INTS, "pads", 0), \
       ATTR("dilations", INTS, "dilations", 0))

ND4C_ONNX_FAMILY(indexing, "", ROWS)

/* The same, of ONNX Runtime before ONNX had them. */
#define MICROSOFT_ROWS                     \
  OP(Trilu, 1, LAST, 1, 2, 1, trilu, NONE) \
  OP(GatherND, 1, LAST, 2, 2, 1, direct, gather_nd)

ND4C_ONNX_FAMILY(indexing_microsoft, "com.microsoft", MICROSOFT_ROWS)
