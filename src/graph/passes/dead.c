/* Removes nodes that no other node and no output reads. passes.c runs it on every optimised plan. */
#include "graph/passes.h"

/* The end of every rewrite removes such nodes too; this pass comes first, so that the report shows how many the
 * recorded graph had. */
static nd4c_status run(nd4c_rewrite *rewrite) {
  rewrite->changes += nd4c_rewrite_remove_unread(rewrite);
  return ND4C_OK;
}

ND4C_PASS(SIMPLIFY, 10, dead, ANY, "removes nodes that no output needs")
