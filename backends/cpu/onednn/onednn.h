/* What the files of engine onednn share: the loaded library, steps that run one primitive, and nodes that add the
 * reorders around it. The files of this folder include it. */
#ifndef ND4C_BACKENDS_CPU_ONEDNN_ONEDNN_H
#define ND4C_BACKENDS_CPU_ONEDNN_ONEDNN_H

#include <stdatomic.h>

#include "backends/cpu/cpu.h"
#include "backends/cpu/onednn/api.h"
#include "backends/cpu/support/openmp.h"
#include "backends/cpu/support/window.h"
#include "kernels/cpu/contraction/gemm.h"

/* The library. Made once, never changed afterwards. */
typedef struct nd4c_onednn {
  bool ready;
  char text[512]; /* version and file, or why it is not ready */
  dnn_engine engine;
  bool exact_bytes;     /* its products of bytes are exact: without VNNI, pairs are added in 16 bits and saturate */
  bool packs_weights;   /* wants constant matrices of f32 in strips: with AVX2 it reads them as they are */
  bool leaks_functions; /* keeps 8 to 40 KB of each convolution with an activation for ever (3.2 with AVX2) */
  bool bfloat16;        /* has fast primitives of it: with AVX-512 alone these take three to five times those of f32 */
  nd4c_host_openmp omp; /* a step is made and run with teams of the same width */
#define DNN_FIELD(result, name, parameters) result(*name) parameters;
  DNN_SYMBOLS(DNN_FIELD)
#undef DNN_FIELD
} nd4c_onednn;

/* Opens the library on the first call. NULL: no memory for the record (try again); else check `ready`. */
const nd4c_onednn *nd4c_onednn_get(void);

/* The library, and zeroed memory for the state of a prepared call. */
nd4c_status nd4c_onednn_take(const nd4c_call *call, size_t bytes, const nd4c_onednn **dnn, void **state);

/* The end of a kernel's usable(): writes `why` where it is not NULL, else asks for the library, and whether it has
 * fast primitives of that dtype on this processor. */
bool nd4c_onednn_accept(const char *why, nd4c_dtype dtype, char *reason, size_t reason_size);

/* A kernel's preferred_order: channels last, which oneDNN's own convolutions want. */
bool nd4c_onednn_channels_last(const nd4c_call *call, int32_t *axes);

/* The width of oneDNN's teams for a call of so many multiplications, which oneDNN is given in `parts` equal parts, one
 * after the other: at most the call's width, and 1 for little work. A primitive is described, packed for and run with
 * one width. */
int32_t nd4c_onednn_width(const nd4c_call *call, double multiplications, int64_t parts);
/* Multiplications of a convolution with weights [o, c / groups, ...], which each element of the result sees once. */
double nd4c_onednn_conv_multiplications(const nd4c_call *call, const nd4c_tensor *w);

/* Reports a failure of oneDNN's. */
nd4c_status nd4c_onednn_fail(const char *what, int status);

/* -- descriptors ---------------------------------------------------------------------------------------------- */

/* oneDNN's number of a dtype, 0 if the engine does not use it. */
int nd4c_onednn_dtype(nd4c_dtype dtype);
/* Descriptor of a strided tensor (rank >= 1). oneDNN takes positive strides without overlap: see _strides_fit. */
int nd4c_onednn_desc(const nd4c_onednn *dnn, dnn_desc *desc, int32_t rank, const int64_t *shape, nd4c_dtype dtype,
                     const int64_t *strides);
bool nd4c_onednn_strides_fit(int32_t rank, const int64_t *shape, const int64_t *strides);
/* Attributes with a user's scratchpad and the post-ops + addend (NULL: none), then activation. */
int nd4c_onednn_attr(const nd4c_onednn *dnn, dnn_attr *attr, const struct dnnl_memory_desc *addend, int64_t activation);
/* The same with relu as a maximum, and relu6 as a maximum and a minimum: post-ops with a second operand each, one
 * number described by `bound`. Other activations are as above. */
int nd4c_onednn_attr_bounded(const nd4c_onednn *dnn, dnn_attr *attr, const struct dnnl_memory_desc *addend,
                             int64_t activation, const struct dnnl_memory_desc *bound);
/* The descriptor as a BLOCKED layout; false if it is not blocked, or if its memory holds more than a layout
 * describes. */
bool nd4c_onednn_layout(const nd4c_onednn *dnn, const struct dnnl_memory_desc *desc, nd4c_dtype dtype,
                        nd4c_layout *layout);

/* -- steps ---------------------------------------------------------------------------------------------------- */

/* Operands of a step: up to this many memory objects. */
enum { ND4C_ONEDNN_MAX_ARGS = 8, ND4C_ONEDNN_SPARE_BINDINGS = 4 };

/* Memory objects and a stream for one running thread. */
typedef struct nd4c_onednn_binding {
  dnn_stream stream;
  dnn_exec_arg args[ND4C_ONEDNN_MAX_ARGS];
} nd4c_onednn_binding;

