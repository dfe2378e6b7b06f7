/* What a file of emit functions (emit_<family>.c) is made of: static functions emit_<name>, then its rows, then its
 * family. A new family is entered in ND4C_ONNX_FAMILIES of mapping.h, too.
 *
 *   #define ROWS(X)                         \
 *     X(Elu, 1, LAST, 1, 1, 1, elu, NONE)   \
 *     X(Sinh, 9, LAST, 1, 1, 1, direct, sinh)
 *   ND4C_ONNX_FAMILY(activation, "", ROWS)
 *
 * X(op, since, until, fewest inputs, most inputs, outputs made, emit function, nd4c op): the op from opset `since` to
 * `until` of the family's domain, in which its meaning is what the emit function reads; attributes that became inputs
 * are told apart inside. `direct` is for an op that an nd4c op expresses as it is. */
#ifndef ND4C_IO_ONNX_FAMILY_H
#define ND4C_IO_ONNX_FAMILY_H

#include "import/onnx/emission/emission.h"

#define LAST ND4C_ONNX_OPSET_LAST
#define ANY ND4C_ONNX_ANY

/* Emit functions that rows of every family may name (emit_direct.c). `direct`: the row's op on the node's inputs,
 * without attributes. `direct_legacy`: the same of two inputs that are broadcast as up to opset 6. `variadic`: the
 * row's binary op over all inputs. */
#define emit_direct nd4c_onnx_emit_direct
#define emit_direct_legacy nd4c_onnx_emit_direct_legacy
#define emit_variadic nd4c_onnx_emit_variadic
nd4c_status nd4c_onnx_emit_direct(nd4c_onnx_emission *emission);
nd4c_status nd4c_onnx_emit_direct_legacy(nd4c_onnx_emission *emission);
nd4c_status nd4c_onnx_emit_variadic(nd4c_onnx_emission *emission);
/* Refuses inputs whose dtype is not that of the first: ONNX promotes nothing. */
nd4c_status nd4c_onnx_check_one_type(const nd4c_onnx_emission *emission);

#define ND4C_ONNX_ROW(name, since, until, least, most, outputs, emit, op) \
  {#name, since, until, least, most, outputs, emit_##emit, ND4C_OP_##op},

/* domain: "" for ONNX's own. */
#define ND4C_ONNX_FAMILY(name, domain, ROWS)                            \
  static const nd4c_onnx_mapping name##_rows[] = {ROWS(ND4C_ONNX_ROW)}; \
  const nd4c_onnx_family nd4c_onnx_family_##name = {domain, name##_rows, sizeof name##_rows / sizeof name##_rows[0]};

#endif
