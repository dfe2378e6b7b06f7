/* A plug-in that brings three versions of one op, verse.shift: x + 1, x + 10 and x + amount, and a faster kernel for
 * the first and for the last. The table lists them in no order. It includes only nd4c/plugin.h of nd4c. */
#include <string.h>

#include "nd4c/plugin.h"

ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

#define DTYPES ND4C_DTYPE_BIT(ND4C_FLOAT32)

static nd4c_status infer(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  inference->outputs[0].dtype = x->dtype;
  inference->outputs[0].rank = x->rank;
  memcpy(inference->outputs[0].shape, x->shape, (size_t)x->rank * sizeof(int64_t));
  return ND4C_OK;
}

/* Elements in C order, by index: operands may have any strides. */
static nd4c_status shift(const nd4c_call *call, float amount) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  for (int64_t i = 0; i < y->size; i++) {
    int64_t rest = i, from = 0, to = 0;
    for (int32_t axis = y->rank - 1; axis >= 0; axis--) {
      from += rest % y->shape[axis] * x->strides[axis];
      to += rest % y->shape[axis] * y->strides[axis];
      rest /= y->shape[axis];
    }
    ((float *)y->data)[to] = ((const float *)x->data)[from] + amount;
  }
  return ND4C_OK;
}

static nd4c_status run_fixed(const nd4c_call *call) {
  return shift(call, *(const float *)call->data);
}

static nd4c_status run_amount(const nd4c_call *call) {
  return shift(call, (float)call->attrs[0].as.i);
}

static const float one = 1, ten = 10;

#define KERNEL(kernel_version, engine_name, kernel_name, priority_number, run_function, amount) \
  {.struct_size = ND4C_SIZE_OF(nd4c_kernel),                                                    \
   .op_version = (kernel_version),                                                              \
   .op = "verse.shift",                                                                         \
   .engine = (engine_name),                                                                     \
   .name = (kernel_name),                                                                       \
   .priority = (priority_number),                                                               \
   .dtypes = DTYPES,                                                                            \
   .data = (amount),                                                                            \
   .run = (run_function)}
static const nd4c_kernel references[] = {KERNEL(1, "reference", "verse.shift.1", 0, run_fixed, &one),
                                         KERNEL(3, "reference", "verse.shift.3", 0, run_fixed, &ten),
                                         KERNEL(7, "reference", "verse.shift.7", 0, run_amount, NULL)};
static const nd4c_kernel fast[] = {KERNEL(1, "verse", "verse.fast.1", 100, run_fixed, &one),
                                   KERNEL(7, "verse", "verse.fast.7", 100, run_amount, NULL),
                                   KERNEL(5, "verse", "verse.fast.5", 100, run_amount, NULL)};

static const nd4c_op_input inputs[] = {{"x", false, false}};
static const nd4c_op_attr attrs[] = {{"amount", {ND4C_ATTR_INT, 0, {.i = 100}}}};

#define OP(op_version, attributes, words, place) \
  {.struct_size = ND4C_SIZE_OF(nd4c_plugin_op),  \
   .version = (op_version),                      \
   .name = "verse.shift",                        \
   .category = ND4C_CATEGORY_UNARY,              \
   .flags = ND4C_PLUGIN_OP_ELEMENTWISE,          \
   .dtypes = DTYPES,                             \
   .input_count = 1,                             \
   .attr_count = (attributes),                   \
   .output_count = 1,                            \
   .inputs = inputs,                             \
   .attrs = attrs,                               \
   .doc = (words),                               \
   .infer = infer,                               \
   .reference = &references[place]}
static const nd4c_plugin_op third = OP(3, 0, "x + 10", 1), seventh = OP(7, 1, "x + amount", 2),
                            first = OP(1, 0, "x + 1", 0);
static const nd4c_plugin_op *const ops[] = {&third, &seventh, &first};

static const nd4c_kernel *const family[] = {&fast[0], &fast[1], &fast[2], NULL};
static const nd4c_kernel *const *const families[] = {family};
static const nd4c_engine engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "verse"};
static const nd4c_engine *const engines[] = {&engine};
static const nd4c_contribution contribution = {.struct_size = ND4C_SIZE_OF(nd4c_contribution),
                                               .backend = "cpu",
                                               .priority = 100,
                                               .engine_count = 1,
                                               .engines = engines,
                                               .family_count = 1,
                                               .families = families};
static const nd4c_contribution *const contributions[] = {&contribution};

static const nd4c_provider provider = {.struct_size = ND4C_SIZE_OF(nd4c_provider),
                                       .abi_major = ND4C_PLUGIN_ABI_MAJOR,
                                       .abi_minor = ND4C_PLUGIN_ABI_MINOR,
                                       .name = "verse",
                                       .version = "1",
                                       .contribution_count = 1,
                                       .contributions = contributions,
                                       .op_count = sizeof ops / sizeof ops[0],
                                       .ops = ops};

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **out) {
  (void)host;
  *out = &provider;
  return ND4C_OK;
}