/* A primitive with all that running it needs. Usable from several threads: each takes a spare binding or makes one. */
typedef struct nd4c_onednn_step {
  dnn_primitive_desc desc;
  dnn_primitive primitive;
  int32_t arg_count;
  int args[ND4C_ONEDNN_MAX_ARGS];
  dnn_desc descs[ND4C_ONEDNN_MAX_ARGS];
  int64_t scratchpad_bytes; /* its memory is the last argument if there is any */
  _Atomic(nd4c_onednn_binding *) spare[ND4C_ONEDNN_SPARE_BINDINGS];
} nd4c_onednn_step;

/* Adds an argument; takes a copy of the descriptor. */
int nd4c_onednn_step_add(const nd4c_onednn *dnn, nd4c_onednn_step *step, int arg, const struct dnnl_memory_desc *desc);
/* Makes the primitive of step->desc and asks for its scratchpad. Call after all step_add. */
int nd4c_onednn_step_make(const nd4c_onednn *dnn, nd4c_onednn_step *step);
/* A reorder between two descriptors. */
int nd4c_onednn_step_reorder(const nd4c_onednn *dnn, nd4c_onednn_step *step, const struct dnnl_memory_desc *from,
                             const struct dnnl_memory_desc *to);
void nd4c_onednn_step_free(const nd4c_onednn *dnn, nd4c_onednn_step *step);
/* Runs on `data`, one pointer for each argument added; scratchpad: scratchpad_bytes of memory. */
nd4c_status nd4c_onednn_step_run(const nd4c_onednn *dnn, nd4c_onednn_step *step, void *const *data, void *scratchpad);

/* Name of the implementation that oneDNN picked ("brgconv:avx512_core"). */
const char *nd4c_onednn_step_name(const nd4c_onednn *dnn, const nd4c_onednn_step *step);

/* -- nodes ---------------------------------------------------------------------------------------------------- */

enum { ND4C_ONEDNN_OPERANDS = 5, ND4C_ONEDNN_FIXED = 3 };

/* Operands of a node, in the order of a run's data. */
enum { ND4C_ONEDNN_X, ND4C_ONEDNN_W, ND4C_ONEDNN_Y, ND4C_ONEDNN_BIAS, ND4C_ONEDNN_ADDEND };

/* How one operand of a call reaches the primitive. */
typedef struct nd4c_onednn_operand {
  int input;    /* position among the call's inputs, -1: the output */
  int argument; /* oneDNN's number */
  bool present;
  bool moved;             /* the primitive wants it in another arrangement: `reorder` brings it there (y: back) */
  int32_t exchanged;      /* weights: the primitive has this axis and the one before it in the other order; 0: none */
  dnn_desc given, wanted; /* given: set if it may have to move */
  nd4c_onednn_step reorder;
  int64_t offset; /* in scratch, of the moved operand */
} nd4c_onednn_operand;

/* An argument beside the operands: factors and zero points of the call's constants, or a zero point that comes with
 * each run. */
typedef struct nd4c_onednn_fixed {
  int argument;  /* oneDNN's number, 0: none */
  dnn_desc desc; /* both belong to the node; data was made by the host's allocate */
  void *data;    /* NULL: a byte of input `input`, which each run puts into scratch as int32 */
  int input;
  int64_t offset; /* there */
} nd4c_onednn_fixed;

/* The prepared state of a call: one primitive, and the reorders around it. */
typedef struct nd4c_onednn_node {
  const nd4c_onednn *dnn;
  const struct nd4c_onednn_kind *kind;
  int32_t width;
  int64_t activation;                    /* of the call; what the primitive applies of it: nd4c_onednn_node_fuses */
  bool apart;                            /* the primitive leaves it out, and activation.c applies it */
  const struct nd4c_onednn_node *origin; /* runs the same call with it: the weights lie as it wants them; may be NULL */
  nd4c_onednn_step step;
  nd4c_onednn_operand operands[ND4C_ONEDNN_OPERANDS];
  nd4c_onednn_fixed fixed[ND4C_ONEDNN_FIXED];
  bool packs;              /* CONSTANT weights are always packed here */
  void *packed;            /* CONSTANT weights as the primitive needs them, if no layout describes that */
  size_t packed_bytes;     /* 0: they belong to `origin` */
  int64_t scratch_bytes;   /* the scratchpad of whichever step runs, then the moved operands */
  nd4c_gemm_strips strips; /* contraction.c: of packed weights, for products of one row; 0 columns: it has none */
} nd4c_onednn_node;

/* What a kernel's nodes compute. */
typedef struct nd4c_onednn_kind {
  /* Fills node->step.desc, every present operand's descriptors, and node->fixed where the call has such arguments; a
   * status of oneDNN's. */
  int (*describe)(nd4c_onednn_node *node, const nd4c_call *call);
  double (*multiplications)(const nd4c_call *call);
  int64_t (*activation)(const nd4c_call *call); /* NULL: the op has none */
} nd4c_onednn_kind;

/* A kernel's prepare: `inputs` has, for each operand, the position of the call's input (-1: the output). */
nd4c_status nd4c_onednn_node_prepare(const nd4c_call *call, const int *inputs, const nd4c_onednn_kind *kind,
                                     void **state);
