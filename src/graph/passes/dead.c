/* Removes nodes that no other node and no output reads. */
#include "graph/passes.h"

/* Ending any rewrite removes nodes without readers. This pass does nothing else, so that the report shows their number
 * separately. */
nd4c_status nd4c_pass_dead(nd4c_rewrite *rewrite) {
  (void)rewrite;
  return ND4C_OK;
}
