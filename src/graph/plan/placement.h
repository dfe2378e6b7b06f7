/* Placements as others take them. */
#ifndef ND4C_GRAPH_PLACEMENT_H
#define ND4C_GRAPH_PLACEMENT_H

#include "nd4c/graph.h"

/* ARGUMENT or NULL_ARGUMENT with what is wrong. */
nd4c_status nd4c_placement_check(const nd4c_placement *placement);
/* The device that a checked placement names for every node; NULL: a callback says, or there are several. */
nd4c_device *nd4c_placement_single(const nd4c_placement *placement);

#endif
