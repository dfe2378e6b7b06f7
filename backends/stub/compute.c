/* Which ops the stub knows, and what it refuses of them. */
#include <stdio.h>

#include "stub.h"

typedef struct stub_known {
  nd4c_op op;
  stub_function function;
} stub_known;

#define UNARY(name) {ND4C_OP_##name, stub_compute_unary},
#define BINARY(name) {ND4C_OP_##name, stub_compute_binary},
#define REDUCE(name) {ND4C_OP_##name, stub_compute_reduce},
#define SAME_ORDER(name) {ND4C_OP_##name, stub_compute_same_order},

/* clang-format off */
static const stub_known known[] = {
    UNARY(negative) UNARY(abs) UNARY(sign) UNARY(square) UNARY(sqrt) UNARY(reciprocal) UNARY(exp) UNARY(log) UNARY(sin)
    UNARY(cos) UNARY(tanh) UNARY(erf) UNARY(sigmoid) UNARY(relu) UNARY(leaky_relu) UNARY(gelu) UNARY(floor) UNARY(ceil)
    UNARY(round) UNARY(is_nan) UNARY(logical_not) UNARY(cast) UNARY(copy)
    {ND4C_OP_clip, stub_compute_clip},
    BINARY(add) BINARY(subtract) BINARY(multiply) BINARY(divide) BINARY(power) BINARY(maximum) BINARY(minimum)
    BINARY(equal) BINARY(not_equal) BINARY(less) BINARY(less_equal) BINARY(greater) BINARY(greater_equal)
    BINARY(logical_and) BINARY(logical_or) BINARY(logical_xor)
    {ND4C_OP_where, stub_compute_where},
    REDUCE(sum) REDUCE(prod) REDUCE(mean) REDUCE(max) REDUCE(min) REDUCE(all) REDUCE(any) REDUCE(argmax) REDUCE(argmin)
    {ND4C_OP_matmul, stub_compute_matmul},
    {ND4C_OP_softmax, stub_compute_softmax}, {ND4C_OP_log_softmax, stub_compute_softmax},
    SAME_ORDER(reshape) SAME_ORDER(squeeze) SAME_ORDER(expand_dims) SAME_ORDER(flatten)
    {ND4C_OP_transpose, stub_compute_transpose}, {ND4C_OP_broadcast_to, stub_compute_broadcast},
    {ND4C_OP_slice, stub_compute_slice}, {ND4C_OP_concat, stub_compute_concat}, {ND4C_OP_gather, stub_compute_gather},
};
/* clang-format on */

stub_function stub_compute_find(nd4c_op op) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].op == op) {
      return known[i].function;
    }
  }
  return NULL;
}

/* Ops that took more dtypes after the stub had learnt them. */
static bool knows_dtype(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_dtype dtype = call->inputs[0].dtype;
  nd4c_op op = call->op->op;
  bool is_complex = dtype == ND4C_COMPLEX64 || dtype == ND4C_COMPLEX128;
  bool knows = op == ND4C_OP_sign || op == ND4C_OP_round ? !is_complex
               : op == ND4C_OP_all || op == ND4C_OP_any  ? dtype == ND4C_BOOL
                                                         : true;
  if (!knows) {
    (void)snprintf(reason, reason_size, "the stub does not know %s of dtype %d", call->op->name, (int)dtype);
  }
  return knows;
}

bool stub_compute_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  if (stub_compute_find(call->op->op) == NULL) {
    (void)snprintf(reason, reason_size, "the stub does not know %s", call->op->name);
    return false;
  }
  bool gathers = call->op->op == ND4C_OP_sum || call->op->op == ND4C_OP_prod;
  if (gathers && call->attrs[ND4C_ATTR_sum_dtype].as.i != ND4C_DTYPE_NONE) {
    (void)snprintf(reason, reason_size, "the stub does not cast what it sums up");
    return false;
  }
  for (int32_t i = 1; call->op->op == ND4C_OP_clip && i < call->input_count; i++) {
    if (call->inputs[i].rank > 0) {
      (void)snprintf(reason, reason_size, "the stub clips all elements alike");
      return false;
    }
  }
  if (call->input_count > STUB_INPUTS) {
    (void)snprintf(reason, reason_size, "%d inputs; the stub takes %d", call->input_count, (int)STUB_INPUTS);
    return false;
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    if (call->inputs[i].dtype == ND4C_UTF8) {
      (void)snprintf(reason, reason_size, "strings stay on the host");
      return false;
    }
    if ((ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(call->inputs[i].dtype)) != 0) {
      (void)snprintf(reason, reason_size, "the stub does not know dtype %d", (int)call->inputs[i].dtype);
      return false;
    }
  }
  if ((ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(call->outputs[0].dtype)) != 0) {
    (void)snprintf(reason, reason_size, "the stub does not know dtype %d", (int)call->outputs[0].dtype);
    return false;
  }
  return knows_dtype(call, reason, reason_size);
}
