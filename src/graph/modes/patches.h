/* Patches: the places in prebuilt calls where a run writes the addresses of its arguments. Modes that build their calls
 * once use them. */
#ifndef ND4C_GRAPH_MODES_PATCHES_H
#define ND4C_GRAPH_MODES_PATCHES_H

#include "graph/plan.h"

/* Lists the operands of all steps that lie in inputs, outputs and the arena, and completes each call with the state of
 * its choice. Stream, device and width are already set; the mode sets scratch. */
nd4c_status nd4c_patches_make(nd4c_plan *plan);

#endif
