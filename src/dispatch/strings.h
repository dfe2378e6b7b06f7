/* Ops that move strings without reading them. call.c calls it if the result is utf8 and no host op (host_ops.h)
 * computes the call. */
#ifndef ND4C_DISPATCH_STRINGS_H
#define ND4C_DISPATCH_STRINGS_H

#include "dispatch/pending.h"

/* Computes a call whose result is utf8 into a fresh array on the host, where strings live. UNSUPPORTED if an output is
 * given: the table of a utf8 array precedes its bytes, so it cannot be replaced in place. */
nd4c_status nd4c_strings_compute(nd4c_pending *p);

#endif
