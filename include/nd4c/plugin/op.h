/* Ops of a plug-in's own: a provider lists them, nd4c registers them when it accepts the provider, and from then on
 * they are called, recorded in graphs and imported from ONNX like the built-in ones.
 *
 * A name is a namespace, a dot and the op: "acme.swiglu2". In ONNX models the namespace is the node's domain and the
 * rest its op_type; the op's version is the first opset of the domain in which the op has this meaning. Kernels of any
 * contribution, the provider's own or another one's, name the op as they name built-in ones.
 *
 * A provider may bring several versions of an op, each an entry of its own with its own reference kernel.
 * "acme.swiglu2" is the highest of them, "acme.swiglu2@1" version 1; a node of a model is the highest one up to the
 * model's opset of the domain. Another provider cannot add a version: a name belongs to one provider.
 *
 * The provider's open is not called for any of this: infer and the reference kernel work without it, so that an op can
 * be computed wherever nd4c has loaded the plug-in. Both may be called by several threads at once. */
#ifndef ND4C_PLUGIN_OP_H
#define ND4C_PLUGIN_OP_H

#include "nd4c/array.h"
#include "nd4c/plugin/kernel.h"

ND4C_EXTERN_C_BEGIN

/* What inference says of one output. Not versioned by struct_size: arrays of it cross the ABI, so its size is
 * frozen. */
typedef struct nd4c_inferred {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  /* shape is only the largest that there can be: the kernel tells the true one (nd4c_call.true_shapes). Such an op is
   * computed eagerly alone, never in a graph. Preset with false. */
  bool shape_depends_on_data;
} nd4c_inferred;

/* What inference looks at. nd4c has checked the inputs against the schema: their number, that required ones are there,
 * the first one's dtype, ranks and extents; and that attributes have the schema's kinds. */
typedef struct nd4c_inference {
  uint32_t struct_size;
  int32_t input_count; /* as many as were given, those left out have dtype NONE or are missing at the end */
  const nd4c_op_info *op;
  const nd4c_tensor *inputs; /* dtype, rank, shape, size; strides or NULL; no data */
  const nd4c_attr_value *attrs; /* in the order of the schema, defaults filled in */
  nd4c_inferred *outputs;       /* to be filled: op->output_count of them */
  const void *data;             /* the op's own */
} nd4c_inference;

typedef nd4c_status (*nd4c_infer_function)(nd4c_inference *inference);

/* Flags of an op. */
enum {
  /* Each element of the outputs depends on the elements of the inputs at the same place, broadcast, alone. Fresh
   * outputs lie in the memory order of the inputs, and an output may be the very same view as an input: kernels read
   * all inputs of a place before they write the outputs there. infer gives every output the shape that the inputs
   * broadcast to; nd4c refuses any other (SHAPE). */
  ND4C_PLUGIN_OP_ELEMENTWISE = 1,
  /* A kernel may refuse a call after it began to write. nd4c then never has it write into an output that is given. */
  ND4C_PLUGIN_OP_REFUSES_LATE = 2
};

enum {
  ND4C_PLUGIN_OP_LIMIT = 4096,    /* ops of all plug-ins in one process */
  ND4C_PLUGIN_OP_NAME_SIZE = 64,  /* of an op's name, with its end */
  ND4C_PLUGIN_WORD_SIZE = 32,     /* of an input's or an attribute's name, with its end */
  ND4C_PLUGIN_OP_INPUTS = 16,     /* named inputs, of which the last may be variadic */
  ND4C_PLUGIN_OP_ATTRS = 32,
  ND4C_PLUGIN_OP_OUTPUTS = 8
};

/* Reserved for the gradient: nodes that an op's backward pass consists of. */
struct nd4c_plugin_gradient;

/* One op. Static, with everything that it points to. */
typedef struct nd4c_plugin_op {
  uint32_t struct_size;
  uint32_t version; /* 1 or more: raised when the meaning changes; kernels name it */
  /* Required: namespace and name of letters, digits, '_' and '-', each part between dots beginning with a letter. Not
   * in the namespaces nd4c and ai.onnx. */
  const char *name;
  nd4c_category category; /* required: what routing and tracing group ops by */
  uint32_t flags;         /* ND4C_PLUGIN_OP_* */
  nd4c_dtype_set
      dtypes; /* required, of the first input (of the first output for ops without inputs): numbers and bool */
  int32_t input_count, attr_count, output_count;
  const nd4c_op_input *inputs; /* names of letters, digits and '_' */
  /* Kinds INT, BOOL, FLOAT, INTS, FLOATS, STRING and DTYPE with their presets; that of a list is NULL. No two inputs or
   * attributes of an op have one name. */
  const nd4c_op_attr *attrs;
  const char *doc;  /* one line; NULL: none */
  const void *data; /* for infer; kernels have their own */
  /* Required. Says dtype and shape of each output, or refuses the call with a code of 200 to 299 and a text through
   * host->fail that names the op. Looks at nothing but its argument and what `data` leads to. Does not block, keeps
   * nothing of its argument. */
  nd4c_infer_function infer;
  /* Required: a kernel for cpu:0 that computes every call that infer accepts, plainly: all of the op's dtypes, any
   * strides. Its engine is "reference", its priority 0, its `usable` NULL; op and op_version are this op's. */
  const nd4c_kernel *reference;
  const struct nd4c_plugin_gradient *gradient; /* reserved, NULL */
} nd4c_plugin_op;

ND4C_EXTERN_C_END
#endif
