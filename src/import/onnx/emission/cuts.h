/* Slices that begin where only a run says, as x[i : i + 1] of a loop's round: their lengths follow from the nodes that
 * give their bounds. Such a slice is a gather if it lies inside its axis. Elsewhere ONNX cuts it off, so that its shape
 * is another one; hence only who can do without the graph's run takes it (nd4c_onnx_importer.may_miss). */
#ifndef ND4C_IMPORT_ONNX_EMISSION_CUTS_H
#define ND4C_IMPORT_ONNX_EMISSION_CUTS_H

#include "import/onnx/emission/emission.h"

/* One axis. */
typedef struct nd4c_onnx_cut {
  bool known;          /* start and stop are numbers; else they are relative to what a run says */
  int64_t start, stop; /* as ONNX has them; stop - start: the length */
} nd4c_onnx_cut;

/* The cuts from lists of as many starts and stops, which are no constants. *count 0: their lengths are not known, or
 * the import may not assume where they lie. `cuts` has room for ND4C_MAX_RANK. */
nd4c_status nd4c_onnx_find_cuts(nd4c_onnx_emission *emission, nd4c_onnx_operand starts, nd4c_onnx_operand stops,
                                nd4c_onnx_cut *cuts, int32_t *count);
/* Makes a cut that is not known; `number`: its element of `starts`. Where it lies outside of the axis, the run fails
 * with INDEX. */
nd4c_status nd4c_onnx_emit_cut(nd4c_onnx_emission *emission, nd4c_onnx_operand x, int32_t axis,
                               const nd4c_onnx_cut *cut, nd4c_onnx_operand starts, int32_t number,
                               nd4c_onnx_operand *y);
#endif