/* A kernel's wants_layout and pack: of weights that are CONSTANT. */
bool nd4c_onednn_node_wants(const nd4c_call *call, int32_t input, const int *inputs, const nd4c_onednn_kind *kind,
                            nd4c_layout *layout);
nd4c_status nd4c_onednn_node_pack(const nd4c_call *call, const int *inputs, const nd4c_onednn_kind *kind,
                                  const nd4c_layout *layout, const nd4c_tensor *to);
/* Frees the arguments beside the operands: there are none then. */
void nd4c_onednn_node_drop_fixed(nd4c_onednn_node *node);
/* A kernel's unprepare, scratch_bytes and run. */
void nd4c_onednn_node_unprepare(void *state);
bool nd4c_onednn_node_shares_unpacked(const void *state);
int64_t nd4c_onednn_node_scratch_bytes(const nd4c_call *call);
nd4c_status nd4c_onednn_node_run(const nd4c_call *call);

/* As _prepare for the call of `node` without its activation, which the result is given afterwards (activation.c). */
nd4c_status nd4c_onednn_node_prepare_apart(const nd4c_onednn_node *node, const nd4c_call *call,
                                           nd4c_onednn_node **result);
/* Runs the primitive and the reorders, but for an activation that is left out. */
nd4c_status nd4c_onednn_node_run_steps(nd4c_onednn_node *node, const nd4c_call *call);

/* The activation that the primitive is to apply itself. */
static inline int64_t nd4c_onednn_node_fuses(const nd4c_onednn_node *node) {
  return node->apart ? ND4C_ACTIVATION_NONE : node->activation;
}

/* -- activations of what is not finite (activation.c) ---------------------------------------------------------- */

/* The weights as the primitive may have them: `any`, or as the node's origin has them. */
static inline const struct dnnl_memory_desc *nd4c_onednn_node_weights(const nd4c_onednn_node *node,
                                                                      const struct dnnl_memory_desc *any) {
  return node->origin != NULL ? node->origin->operands[ND4C_ONEDNN_W].wanted : any;
}

/* Whether a run can tell that the activation, fused into its primitive, lost a NaN. */
bool nd4c_onednn_can_tell(const nd4c_onednn *dnn, int32_t width);
/* Runs the node, and gives results that are not finite before the activation what the activation gives them. */
nd4c_status nd4c_onednn_run_exactly(nd4c_onednn_node *node, const nd4c_call *call);

/* -- convolutions (window_conv.c) ------------------------------------------------------------------------------ */

/* What the operands of a convolution and its result are refused for; NULL: nothing. bias: may be NULL. */
const char *nd4c_onednn_refuse_conv(const nd4c_call *call, const nd4c_tensor *bias);
/* Descriptors of an operand [n, c, ...]: as given, and channels last. */
int nd4c_onednn_describe_image(const nd4c_onednn *dnn, nd4c_onednn_operand *op, const nd4c_tensor *tensor);
/* Weights as oneDNN has them, [o, c / groups, ...], with groups [groups, o / groups, c / groups, ...]; transposed ones
 * are [c, o / groups, ...]. `any` lets oneDNN pick. */
int nd4c_onednn_describe_weights(const nd4c_onednn *dnn, nd4c_onednn_operand *op, const nd4c_tensor *w, int64_t groups,
                                 bool transposed, dnn_desc *any);
/* A window as oneDNN wants it; y: the spatial extents of the result. */
typedef struct nd4c_onednn_window {
  dnn_dims stride, dilation, begin, end;
} nd4c_onednn_window;
void nd4c_onednn_describe_window(const nd4c_ref_window *window, const int64_t *y, bool transposed,
                                 nd4c_onednn_window *at);

static inline const nd4c_tensor *nd4c_onednn_operand_tensor(const nd4c_call *call, const nd4c_onednn_operand *operand) {
  return operand->input < 0 ? &call->outputs[0] : &call->inputs[operand->input];
}

static inline int64_t nd4c_onednn_align(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

/* The kernels of this folder: lists that end in NULL. */
extern const nd4c_kernel *const nd4c_cpu_onednn_window_conv_kernels[];
extern const nd4c_kernel *const nd4c_cpu_onednn_quantization_int8_kernels[];
extern const nd4c_kernel *const nd4c_cpu_onednn_quantization_conv_kernels[];
extern const nd4c_kernel *const nd4c_cpu_onednn_quantization_matmul_kernels[];
extern const nd4c_kernel *const nd4c_cpu_onednn_contraction_kernels[];
extern const nd4c_kernel *const nd4c_cpu_onednn_contraction_sgemm_kernels[];
extern const nd4c_kernel *const nd4c_cpu_onednn_widened_kernels[];

/* Lets nd4c ask for the memory of oneDNN's cache of primitives, now that a primitive was made for the call. */
void nd4c_onednn_cache_count(const nd4c_call *call);
void nd4c_onednn_cache_close(void);

/* The engine's state for people; see nd4c_engine. */
bool nd4c_onednn_state(bool verify, char *text, size_t text_size);
/* Frees what the engine holds, the loaded library's record included. */
void nd4c_onednn_close(void);

#endif
