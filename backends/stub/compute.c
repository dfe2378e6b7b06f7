/* Which ops the stub knows, and which of their calls it refuses. kernels.c and compiler.c ask it; work.c finds the
 * function of an op here. */
#include <stdio.h>

#include "stub.h"

/* Parts of ops that the stub does not support, one flag each. */
enum {
  ALL = 0,
  NO_COMPLEX = 1,      /* complex x */
  ONLY_BOOL = 2,       /* any other x */
  NO_RESULT_DTYPE = 4, /* sums and products in a dtype that is asked for */
  SCALAR_BOUNDS = 8,   /* bounds that differ by element */
  ONLY_FLOAT32 = 16    /* operands of any other dtype */
};

typedef struct stub_known {
  nd4c_op op;
  stub_function function;
  unsigned leaves;
  stub_direct direct; /* in place of the function */
} stub_known;

#define UNARY(name) {ND4C_OP_##name, stub_compute_unary, ALL, NULL},
#define BINARY(name) {ND4C_OP_##name, stub_compute_binary, ALL, NULL},
#define REDUCE(name, leaves) {ND4C_OP_##name, stub_compute_reduce, leaves, NULL},
#define SAME_ORDER(name) {ND4C_OP_##name, stub_compute_same_order, ALL, NULL},
#define OWN(name, function) {ND4C_OP_##name, stub_compute_##function, ALL, NULL},
#define DIRECT(name) {ND4C_OP_##name, NULL, ONLY_FLOAT32, stub_compute_##name},

/* clang-format off */
static const stub_known known[] = {
    UNARY(negative) UNARY(abs) UNARY(square) UNARY(sqrt) UNARY(reciprocal) UNARY(exp) UNARY(log) UNARY(sin)
    UNARY(cos) UNARY(tanh) UNARY(erf) UNARY(sigmoid) UNARY(relu) UNARY(leaky_relu) UNARY(gelu) UNARY(floor) UNARY(ceil)
    UNARY(is_nan) UNARY(logical_not) UNARY(cast) UNARY(copy)
    {ND4C_OP_sign, stub_compute_unary, NO_COMPLEX, NULL}, {ND4C_OP_round, stub_compute_unary, NO_COMPLEX, NULL},
    {ND4C_OP_clip, stub_compute_clip, SCALAR_BOUNDS, NULL},
    BINARY(add) BINARY(subtract) BINARY(multiply) BINARY(divide) BINARY(power) BINARY(maximum) BINARY(minimum)
    BINARY(equal) BINARY(not_equal) BINARY(less) BINARY(less_equal) BINARY(greater) BINARY(greater_equal)
    BINARY(logical_and) BINARY(logical_or) BINARY(logical_xor)
    OWN(where, where)
    REDUCE(sum, NO_RESULT_DTYPE) REDUCE(prod, NO_RESULT_DTYPE) REDUCE(mean, ALL) REDUCE(max, ALL) REDUCE(min, ALL)
    REDUCE(all, ONLY_BOOL) REDUCE(any, ONLY_BOOL) REDUCE(argmax, ALL) REDUCE(argmin, ALL)
    OWN(matmul, matmul) OWN(softmax, softmax) OWN(log_softmax, softmax)
    SAME_ORDER(reshape) SAME_ORDER(squeeze) SAME_ORDER(expand_dims) SAME_ORDER(flatten)
    OWN(transpose, transpose) OWN(broadcast_to, broadcast) OWN(slice, slice) OWN(concat, concat) OWN(gather, gather)
    DIRECT(conv) DIRECT(linear) OWN(max_pool, max_pool) OWN(average_pool, average_pool) OWN(batch_norm, batch_norm)
    OWN(lrn, lrn) OWN(global_average_pool, global_average_pool)
};
/* clang-format on */

static const stub_known *find(nd4c_op op) {
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (known[i].op == op) {
      return &known[i];
    }
  }
  return NULL;
}

bool stub_compute_knows(nd4c_op op) {
  return find(op) != NULL;
}

stub_function stub_compute_find(nd4c_op op) {
  const stub_known *row = find(op);
  return row == NULL ? NULL : row->function;
}

stub_direct stub_compute_direct(nd4c_op op) {
  const stub_known *row = find(op);
  return row == NULL ? NULL : row->direct;
}

static bool all_float32(const nd4c_call *call) {
  bool all = call->outputs[0].dtype == ND4C_FLOAT32;
  for (int32_t i = 0; i < call->input_count; i++) {
    all = all && (call->inputs[i].dtype == ND4C_FLOAT32 || call->inputs[i].dtype == ND4C_DTYPE_NONE);
  }
  return all;
}

static bool scalar_bounds(const nd4c_call *call) {
  for (int32_t i = 1; i < call->input_count; i++) {
    if (call->inputs[i].rank > 0) {
      return false;
    }
  }
  return true;
}

/* NULL, or the part of the op that the stub does not support. */
static const char *left_of(const stub_known *row, const nd4c_call *call) {
  nd4c_dtype dtype = call->inputs[0].dtype;
  bool is_complex = dtype == ND4C_COMPLEX64 || dtype == ND4C_COMPLEX128;
  return (row->leaves & NO_COMPLEX) != 0 && is_complex          ? "the stub does not know this op of complex numbers"
         : (row->leaves & ONLY_BOOL) != 0 && dtype != ND4C_BOOL ? "the stub knows this op of bool alone"
         : (row->leaves & NO_RESULT_DTYPE) != 0 && call->attrs[ND4C_ATTR_sum_dtype].as.i != ND4C_DTYPE_NONE
             ? "the stub does not cast what it sums up"
         : (row->leaves & ONLY_FLOAT32) != 0 && !all_float32(call)    ? "the stub knows this op of float32 alone"
         : (row->leaves & SCALAR_BOUNDS) != 0 && !scalar_bounds(call) ? "the stub clips all elements alike"
                                                                      : NULL;
}

bool stub_compute_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const stub_known *row = find(call->op->op);
  if (row == NULL) {
    (void)snprintf(reason, reason_size, "the stub does not know %s", call->op->name);
    return false;
  }
  const char *left = left_of(row, call);
  if (left != NULL) {
    (void)snprintf(reason, reason_size, "%s", left);
    return false;
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
  return true;
}
