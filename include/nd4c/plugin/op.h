/* Ops that a plug-in defines. A provider lists them, and nd4c registers them when it accepts the provider. From then on
 * programs call them, record them in graphs and import them from ONNX like built-in ops.
 *
 * A name is a namespace, a dot and the op: "acme.swiglu2". In ONNX models the namespace is the node's domain and the
 * rest is its op_type; the op's version is the first opset of the domain in which the op has this meaning. Kernels of
 * any provider's contribution name the op as they name built-in ops.
 *
 * A provider may list several versions of an op, each as a separate entry with its own reference kernel. "acme.swiglu2"
 * names the highest version, "acme.swiglu2@1" version 1. A node of a model gets the highest version that does not
 * exceed the model's opset of the domain. A name belongs to one provider: no other provider can add a version.
 *
 * infer and the reference kernel must work even if nd4c has not called the provider's `open`, so that the op can be
 * computed wherever the plug-in has been loaded. Several threads may call them at once. */
#ifndef ND4C_PLUGIN_OP_H
#define ND4C_PLUGIN_OP_H

#include "nd4c/array.h"
#include "nd4c/plugin/kernel.h"

ND4C_EXTERN_C_BEGIN

/* The result of inference for one output. Not versioned by struct_size: arrays of it cross the ABI, so its size is
 * frozen. */
typedef struct nd4c_inferred {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  /* `shape` is only the largest possible one, and the kernel reports the true one (nd4c_call.true_shapes). Such an op
   * is computed only eagerly, never in a graph. Preset to false. */
  bool shape_depends_on_data;
} nd4c_inferred;

struct nd4c_extents;

/* The arguments of inference. nd4c has checked the inputs against the schema: their number, that required ones are
 * given, the first one's dtype, ranks and extents. It has also checked that attributes have the schema's kinds. */
typedef struct nd4c_inference {
  uint32_t struct_size;
  int32_t input_count; /* number of inputs given; omitted ones have dtype NONE or are missing at the end */
  const nd4c_op_info *op;
  const nd4c_tensor *inputs;    /* dtype, rank, shape, size; strides or NULL; no data */
  const nd4c_attr_value *attrs; /* in the schema's order, defaults filled in */
  nd4c_inferred *outputs;       /* op->output_count entries, which infer fills */
  const void *data;             /* nd4c_plugin_op.data */
  struct nd4c_extents *extents; /* nd4c's own: NULL for ops of plug-ins, whose extents are numbers */
} nd4c_inference;

typedef nd4c_status (*nd4c_infer_function)(nd4c_inference *inference);

/* Flags of an op. */
enum {
  /* Each output element depends only on the input elements at the same (broadcast) index. Fresh outputs get the memory
   * order of the inputs, and an output may be the same view as an input: kernels must read all inputs at an index
   * before they write the outputs there. infer must give every output the shape that the inputs broadcast to; nd4c
   * refuses any other (SHAPE). */
  ND4C_PLUGIN_OP_ELEMENTWISE = 1,
  /* A kernel may refuse a call after it has started to write. nd4c therefore never lets it write to an output that the
   * caller gave. */
  ND4C_PLUGIN_OP_REFUSES_LATE = 2
};

enum {
  ND4C_PLUGIN_OP_LIMIT = 4096,   /* ops of all plug-ins in one process */
  ND4C_PLUGIN_OP_NAME_SIZE = 64, /* of an op's name, including its NUL */
  ND4C_PLUGIN_WORD_SIZE = 32,    /* of an input's or an attribute's name, including its NUL */
  ND4C_PLUGIN_OP_INPUTS = 16,    /* named inputs, of which the last may be variadic */
  ND4C_PLUGIN_OP_ATTRS = 32,
  ND4C_PLUGIN_OP_OUTPUTS = 8
};

/* Reserved for gradients: the nodes of an op's backward pass. */
struct nd4c_plugin_gradient;

/* One op. Static, with everything that it points to. */
typedef struct nd4c_plugin_op {
  uint32_t struct_size;
  uint32_t version; /* 1 or more; raise it when the meaning changes; kernels name it */
  /* Required: namespace and name, of letters, digits, '_' and '-'; each part between dots begins with a letter. The
   * namespaces nd4c and ai.onnx are reserved. */
  const char *name;
  nd4c_category category; /* required: routing and tracing group ops by it */
  uint32_t flags;         /* ND4C_PLUGIN_OP_* */
  nd4c_dtype_set
      dtypes; /* required, of the first input (of the first output if the op has no inputs): numbers and bool */
  int32_t input_count, attr_count, output_count;
  const nd4c_op_input *inputs; /* names of letters, digits and '_' */
  /* Kinds INT, BOOL, FLOAT, INTS, FLOATS, STRING and DTYPE with their defaults; the default of a list is NULL. All
   * names of inputs and attributes of an op are distinct. */
  const nd4c_op_attr *attrs;
  const char *doc;  /* one line; NULL: none */
  const void *data; /* for infer; kernels have nd4c_kernel.data */
  /* Required. Writes dtype and shape of each output, or refuses the call with a code from 200 to 299 and a text,
   * through host->fail, that names the op. Depends only on its argument and on `data`. Does not block. Must not keep
   * pointers into its argument. */
  nd4c_infer_function infer;
  /* Required: a straightforward kernel for cpu:0 that computes every call that infer accepts, for all of the op's
   * dtypes and any strides. Its engine is "reference", its priority 0, its `usable` NULL; op and op_version are this
   * op's. */
  const nd4c_kernel *reference;
  const struct nd4c_plugin_gradient *gradient; /* reserved, NULL */
} nd4c_plugin_op;

ND4C_EXTERN_C_END
#endif
