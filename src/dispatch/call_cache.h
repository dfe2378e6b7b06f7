/* Cache of eager calls: the results of inference, routing and kernel choice for a signature. Each thread has its own,
 * so a hit takes no lock, and entries may be patched in place. It holds ND4C_CACHE_ENTRIES entries of about 1 KiB, plus
 * the state of their kernels; after that each new entry replaces another. A change of configuration invalidates all
 * entries, and the next insertion removes them. call.c and routed.c use it. */
#ifndef ND4C_DISPATCH_CALL_CACHE_H
#define ND4C_DISPATCH_CALL_CACHE_H

#include "array/array.h"
#include "dispatch/choice.h"

enum { ND4C_CACHED_INPUTS = 6, ND4C_CACHE_ENTRIES = 2048 };

/* One signature of a single-output op. */
typedef struct nd4c_cached_call {
  uint64_t key;
  uint32_t epoch; /* of configuration */
  nd4c_op op;
  nd4c_device *device;
  int32_t width;
  bool deterministic, strict;
  bool fresh;           /* the output is made by the call */
  bool shape_from_data; /* the output's shape is known only after the run: the entry has the choice and the largest
                           shape */
  /* Number of the routing object that sends calls here if their inputs are current only here, 0: none; and the number
   * of calls until it votes again. */
  uint32_t routing;
  int32_t uses;
  int32_t input_count, attr_count;
  const nd4c_op_def *def;
  nd4c_choice *choice;
  nd4c_attr_value *attrs; /* copies, in the same block as this */
  size_t block_bytes;     /* of that block */
  int64_t output_bytes;
  uint64_t signatures[ND4C_CACHED_INPUTS + 1];
  int64_t element_bytes[ND4C_CACHED_INPUTS + 1];
  int64_t low[ND4C_CACHED_INPUTS + 1], high[ND4C_CACHED_INPUTS + 1]; /* bytes touched, relative to element 0 */
  nd4c_tensor tensors[ND4C_CACHED_INPUTS + 1]; /* the output is tensors[input_count]; shapes lie behind the struct */
  nd4c_call call;
  struct nd4c_cached_call *next; /* of those whose keys have the same place */
} nd4c_cached_call;

/* Hash of a call's signature. */
uint64_t nd4c_call_key(nd4c_op op, const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                       int32_t attr_count, const nd4c_array *output);

/* The entry of this signature, context and configuration, or NULL. */
nd4c_cached_call *nd4c_call_cache_find(uint64_t key, const nd4c_context *context, nd4c_op op,
                                       const nd4c_array *const *inputs, int32_t input_count,
                                       const nd4c_attr_value *attrs, int32_t attr_count, const nd4c_array *output);

/* As nd4c_call_cache_find, for the device on which the context's routing object decided. */
nd4c_cached_call *nd4c_call_cache_find_decided(uint64_t key, const nd4c_context *context, uint32_t routing, nd4c_op op,
                                               const nd4c_array *const *inputs, int32_t input_count,
                                               const nd4c_attr_value *attrs, int32_t attr_count,
                                               const nd4c_array *output);

/* Notes the routing object's decision in the entry of this key for `device`; false: there is no such entry. */
bool nd4c_call_cache_decide(uint64_t key, const nd4c_device *device, uint32_t routing, int32_t uses);

/* Adds a call that was just made. Takes over `choice`, and releases it if there is no room or memory. */
void nd4c_call_cache_add(uint64_t key, const nd4c_context *context, const nd4c_op_def *def,
                         const nd4c_array *const *inputs, int32_t input_count, const nd4c_attr_value *attrs,
                         const nd4c_array *output, bool fresh, bool shape_from_data, nd4c_choice *choice);

#endif
