/* Removes nodes that no other node and no output reads. */
#include "graph/passes.h"

/* Closing any rewrite removes what nobody reads; this pass asks for nothing else, so that the report shows it alone. */
static nd4c_status run(nd4c_rewrite *rewrite) {
  (void)rewrite;
  return ND4C_OK;
}

ND4C_PASS(10, dead, ANY, "removes nodes that no output needs")
