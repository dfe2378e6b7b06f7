/* Patches: where a run puts the place of what it was given. Modes that build their calls once use them. */
#ifndef ND4C_GRAPH_PATCHES_H
#define ND4C_GRAPH_PATCHES_H

#include "graph/plan.h"

/* Makes the lists of the operands of all steps that lie in inputs, outputs and the arena, and sets what a call takes
 * from its choice. Stream, device and width are set since the choice was made; scratch is the mode's. */
nd4c_status nd4c_patches_make(nd4c_plan *plan);

#endif
