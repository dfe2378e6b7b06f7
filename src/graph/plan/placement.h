/* Checks of placements, implemented in places.c. plan.c checks the placement of a plan, import/model.c that of a
 * model. */
#ifndef ND4C_GRAPH_PLAN_PLACEMENT_H
#define ND4C_GRAPH_PLAN_PLACEMENT_H

#include "nd4c/graph.h"

/* ARGUMENT or NULL_ARGUMENT; the text says what is wrong. */
nd4c_status nd4c_placement_check(const nd4c_placement *placement);
/* The single device of a checked placement; NULL: there are several, or a callback decides. */
nd4c_device *nd4c_placement_single(const nd4c_placement *placement);

#endif
