/* Removes nodes that no other node and no output reads. */
#include "graph/passes.h"

/* Closing any rewrite removes what nobody reads; this pass asks for nothing else, so that the report shows it alone. */
nd4c_status nd4c_pass_dead(nd4c_rewrite *rewrite) {
  (void)rewrite;
  return ND4C_OK;
}
