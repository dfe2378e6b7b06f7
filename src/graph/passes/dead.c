/* Removes nodes that no other node and no output reads. passes.c runs it on every optimised plan. */
#include "graph/passes.h"

/* The end of every rewrite removes nodes that are not read. This pass changes nothing else, so that the report shows
 * how many those were. */
static nd4c_status run(nd4c_rewrite *rewrite) {
  (void)rewrite;
  return ND4C_OK;
}

ND4C_PASS(10, dead, ANY, "removes nodes that no output needs")
