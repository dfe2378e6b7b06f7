/* What a file of src/import/onnx/ops is made of: static functions emit_<name>, then its rows, then its family. Only
 * these files include it. The build lists the families (cmake/gather.cmake) for ops/mapping.c, so that an ONNX op is
 * added in one file.
 *
 *   #define ROWS                               \
 *     OP(Sinh, 9, LAST, 1, 1, 1, direct, sinh) \
 *     MAP(Elu, 1, LAST, 1, 1, 1, elu, ATTR("alpha", FLOAT, "alpha", 1))
 *
 *   ND4C_ONNX_FAMILY(activation, "", ROWS)
 *
 * Every row begins with op, since, until, fewest inputs, most inputs, outputs made: the op from opset `since` to
 * `until` of the family's domain. An op that several opsets read differently has a row for each reading.
 *
 *   OP(..., emit, op)           the function emit_<emit>; `op` is the nd4c op that it may use, or NONE
 *   MAP(..., op, rules)         the nd4c op on the node's inputs, with the attributes that the rules make
 *   READ(..., emit, op, rules)  emit_<emit>, which reads the rules with nd4c_onnx_read_attrs
 *   CHAIN(..., emit, op, text)  emit_<emit> of an op that no single nd4c op can do; docs/reference/ops.md has the text
 */
#ifndef ND4C_IMPORT_ONNX_FAMILY_H
#define ND4C_IMPORT_ONNX_FAMILY_H

#include <math.h>

#include "import/onnx/emission/attributes.h"
#include "import/onnx/emission/emission.h"

#define LAST ND4C_ONNX_OPSET_LAST
#define ANY ND4C_ONNX_ANY

/* Emit functions that rows of every family may name. `direct`: the row's op on the node's inputs, without attributes.
 * `direct_legacy`: the same of two inputs that are broadcast as up to opset 6. `variadic`: the row's binary op over all
 * inputs. */
#define emit_direct nd4c_onnx_emit_direct
#define emit_direct_legacy nd4c_onnx_emit_direct_legacy
#define emit_variadic nd4c_onnx_emit_variadic
nd4c_status nd4c_onnx_emit_direct(nd4c_onnx_emission *emission);
nd4c_status nd4c_onnx_emit_direct_legacy(nd4c_onnx_emission *emission);
nd4c_status nd4c_onnx_emit_variadic(nd4c_onnx_emission *emission);
/* What a node with any number of inputs must fulfil: none is left out, and, where the operator says so, all have one
 * dtype. */
nd4c_status nd4c_onnx_check_variadic(nd4c_onnx_emission *emission);
/* Of rows made with MAP. */
nd4c_status nd4c_onnx_emit_mapped(nd4c_onnx_emission *emission);
/* Refuses inputs whose dtype is not that of the first: ONNX promotes nothing. */
nd4c_status nd4c_onnx_check_one_type(const nd4c_onnx_emission *emission);

/* Rules. ATTR(ONNX's name, kind, nd4c's name, preset): kinds are those of nd4c_onnx_rule_kind, REQUIRED as a preset
 * refuses a node without the attribute. WORDS: a word in a list that ends with NULL becomes its position. */
#define REQUIRED ((double)NAN)
#define ATTR(onnx, kind, name, preset) {onnx, name, ND4C_ONNX_RULE_##kind, preset, NULL}
#define WORDS(onnx, name, preset, words) {onnx, name, ND4C_ONNX_RULE_WORD, preset, words}
#define IGNORE(onnx) {onnx, NULL, ND4C_ONNX_RULE_IGNORED, 0, NULL}

#define ND4C_ONNX_ROW(name, since, until, least, most, outputs, emit, op, rules, text) \
  {#name, since, until, least, most, outputs, emit, ND4C_OP_##op, rules, text},
#define ND4C_ONNX_RULES(...)                  \
  (const nd4c_onnx_rule[]) {                  \
    __VA_ARGS__, ATTR(NULL, IGNORED, NULL, 0) \
  }

#define OP(name, since, until, least, most, outputs, emit, op) \
  ND4C_ONNX_ROW(name, since, until, least, most, outputs, emit_##emit, op, NULL, NULL)
#define MAP(name, since, until, least, most, outputs, op, ...) \
  ND4C_ONNX_ROW(name, since, until, least, most, outputs, nd4c_onnx_emit_mapped, op, ND4C_ONNX_RULES(__VA_ARGS__), NULL)
#define READ(name, since, until, least, most, outputs, emit, op, ...) \
  ND4C_ONNX_ROW(name, since, until, least, most, outputs, emit_##emit, op, ND4C_ONNX_RULES(__VA_ARGS__), NULL)
#define CHAIN(name, since, until, least, most, outputs, emit, op, text) \
  ND4C_ONNX_ROW(name, since, until, least, most, outputs, emit_##emit, op, NULL, text)

/* domain: "" for ONNX's own. */
#define ND4C_ONNX_FAMILY(name, domain, rows)             \
  static const nd4c_onnx_mapping name##_rows[] = {rows}; \
  const nd4c_onnx_family nd4c_onnx_family_##name = {domain, name##_rows, sizeof name##_rows / sizeof name##_rows[0]};

#endif
