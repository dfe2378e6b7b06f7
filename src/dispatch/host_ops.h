/* Ops that the library computes itself, without a kernel of a device: ops on strings, which live on the host, and ops
 * whose results have no bound that inference could give. call.c asks before it looks for a kernel. */
#ifndef ND4C_DISPATCH_HOST_OPS_H
#define ND4C_DISPATCH_HOST_OPS_H

#include "dispatch/pending.h"

/* Makes every p->targets[i], a fresh array on the host in C order, and sets p->inferred[i].shape if it depends on data.
 * After a failure the caller releases the targets and frees p->work. */
typedef nd4c_status (*nd4c_host_op_function)(nd4c_pending *p);

/* X(op, function, when): nd4c_host_<function> computes the op: ALWAYS, or for STRINGS, if an input or the first output
 * is utf8. */
#define ND4C_HOST_OPS(X)                          \
  X(equal, compare, STRINGS)                      \
  X(not_equal, compare, STRINGS)                  \
  X(less, compare, STRINGS)                       \
  X(less_equal, compare, STRINGS)                 \
  X(greater, compare, STRINGS)                    \
  X(greater_equal, compare, STRINGS)              \
  X(cast, cast, STRINGS)                          \
  X(label_index, label_index, STRINGS)            \
  X(decode_image, decode_image, ALWAYS)           \
  X(string_concat, string_concat, ALWAYS)         \
  X(string_split, string_split, ALWAYS)           \
  X(string_normalizer, string_normalizer, ALWAYS) \
  X(string_upper, string_case, ALWAYS)            \
  X(string_lower, string_case, ALWAYS)            \
  X(string_strip, string_strip, ALWAYS)           \
  X(string_length, string_length, ALWAYS)         \
  X(regex_full_match, regex_full_match, ALWAYS)   \
  X(tfidf_vectorizer, tfidf_vectorizer, ALWAYS)

#define ND4C_HOST_OP_DECLARE(op, function, when) nd4c_status nd4c_host_##function(nd4c_pending *p);
ND4C_HOST_OPS(ND4C_HOST_OP_DECLARE)
#undef ND4C_HOST_OP_DECLARE

/* NULL if kernels compute the call. The call's outputs are already inferred. */
nd4c_host_op_function nd4c_host_op_find(const nd4c_pending *p);

#endif
