/* Compilers: what turns a run of nodes into one executable. */
#ifndef ND4C_PLUGIN_COMPILER_H
#define ND4C_PLUGIN_COMPILER_H

#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* A run of nodes offered to a compiler. Values are numbered: segment inputs first, then outputs of nodes. */
typedef struct nd4c_segment {
  uint32_t struct_size;
  int32_t node_count;
  const nd4c_call *nodes;            /* in execution order; data is set for CONSTANT inputs only */
  const int32_t *const *node_inputs; /* value numbers, -1 for an input left out */
  const int32_t *const *node_outputs;
  int32_t value_count;
  int32_t input_count; /* values 0 .. input_count - 1 */
  int32_t output_count;
  const int32_t *outputs; /* value numbers that leave the segment */
} nd4c_segment;

typedef struct nd4c_compiler {
  uint32_t struct_size;
  const char *engine;
  int32_t priority;
  bool (*supports)(const nd4c_call *node, char *reason, size_t reason_size);
  nd4c_status (*compile)(void *device, const nd4c_segment *segment, nd4c_executable *executable);
  /* inputs and outputs stand in the order of the segment's; returns when enqueued. */
  nd4c_status (*execute)(nd4c_executable executable, nd4c_stream stream, const nd4c_tensor *inputs,
                         const nd4c_tensor *outputs);
  void (*release)(nd4c_executable executable);
} nd4c_compiler;

ND4C_EXTERN_C_END
#endif
